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

namespace opendoca::argp {

using ValidationCallback = doca_error_t (*)(void *config);
using DpdkCallback = doca_error_t (*)(int argc, char **argv);

/// The argument parser: registered flags and commands, callbacks, and the result of the latest start.
/// A process has at most one. As in DOCA, it is not thread safe.
class Parser {
public:
    /// If @p program_name is null, the name in argv[0] is used.
    Parser(const Generation &generation, const char *program_name, void *program_config);

    [[nodiscard]] doca_error_t add(std::unique_ptr<doca_argp_param> param) { return add_any(std::move(param)); }
    [[nodiscard]] doca_error_t add(std::unique_ptr<doca_argp_cmd> command) { return add_any(std::move(command)); }
    /// Parses @p words, which are main()'s argv, and calls the callbacks.
    [[nodiscard]] doca_error_t start(std::span<char *const> words);

    /// Prints the usage text and ends the process.
    [[noreturn]] void show_usage() const;

    void set_version_callback(ParamCallback callback) { version_callback_ = callback; }
    void set_validation_callback(ValidationCallback callback) { validation_callback_ = callback; }
    void set_dpdk_callback(DpdkCallback callback) { dpdk_callback_ = callback; }
    void set_grpc_program() { flags_.add_grpc_address(); }

    [[nodiscard]] bool is_in_start() const { return is_in_start_; }
    [[nodiscard]] const char *grpc_address() const;
    [[nodiscard]] int log_level() const;
    [[nodiscard]] int sdk_log_level() const;

private:
    template <typename Part>
    [[nodiscard]] doca_error_t add_any(std::unique_ptr<Part> part);
    [[nodiscard]] doca_error_t read(std::span<char *const> words, Request &request) const;
    [[nodiscard]] doca_error_t read_json(Request &request) const;
    [[nodiscard]] doca_error_t check_together(const Request &request) const;
    [[nodiscard]] doca_error_t act();
    [[nodiscard]] doca_error_t set_log_levels() const;
    [[nodiscard]] doca_error_t call_back();
    void print_usage(std::FILE *file, const Path &path) const;
    [[noreturn]] void show_version() const;

    std::string program_name_;
    void *program_config_;
    FlagSet flags_;
    ParamCallback version_callback_ = nullptr;
    ValidationCallback validation_callback_ = nullptr;
    DpdkCallback dpdk_callback_ = nullptr;
    bool is_in_start_ = false;
    Request request_;                   ///< of the latest start that was parsed without errors
    std::list<EalArguments> arguments_; ///< DPDK keeps pointers into them.
};

/// Set from doca_argp_init() to doca_argp_destroy(). Not a smart pointer, because a callback may call exit() while the
/// parser is in use.
inline Parser *parser = nullptr;

} // namespace opendoca::argp
