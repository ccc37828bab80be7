// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The flags that a command line may have: the program's own, and those that every DOCA program has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "generation.hpp"

namespace opendoca::argp
{

enum class GeneralFlag { help, version, log_level, sdk_log_level, json, grpc_address };

/// A DOCA flag with the names that are left to it.
struct GeneralFlagInfo {
    GeneralFlag flag;
    std::string short_name;
    std::string long_name;
    std::string arguments;
    std::string description;
};

/// What a name on the command line stands for: a flag of the program, or a DOCA flag, or neither.
struct FoundFlag {
    const doca_argp_param *param = nullptr;
    const GeneralFlagInfo *general = nullptr;

    [[nodiscard]] bool is_known() const { return param != nullptr || general != nullptr; }
};

/// The commands that were given so far, from the program's to the innermost.
using Path = std::vector<const doca_argp_cmd *>;

class FlagSet
{
public:
    explicit FlagSet(const Generation &generation);

    Level program; ///< the flags and commands of the program itself

    void add_grpc_address();

    // Within the innermost command of @p path: its own flags, then those that it inherits, then DOCA's.

    [[nodiscard]] FoundFlag find_short(const Path &path, std::string_view name) const;
    [[nodiscard]] FoundFlag find_long(const Path &path, std::string_view name) const;
    /// A flag of the program or of any command of @p path: a JSON file knows no commands.
    [[nodiscard]] const doca_argp_param *find_key(const Path &path, std::string_view long_name) const;

    /// The program's level, or that of a command: @p depth commands of @p path deep.
    [[nodiscard]] const Level &level(const Path &path, std::size_t depth) const
    {
        return depth == 0 ? program : path[depth - 1]->level;
    }
    /// DOCA's flags with the names that they have there.
    [[nodiscard]] std::vector<GeneralFlagInfo> general(const Path &path) const;
    [[nodiscard]] bool has_grpc_address() const { return has_grpc_address_; }
    [[nodiscard]] const Generation &generation() const { return generation_; }

private:
    using Find = const doca_argp_param *(Level::*)(std::string_view) const;
    [[nodiscard]] const doca_argp_param *find(const Path &path, Find find_in, std::string_view name) const;
    [[nodiscard]] FoundFlag found(const doca_argp_param *param, std::string GeneralFlagInfo::*kind,
                                  std::string_view name) const;

    const Generation &generation_;
    std::vector<GeneralFlagInfo> general_;
    bool has_grpc_address_ = false;
};

} // namespace opendoca::argp
