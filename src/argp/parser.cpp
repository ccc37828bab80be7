// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "parser.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "command_line.hpp"
#include "json_file.hpp"
#include "json_flags.hpp"
#include "report.hpp"
#include "usage.hpp"

namespace opendoca::argp {
namespace {

/// Sets a flag for the lifetime of this object.
class Flagged {
public:
    explicit Flagged(bool &flag) : flag_(flag) { flag_ = true; }
    ~Flagged() { flag_ = false; }
    Flagged(const Flagged &) = delete;
    Flagged &operator=(const Flagged &) = delete;

private:
    bool &flag_;
};

/// Logs the error that a callback of the program has returned.
doca_error_t failed(const Generation &generation, doca_error_t result, const std::string &callback)
{
    return fail(result, "the program's " + callback + " failed: " + generation.error_name(result));
}

/// Returns the last component of a path.
std::string_view file_name(std::string_view path)
{
    return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

} // namespace

Parser::Parser(const Generation &generation, const char *program_name, void *program_config)
    : program_name_(program_name == nullptr ? "" : program_name),
      program_config_(program_config),
      flags_(generation)
{
}

template <typename Part>
doca_error_t Parser::add_any(std::unique_ptr<Part> part)
{
    if (is_in_start_)
        return fail(flags_.generation().misuse, "something is registered by a callback of doca_argp_start");
    return flags_.program.add(std::move(part));
}

template doca_error_t Parser::add_any(std::unique_ptr<doca_argp_param> part);
template doca_error_t Parser::add_any(std::unique_ptr<doca_argp_cmd> part);

doca_error_t Parser::start(std::span<char *const> words)
{
    if (is_in_start_)
        return fail(flags_.generation().misuse, "doca_argp_start is called by one of its callbacks");
    const Flagged in_start(is_in_start_);
    if (program_name_.empty())
        program_name_ = file_name(words.front());
    Request request;
    if (const doca_error_t result = read(words.subspan(1), request); result != DOCA_SUCCESS) {
        // The user's input is wrong, as opposed to a file that cannot be read.
        if (result == DOCA_ERROR_NOT_SUPPORTED || result == DOCA_ERROR_INVALID_VALUE)
            print_usage(stderr, request.path);
        return result;
    }
    // Kept: getters and callbacks refer to it after the start.
    request_ = std::move(request);
    return act();
}

doca_error_t Parser::read(std::span<char *const> words, Request &request) const
{
    if (dpdk_callback_ != nullptr) {
        // The arguments of EAL end at the first "--", as for any DPDK program.
        const auto separator =
            std::find_if(words.begin(), words.end(), [](const char *word) { return std::string_view(word) == "--"; });
        if (separator != words.end()) {
            request.eal.assign(words.begin(), separator);
            words = words.subspan(request.eal.size() + 1);
        }
    }
    if (const doca_error_t result = parse_command_line(flags_, words, request); result != DOCA_SUCCESS)
        return result;
    if (request.action != Request::Action::run)
        return DOCA_SUCCESS;
    if (request.json_path) {
        if (const doca_error_t result = read_json(request); result != DOCA_SUCCESS)
            return result;
    }
    return check_together(request);
}

doca_error_t Parser::read_json(Request &request) const
{
    JsonPtr root;
    if (const doca_error_t result = read_json_file(*request.json_path, root); result != DOCA_SUCCESS)
        return result;
    Request from_json;
    const doca_error_t result = parse_json_flags(flags_, request.path, dpdk_callback_ != nullptr, *root, from_json);
    if (result == DOCA_SUCCESS)
        request.complete_from(std::move(from_json));
    return result;
}

/// Checks that mandatory flags are given, and that no flags are given together that exclude each other.
doca_error_t Parser::check_together(const Request &request) const
{
    // At most one flag can be singular without an error, so the first one decides.
    for (const GivenValue &given : request.values) {
        if (!given.param->is_singular)
            continue;
        const auto other =
            std::ranges::find_if(request.values, [&](const GivenValue &value) { return value.param != given.param; });
        if (other == request.values.end())
            return DOCA_SUCCESS; // a singular flag replaces all mandatory ones
        return fail(DOCA_ERROR_INVALID_VALUE, "flag " + given.param->flags() + " is given with " +
                                                  other->param->flags() + ", and must stand alone");
    }
    std::string missing;
    for (std::size_t depth = 0; depth <= request.path.size(); ++depth) {
        for (const auto &param : flags_.level(request.path, depth).params()) {
            if (param->is_mandatory && !request.mentions(param.get()))
                missing += (missing.empty() ? "" : ", ") + param->flags();
        }
    }
    if (!missing.empty())
        return fail(DOCA_ERROR_INVALID_VALUE, "mandatory flags are missing: " + missing);
    return DOCA_SUCCESS;
}

doca_error_t Parser::act()
{
    // Help and version do not return.
    if (request_.action == Request::Action::help)
        show_usage();
    if (request_.action == Request::Action::version)
        show_version();
    if (const doca_error_t result = set_log_levels(); result != DOCA_SUCCESS)
        return result;
    if (const doca_error_t result = call_back(); result != DOCA_SUCCESS)
        return result;
    if (dpdk_callback_ != nullptr) {
        EalArguments &eal = arguments_.emplace_back(program_name_, request_.eal);
        if (const doca_error_t result = dpdk_callback_(eal.argc(), eal.argv()); result != DOCA_SUCCESS)
            return failed(flags_.generation(), result, "DPDK callback");
    }
    if (validation_callback_ == nullptr)
        return DOCA_SUCCESS;
    const doca_error_t result = validation_callback_(program_config_);
    return result == DOCA_SUCCESS ? result : failed(flags_.generation(), result, "validation callback");
}

doca_error_t Parser::set_log_levels() const
{
    const Generation &generation = flags_.generation();
    if (request_.log_level) {
        const doca_error_t result = generation.set_log_level(static_cast<std::uint32_t>(*request_.log_level));
        if (result != DOCA_SUCCESS)
            return result;
    }
    if (!request_.sdk_log_level)
        return DOCA_SUCCESS;
    return generation.set_sdk_log_level(static_cast<std::uint32_t>(*request_.sdk_log_level));
}

/// Calls the callbacks of commands and flags, in the order of the command line.
doca_error_t Parser::call_back()
{
    const Generation &generation = flags_.generation();
    auto command = request_.commands.begin();
    // One round more than there are values, for commands behind the last value.
    for (std::size_t i = 0; i <= request_.values.size(); ++i) {
        for (; command != request_.commands.end() && command->num_values_before == i; ++command) {
            if (command->command->callback == nullptr)
                continue;
            const doca_error_t result = command->command->callback(program_config_);
            if (result != DOCA_SUCCESS)
                return failed(generation, result, "callback for command " + quoted(command->command->name));
        }
        if (i == request_.values.size())
            break;
        GivenValue &given = request_.values[i];
        const doca_error_t result = given.param->callback(given.address(), program_config_);
        if (result != DOCA_SUCCESS)
            return failed(generation, result, "callback for flag " + given.param->flags());
    }
    return DOCA_SUCCESS;
}

void Parser::print_usage(std::FILE *file, const Path &path) const
{
    const std::string name = program_name_.empty() ? "<program>" : program_name_;
    const std::string text = usage_text(name, flags_, path, dpdk_callback_ != nullptr);
    (void)std::fputs(text.c_str(), file);
}

void Parser::show_usage() const
{
    print_usage(stdout, request_.path);
    std::exit(EXIT_SUCCESS);
}

void Parser::show_version() const
{
    doca_error_t result = DOCA_SUCCESS;
    if (version_callback_ != nullptr) {
        result = version_callback_(nullptr, program_config_);
        if (result != DOCA_SUCCESS)
            (void)failed(flags_.generation(), result, "version callback");
    } else {
        (void)std::fputs(flags_.generation().version_text().c_str(), stdout);
    }
    std::exit(result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE);
}

const char *Parser::grpc_address() const
{
    return request_.grpc_address ? request_.grpc_address->c_str() : "";
}

int Parser::log_level() const
{
    return request_.log_level ? *request_.log_level : static_cast<int>(flags_.generation().log_level());
}

int Parser::sdk_log_level() const
{
    return request_.sdk_log_level ? *request_.sdk_log_level : static_cast<int>(flags_.generation().sdk_log_level());
}

} // namespace opendoca::argp
