// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The state between doca_argp_init() and doca_argp_destroy().
#pragma once

#include <cstdio>
#include <list>
#include <memory>
#include <span>
#include <string>

#include "dpdk_flags.hpp"
#include "flag_set.hpp"
#include "request.hpp"

namespace opendoca::argp
{

class Parser
{
public:
    Parser(const char *program_name, void *program_config)
        : program_name_(program_name),
          program_config_(program_config)
    {
    }

    [[nodiscard]] doca_error_t add(std::unique_ptr<doca_argp_param> param);
    [[nodiscard]] doca_error_t start(std::span<char *const> words);

    /// Prints the usage text and ends the process.
    [[noreturn]] void show_usage() const;

    void set_version_callback(callback_func callback) { version_callback_ = callback; }
    void set_validation_callback(validation_callback callback) { validation_callback_ = callback; }
    void set_dpdk_callback(dpdk_callback callback) { dpdk_callback_ = callback; }
    void set_grpc_program() { flags_.add_grpc_address(); }

    [[nodiscard]] bool contains(const doca_argp_param *param) const { return flags_.contains(param); }
    [[nodiscard]] bool is_in_start() const { return is_in_start_; }
    [[nodiscard]] const char *grpc_address() const;
    [[nodiscard]] int log_level() const;

private:
    [[nodiscard]] doca_error_t read(std::span<char *const> words, Request &request) const;
    [[nodiscard]] doca_error_t read_json(Request &request) const;
    [[nodiscard]] doca_error_t check_mandatory(const Request &request) const;
    [[nodiscard]] doca_error_t act();
    void print_usage(std::FILE *file) const;
    [[noreturn]] void show_version() const;

    std::string program_name_;
    void *program_config_;
    FlagSet flags_;
    callback_func version_callback_ = nullptr;
    validation_callback validation_callback_ = nullptr;
    dpdk_callback dpdk_callback_ = nullptr;
    bool is_in_start_ = false;
    Request request_;                   ///< Of the latest start that could be parsed.
    std::list<EalArguments> arguments_; ///< DPDK keeps pointers into them.
};

} // namespace opendoca::argp
