// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The flags and commands that a command line may contain: those of the program, or those of one of its commands.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "param.hpp"

struct doca_argp_cmd;

namespace opendoca::argp {

/// The callback of a command; receives the program's configuration.
using CommandCallback = doca_error_t (*)(void *config);

/// The flags and commands of the program, or of one command. Owns them, in the order of their registration. Owned by
/// the FlagSet or by the command. No two flags and no two commands of a level share a name.
class Level {
public:
    Level();
    ~Level();
    Level(const Level &) = delete;
    Level &operator=(const Level &) = delete;

    /// Adds @p param. Fails, and frees it, if it is incomplete or if a flag of this level has one of its names.
    [[nodiscard]] doca_error_t add(std::unique_ptr<doca_argp_param> param);
    /// Adds @p command. Fails, and frees it, if it is incomplete or if a command of this level has its name.
    [[nodiscard]] doca_error_t add(std::unique_ptr<doca_argp_cmd> command);

    // These return null if there is none of that name.

    [[nodiscard]] const doca_argp_param *find_short(std::string_view name) const;
    [[nodiscard]] const doca_argp_param *find_long(std::string_view name) const;
    [[nodiscard]] const doca_argp_cmd *find_command(std::string_view name) const;

    /// Returns whether @p command is in this level or in a command below it.
    [[nodiscard]] bool contains(const doca_argp_cmd *command) const;

    [[nodiscard]] const std::vector<std::unique_ptr<doca_argp_param>> &params() const { return params_; }
    [[nodiscard]] const std::vector<std::unique_ptr<doca_argp_cmd>> &commands() const { return commands_; }

private:
    std::vector<std::unique_ptr<doca_argp_param>> params_;
    std::vector<std::unique_ptr<doca_argp_cmd>> commands_;
};

} // namespace opendoca::argp

/// A command, as doca_argp_cmd_create() creates it and the setters fill it. Owned by the program until it is
/// registered, then by its level.
struct doca_argp_cmd {
    std::string name;        ///< as the user writes it; required
    std::string description; ///< for the usage text; required
    /// Called when the user has given the command; null for none.
    opendoca::argp::CommandCallback callback = nullptr;
    bool is_hidden = false;        ///< not in the usage text
    bool is_out_of_memory = false; ///< as doca_argp_param::is_out_of_memory
    bool is_taken = false;         ///< registered: owned by a level, and no longer changeable
    opendoca::argp::Level level;   ///< the flags and commands that may follow it

    /// Returns DOCA_SUCCESS if the command is complete and can be registered.
    [[nodiscard]] doca_error_t check() const;
};
