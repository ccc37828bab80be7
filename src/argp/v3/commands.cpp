// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Registers flags and commands in the program or in a command. A registered object is owned by its level; an object
// that cannot be registered is freed.
#include <doca_argp.h>

#include <concepts>
#include <memory>
#include <string>

#include "../api.hpp"

using opendoca::guarded;
using namespace opendoca::argp;

namespace {

/// Logs that an object is registered already. Returns BAD_STATE.
[[nodiscard]] doca_error_t taken(const std::string &what, int line = __builtin_LINE())
{
    return fail(DOCA_ERROR_BAD_STATE, what + " is registered already", line);
}

[[nodiscard]] std::string name_of(const doca_argp_param &param)
{
    return "parameter " + param.flags();
}

[[nodiscard]] std::string name_of(const doca_argp_cmd &command)
{
    return "command " + quoted(command.name);
}

/// Registers a flag or command in the program. Takes ownership, unless it is null or registered.
template <typename Part>
[[nodiscard]] doca_error_t add_to_program(Part *part, const char *argument)
{
    return guarded([&] {
        if (part == nullptr)
            return null_argument(argument);
        if (part->is_taken)
            return taken(name_of(*part));
        // From here on the object is freed on failure.
        std::unique_ptr<Part> owned(part);
        return parser == nullptr ? not_initialised(DOCA_ERROR_BAD_STATE) : parser->add(std::move(owned));
    });
}

/// Registers a flag or command in a command that is not registered itself.
template <typename Part>
[[nodiscard]] doca_error_t add_to_command(doca_argp_cmd *command, Part *part, const char *argument)
{
    return guarded([&] {
        if (part == nullptr)
            return null_argument(argument);
        if (part->is_taken)
            return taken(name_of(*part));
        if constexpr (std::same_as<Part, doca_argp_cmd>) {
            // Otherwise the commands would own each other in a circle, and would never be freed.
            if (part == command || part->level.contains(command))
                return fail(DOCA_ERROR_INVALID_VALUE, name_of(*part) + " can't be within itself");
        }
        std::unique_ptr<Part> owned(part);
        if (command == nullptr)
            return null_argument("cmd");
        if (command->is_taken)
            return taken(name_of(*command));
        return command->level.add(std::move(owned));
    });
}

/// Frees an object that was not registered.
template <typename Part>
[[nodiscard]] doca_error_t destroy_part(Part *part, const char *argument)
{
    return guarded([&] {
        if (part == nullptr)
            return null_argument(argument);
        if (part->is_taken)
            return taken(name_of(*part));
        delete part;
        return DOCA_SUCCESS;
    });
}

} // namespace

doca_error_t doca_argp_register_param(struct doca_argp_param *input_param)
{
    return add_to_program(input_param, "input_param");
}

doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd)
{
    return add_to_program(input_cmd, "input_cmd");
}

doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd, struct doca_argp_param *input_param)
{
    return add_to_command(cmd, input_param, "input_param");
}

doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd)
{
    return add_to_command(cmd, input_cmd, "input_cmd");
}

doca_error_t doca_argp_param_destroy(struct doca_argp_param *param)
{
    return destroy_part(param, "param");
}

doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd)
{
    return destroy_part(cmd, "cmd");
}

doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd)
{
    return guarded([&] {
        if (cmd == nullptr)
            return null_argument("cmd");
        *cmd = new doca_argp_cmd;
        return DOCA_SUCCESS;
    });
}

void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name)
{
    set_text(cmd, "cmd", &doca_argp_cmd::name, name);
}

void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description)
{
    set_text(cmd, "cmd", &doca_argp_cmd::description, description);
}

void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback)
{
    if (is_settable(cmd, "cmd"))
        cmd->callback = callback;
}

void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd)
{
    if (is_settable(cmd, "cmd"))
        cmd->is_hidden = true;
}
