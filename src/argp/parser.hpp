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

/// The argument parser: registered flags and commands, callbacks, and the result of the latest start. Owned by the
/// variable `parser` below, from doca_argp_init() to doca_argp_destroy(); a process has at most one. As in DOCA, one
/// thread at a time may use it.
class Parser {
public:
    /// If @p program_name is null, the last component of argv[0] is used. @p program_config is passed to all callbacks.
    Parser(const Generation &generation, const char *program_name, void *program_config);

    /// Register a flag or command, which is freed if that fails. Not allowed inside a callback of start().
    [[nodiscard]] doca_error_t add(std::unique_ptr<doca_argp_param> param) { return add_any(std::move(param)); }
    [[nodiscard]] doca_error_t add(std::unique_ptr<doca_argp_cmd> command) { return add_any(std::move(command)); }
    /// Parses @p words, which are main()'s argv, and calls the callbacks in the order of the words. Returns the first
    /// error; of a user's mistake, after the usage text was printed. Ends the process for --help and --version.
    [[nodiscard]] doca_error_t start(std::span<char *const> words);

    /// Prints the usage text and ends the process.
    [[noreturn]] void show_usage() const;

    void set_version_callback(ParamCallback callback) { version_callback_ = callback; }
    void set_validation_callback(ValidationCallback callback) { validation_callback_ = callback; }
    void set_dpdk_callback(DpdkCallback callback) { dpdk_callback_ = callback; }
    /// Adds the flag for the address of gRPC.
    void set_grpc_program() { flags_.add_grpc_address(); }

    /// True while a callback of start() may be running.
    [[nodiscard]] bool is_in_start() const { return is_in_start_; }
    /// Return what the latest start was given, or the default.
    [[nodiscard]] const char *grpc_address() const;
    [[nodiscard]] int log_level() const;
    [[nodiscard]] int sdk_log_level() const;

private:
    template <typename Part>
    [[nodiscard]] doca_error_t add_any(std::unique_ptr<Part> part);
    /// Parses the command line and the JSON file, without calling back.
    [[nodiscard]] doca_error_t read(std::span<char *const> words, Request &request) const;
    /// Reads the JSON file. The command line overrides it.
    [[nodiscard]] doca_error_t read_json(Request &request) const;
    [[nodiscard]] doca_error_t check_together(const Request &request) const;
    /// Applies the log levels and calls the callbacks.
    [[nodiscard]] doca_error_t act();
    [[nodiscard]] doca_error_t set_log_levels() const;
    [[nodiscard]] doca_error_t call_back();
    void print_usage(std::FILE *file, const Path &path) const;
    [[noreturn]] void show_version() const;

    std::string program_name_;
    void *program_config_; ///< the program's; may be null
    FlagSet flags_;
    ParamCallback version_callback_ = nullptr;
    ValidationCallback validation_callback_ = nullptr;
    DpdkCallback dpdk_callback_ = nullptr;
    bool is_in_start_ = false;
    Request request_;                   ///< of the latest start that was parsed without errors
    std::list<EalArguments> arguments_; ///< one for each start: DPDK keeps pointers into them
};

/// Set from doca_argp_init() to doca_argp_destroy(). Not a smart pointer, because a callback may call exit() while the
/// parser is in use.
inline Parser *parser = nullptr;

} // namespace opendoca::argp
