// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "parser.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <doca_log.h>

#include "command_line.hpp"
#include "json_file.hpp"
#include "json_flags.hpp"
#include "report.hpp"
#include "usage.hpp"

namespace opendoca::argp
{
namespace
{

class Flagged
{
public:
    explicit Flagged(bool &flag) : flag_(flag) { flag_ = true; }
    ~Flagged() { flag_ = false; }
    Flagged(const Flagged &) = delete;
    Flagged &operator=(const Flagged &) = delete;

private:
    bool &flag_;
};

} // namespace

doca_error_t Parser::add(std::unique_ptr<doca_argp_param> param)
{
    if (is_in_start_)
        return fail(DOCA_ERROR_INVALID_VALUE, "a parameter is registered by a callback of doca_argp_start");
    if (const doca_error_t result = param->check(); result != DOCA_SUCCESS)
        return result;
    return flags_.add(std::move(param));
}

doca_error_t Parser::start(std::span<char *const> words)
{
    if (is_in_start_)
        return fail(DOCA_ERROR_INVALID_VALUE, "doca_argp_start is called by one of its callbacks");
    const Flagged in_start(is_in_start_);
    Request request;
    if (const doca_error_t result = read(words, request); result != DOCA_SUCCESS) {
        // What the user wrote is wrong, and not how a file could be read.
        if (result == DOCA_ERROR_NOT_SUPPORTED || result == DOCA_ERROR_INVALID_VALUE)
            print_usage(stderr);
        return result;
    }
    request_ = std::move(request);
    return act();
}

doca_error_t Parser::read(std::span<char *const> words, Request &request) const
{
    if (dpdk_callback_ != nullptr) {
        const auto separator = std::find_if(words.begin(), words.end(),
                                            [](const char *word) { return std::string_view(word) == "--"; });
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
    return check_mandatory(request);
}

doca_error_t Parser::read_json(Request &request) const
{
    JsonPtr root;
    if (const doca_error_t result = read_json_file(*request.json_path, root); result != DOCA_SUCCESS)
        return result;
    Request from_json;
    const doca_error_t result = parse_json_flags(flags_, dpdk_callback_ != nullptr, *root, from_json);
    if (result == DOCA_SUCCESS)
        request.complete_from(std::move(from_json));
    return result;
}

doca_error_t Parser::check_mandatory(const Request &request) const
{
    std::string missing;
    for (const auto &param : flags_.params()) {
        if (param->is_mandatory && !request.mentions(param.get()))
            missing += (missing.empty() ? "" : ", ") + param->flags();
    }
    if (!missing.empty())
        return fail(DOCA_ERROR_INVALID_VALUE, "mandatory flags are missing: " + missing);
    return DOCA_SUCCESS;
}

doca_error_t Parser::act()
{
    if (request_.action == Request::Action::help)
        show_usage();
    if (request_.action == Request::Action::version)
        show_version();
    if (request_.log_level) {
        const auto level = static_cast<std::uint32_t>(*request_.log_level);
        const doca_error_t result = doca_log_global_level_set(level);
        if (result != DOCA_SUCCESS)
            return result;
    }
    for (GivenValue &given : request_.values) {
        const doca_error_t result = given.param->callback(given.address(), program_config_);
        if (result != DOCA_SUCCESS)
            return fail(result, "the program's callback for flag " + given.param->flags() + " failed: " +
                                    doca_get_error_name(result));
    }
    if (dpdk_callback_ != nullptr) {
        EalArguments &eal = arguments_.emplace_back(program_name_, request_.eal);
        if (const doca_error_t result = dpdk_callback_(eal.argc(), eal.argv()); result != DOCA_SUCCESS)
            return result;
    }
    return validation_callback_ == nullptr ? DOCA_SUCCESS : validation_callback_(program_config_);
}

void Parser::print_usage(std::FILE *file) const
{
    const std::string text = usage_text(program_name_, flags_, dpdk_callback_ != nullptr);
    (void)std::fputs(text.c_str(), file);
}

void Parser::show_usage() const
{
    print_usage(stdout);
    std::exit(EXIT_SUCCESS);
}

void Parser::show_version() const
{
    doca_error_t result = DOCA_SUCCESS;
    if (version_callback_ != nullptr)
        result = version_callback_(nullptr, program_config_);
    else
        (void)std::fputs(version_text().c_str(), stdout);
    std::exit(result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE);
}

const char *Parser::grpc_address() const
{
    return request_.grpc_address ? request_.grpc_address->c_str() : "";
}

int Parser::log_level() const
{
    return request_.log_level ? *request_.log_level : static_cast<int>(doca_log_global_level_get());
}

} // namespace opendoca::argp
