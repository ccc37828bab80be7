// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// All flags that a command line may contain: the program's own, and those that every DOCA program has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "generation.hpp"

namespace opendoca::argp {

/// The flags that every DOCA program has.
enum class GeneralFlag { help, version, log_level, sdk_log_level, json, grpc_address };

/// Names and texts of such a flag. In the result of general(), a name is empty if the program uses it for a flag of its
/// own.
struct GeneralFlagInfo {
    GeneralFlag flag;
    std::string short_name;
    std::string long_name;
    std::string arguments; ///< placeholder of the value in the usage text; empty if it has none
    std::string description;
};

/// The result of looking up a name: a flag of the program, a DOCA flag, or neither.
struct FoundFlag {
    const doca_argp_param *param = nullptr;
    const GeneralFlagInfo *general = nullptr;

    [[nodiscard]] bool is_found() const { return param != nullptr || general != nullptr; }
};

/// The commands given so far on a command line, outermost first.
using Path = std::vector<const doca_argp_cmd *>;

/// The flags and commands that the parser accepts. Owned by the parser; used by one thread at a time. A flag of the
/// program hides a DOCA flag of the same name.
class FlagSet {
public:
    explicit FlagSet(const Generation &generation);

    Level program; ///< the flags and commands of the program itself

    /// Adds the flag for the address of gRPC. No effect if it exists.
    void add_grpc_address();

    // Look up a flag in the innermost command of @p path: first its own flags, then inherited ones, then DOCA's.

    [[nodiscard]] FoundFlag find_short(const Path &path, std::string_view name) const;
    [[nodiscard]] FoundFlag find_long(const Path &path, std::string_view name) const;
    /// Finds a flag of the program or of any command of @p path, since a JSON file has no notion of commands.
    [[nodiscard]] const doca_argp_param *find_key(const Path &path, std::string_view long_name) const;

    /// Returns the level at @p depth commands of @p path; 0 is the program's.
    [[nodiscard]] const Level &level(const Path &path, std::size_t depth) const
    {
        return depth == 0 ? program : path[depth - 1]->level;
    }
    /// Returns DOCA's flags with the names that are free in the innermost command of @p path.
    [[nodiscard]] std::vector<GeneralFlagInfo> general(const Path &path) const;
    [[nodiscard]] bool has_grpc_address() const { return has_grpc_address_; }
    [[nodiscard]] const Generation &generation() const { return generation_; }

private:
    using Find = const doca_argp_param *(Level::*)(std::string_view) const;
    /// Searches the levels of @p path from the innermost one. Outer levels yield inherited flags only.
    [[nodiscard]] const doca_argp_param *find(const Path &path, Find find_in, std::string_view name) const;
    /// Returns @p param, or, if it is null, DOCA's flag of this name, if there is one.
    [[nodiscard]] FoundFlag found(const doca_argp_param *param, std::string GeneralFlagInfo::*kind,
                                  std::string_view name) const;

    const Generation &generation_;
    std::vector<GeneralFlagInfo> general_;
    bool has_grpc_address_ = false; ///< the program has called doca_argp_set_grpc_program()
};

} // namespace opendoca::argp
