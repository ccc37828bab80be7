// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "flag_set.hpp"

#include <cstddef>

namespace opendoca::argp {

FlagSet::FlagSet(const Generation &generation)
    : generation_(generation),
      general_{
          {GeneralFlag::help, "h", "help", "", "Print this text and exit"},
          {GeneralFlag::version, "v", "version", "", "Print the version and exit"},
          {GeneralFlag::log_level, "l", "log-level", "<level>", "Log up to this level: " + generation.log_levels},
      }
{
    if (generation.has_sdk_log)
        general_.push_back({GeneralFlag::sdk_log_level, "", "sdk-log-level", "<level>",
                            "Log messages of the libraries up to this level; same levels"});
    general_.push_back(
        {GeneralFlag::json, "j", "json", "<file>", "Read flags from a JSON file; the command line wins"});
}

void FlagSet::add_grpc_address()
{
    if (has_grpc_address_)
        return;
    general_.push_back({GeneralFlag::grpc_address, "g", "grpc-address", "<ip[:port]>", "Address for gRPC"});
    has_grpc_address_ = true;
}

const doca_argp_param *FlagSet::find(const Path &path, Find find_in, std::string_view name) const
{
    // From the innermost level outwards, so that a command can redefine an inherited flag.
    for (std::size_t depth = path.size() + 1; depth-- != 0;) {
        const doca_argp_param *const param = (level(path, depth).*find_in)(name);
        if (param != nullptr && (depth == path.size() || param->is_inherited))
            return param;
    }
    return nullptr;
}

FoundFlag FlagSet::found(const doca_argp_param *param, std::string GeneralFlagInfo::*kind, std::string_view name) const
{
    if (param != nullptr)
        return {param, nullptr};
    for (const GeneralFlagInfo &info : general_) {
        if (!name.empty() && info.*kind == name)
            return {nullptr, &info};
    }
    return {};
}

FoundFlag FlagSet::find_short(const Path &path, std::string_view name) const
{
    return found(find(path, &Level::find_short, name), &GeneralFlagInfo::short_name, name);
}

FoundFlag FlagSet::find_long(const Path &path, std::string_view name) const
{
    return found(find(path, &Level::find_long, name), &GeneralFlagInfo::long_name, name);
}

const doca_argp_param *FlagSet::find_key(const Path &path, std::string_view long_name) const
{
    for (std::size_t depth = path.size() + 1; depth-- != 0;) {
        if (const doca_argp_param *const param = level(path, depth).find_long(long_name))
            return param;
    }
    return nullptr;
}

std::vector<GeneralFlagInfo> FlagSet::general(const Path &path) const
{
    std::vector<GeneralFlagInfo> left = general_;
    for (GeneralFlagInfo &info : left) {
        if (find_short(path, info.short_name).param != nullptr)
            info.short_name.clear();
        if (find_long(path, info.long_name).param != nullptr)
            info.long_name.clear();
    }
    return left;
}

} // namespace opendoca::argp
