// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "flag_set.hpp"

#include <algorithm>

#include "report.hpp"

namespace opendoca::argp
{

FlagSet::FlagSet()
    : general_{
          {GeneralFlag::help, "h", "help", "", "Print this text and exit"},
          {GeneralFlag::version, "v", "version", "", "Print the version and exit"},
          {GeneralFlag::log_level, "l", "log-level", "<level>",
           "Log up to this level: 20 critical, 30 error, 40 warning, 50 info, 60 debug"},
          {GeneralFlag::json, "j", "json", "<file>", "Read flags from a JSON file; the command line wins"},
      }
{
}

doca_error_t FlagSet::add(std::unique_ptr<doca_argp_param> param)
{
    for (const auto &other : params_) {
        const bool same_short = !param->short_name.empty() && param->short_name == other->short_name;
        const bool same_long = !param->long_name.empty() && param->long_name == other->long_name;
        if (same_short || same_long)
            return fail(DOCA_ERROR_INVALID_VALUE,
                        "parameter " + param->flags() + " has a name of parameter " + other->flags());
    }
    params_.push_back(std::move(param));
    give_up_names(*params_.back());
    return DOCA_SUCCESS;
}

void FlagSet::add_grpc_address()
{
    if (has_grpc_address_)
        return;
    general_.push_back({GeneralFlag::grpc_address, "g", "grpc-address", "<ip[:port]>", "Address for gRPC"});
    has_grpc_address_ = true;
    for (const auto &param : params_)
        give_up_names(*param);
}

void FlagSet::give_up_names(const doca_argp_param &param)
{
    for (GeneralFlagInfo &info : general_) {
        if (info.short_name == param.short_name)
            info.short_name.clear();
        if (info.long_name == param.long_name)
            info.long_name.clear();
    }
}

FoundFlag FlagSet::find_short(std::string_view name) const
{
    FoundFlag found;
    for (const auto &param : params_) {
        if (!name.empty() && param->short_name == name)
            found.param = param.get();
    }
    for (const GeneralFlagInfo &info : general_) {
        if (!name.empty() && info.short_name == name)
            found.general = &info;
    }
    return found;
}

FoundFlag FlagSet::find_long(std::string_view name) const
{
    FoundFlag found;
    for (const auto &param : params_) {
        if (!name.empty() && param->long_name == name)
            found.param = param.get();
    }
    for (const GeneralFlagInfo &info : general_) {
        if (!name.empty() && info.long_name == name)
            found.general = &info;
    }
    return found;
}

bool FlagSet::contains(const doca_argp_param *param) const
{
    return std::any_of(params_.begin(), params_.end(), [&](const auto &own) { return own.get() == param; });
}

} // namespace opendoca::argp
