// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DPDK (EAL) arguments: read from the JSON section doca_dpdk_flags, and passed on in the form of rte_eal_init().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <json-c/json.h>

#include <doca_error.h>

namespace opendoca::argp {

/// Appends the EAL arguments for one member of doca_dpdk_flags to @p out. Returns INVALID_VALUE, after a log line, for
/// a value of another type. docs/arguments.md has the mapping.
[[nodiscard]] doca_error_t append_eal_arguments(std::string_view key, json_object *value,
                                                std::vector<std::string> &out);

/// An argument vector for rte_eal_init(). Owns its strings, since DPDK keeps pointers into them after the call: the
/// parser keeps it until doca_argp_destroy(). Must not be copied: the pointers would refer to the original.
class EalArguments {
public:
    EalArguments(const std::string &program_name, const std::vector<std::string> &arguments);
    EalArguments(const EalArguments &) = delete;
    EalArguments &operator=(const EalArguments &) = delete;

    [[nodiscard]] int argc() const { return static_cast<int>(words_.size()); }
    [[nodiscard]] char **argv() { return pointers_.data(); }

private:
    std::vector<std::string> words_;
    std::vector<char *> pointers_; ///< into words_, terminated by a null pointer
};

} // namespace opendoca::argp
