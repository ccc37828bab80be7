// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What may follow on a command line: flags and commands, those of the program or those of one of its commands.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "param.hpp"

struct doca_argp_cmd;

namespace opendoca::argp
{

/// Gets the program's configuration.
using CommandCallback = doca_error_t (*)(void *config);

/// The flags and commands of the program, or of one command. Owns them.
class Level
{
public:
    Level();
    ~Level();
    Level(const Level &) = delete;
    Level &operator=(const Level &) = delete;

    /// Takes @p param, unless it lacks something or another one here has one of its names.
    [[nodiscard]] doca_error_t add(std::unique_ptr<doca_argp_param> param);
    /// Takes @p command, unless it lacks something or another one here has its name.
    [[nodiscard]] doca_error_t add(std::unique_ptr<doca_argp_cmd> command);

    // Null when there is none of that name.

    [[nodiscard]] const doca_argp_param *find_short(std::string_view name) const;
    [[nodiscard]] const doca_argp_param *find_long(std::string_view name) const;
    [[nodiscard]] const doca_argp_cmd *find_command(std::string_view name) const;

    /// Whether it is here, or in a command below.
    [[nodiscard]] bool contains(const doca_argp_cmd *command) const;

    [[nodiscard]] const std::vector<std::unique_ptr<doca_argp_param>> &params() const { return params_; }
    [[nodiscard]] const std::vector<std::unique_ptr<doca_argp_cmd>> &commands() const { return commands_; }

private:
    std::vector<std::unique_ptr<doca_argp_param>> params_;
    std::vector<std::unique_ptr<doca_argp_cmd>> commands_;
};

} // namespace opendoca::argp

/// A command, as doca_argp_cmd_create() makes it and the setters fill it.
struct doca_argp_cmd {
    std::string name;
    std::string description;
    opendoca::argp::CommandCallback callback = nullptr;
    bool is_hidden = false;
    bool is_out_of_memory = false; ///< As of a parameter.
    bool is_taken = false;         ///< It is in a level, and final.
    opendoca::argp::Level level;   ///< What may follow it.

    /// Whether the command can be registered.
    [[nodiscard]] doca_error_t check() const;
};
