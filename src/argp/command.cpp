// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "command.hpp"

#include <algorithm>

#include "report.hpp"

namespace opendoca::argp {

/// Out of line, where doca_argp_cmd is complete.
Level::Level() = default;
Level::~Level() = default;

doca_error_t Level::add(std::unique_ptr<doca_argp_param> param)
{
    // From here on the flag is freed if it is not added: the caller has passed its ownership.
    if (const doca_error_t result = param->check(); result != DOCA_SUCCESS)
        return result;
    for (const auto &other : params_) {
        const bool same_short = !param->short_name.empty() && param->short_name == other->short_name;
        const bool same_long = !param->long_name.empty() && param->long_name == other->long_name;
        if (same_short || same_long)
            return fail(DOCA_ERROR_INVALID_VALUE,
                        "parameter " + param->flags() + " has a name of parameter " + other->flags());
    }
    param->is_taken = true;
    params_.push_back(std::move(param));
    return DOCA_SUCCESS;
}

doca_error_t Level::add(std::unique_ptr<doca_argp_cmd> command)
{
    if (const doca_error_t result = command->check(); result != DOCA_SUCCESS)
        return result;
    if (find_command(command->name) != nullptr)
        return fail(DOCA_ERROR_INVALID_VALUE, "there is a command " + quoted(command->name) + " already");
    command->is_taken = true;
    commands_.push_back(std::move(command));
    return DOCA_SUCCESS;
}

const doca_argp_param *Level::find_short(std::string_view name) const
{
    const auto found =
        std::ranges::find_if(params_, [&](const auto &param) { return !name.empty() && param->short_name == name; });
    return found == params_.end() ? nullptr : found->get();
}

const doca_argp_param *Level::find_long(std::string_view name) const
{
    const auto found =
        std::ranges::find_if(params_, [&](const auto &param) { return !name.empty() && param->long_name == name; });
    return found == params_.end() ? nullptr : found->get();
}

const doca_argp_cmd *Level::find_command(std::string_view name) const
{
    const auto found = std::ranges::find_if(commands_, [&](const auto &command) { return command->name == name; });
    return found == commands_.end() ? nullptr : found->get();
}

bool Level::contains(const doca_argp_cmd *command) const
{
    return std::ranges::any_of(commands_,
                               [&](const auto &own) { return own.get() == command || own->level.contains(command); });
}

} // namespace opendoca::argp

doca_error_t doca_argp_cmd::check() const
{
    using opendoca::argp::fail;
    if (is_out_of_memory)
        return fail(DOCA_ERROR_NO_MEMORY, "a command's setter ran out of memory");
    if (name.empty())
        return fail(DOCA_ERROR_INITIALIZATION, "a command has no name");
    // A name with blanks could not be written as one word, and one with a dash would be taken for a flag.
    const bool has_blank = std::ranges::any_of(name, [](char c) {
        const auto code = static_cast<unsigned char>(c);
        return code <= ' ' || code == 0x7f;
    });
    if (name.starts_with('-') || has_blank)
        return fail(DOCA_ERROR_INVALID_VALUE, opendoca::argp::quoted(name) + " cannot be the name of a command");
    if (description.empty())
        return fail(DOCA_ERROR_INITIALIZATION, "command " + opendoca::argp::quoted(name) + " has no description");
    return DOCA_SUCCESS;
}
