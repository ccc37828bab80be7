// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

// The entries of the generated tables for each function of an API generation, which its stub uses.
namespace trace {

// How a value is shown. out_: what the pointer points to, after the call has succeeded.
enum class Shown {
    nothing,
    boolean,
    unsigned8,
    unsigned16,
    unsigned32,
    unsigned64,
    signed32,
    signed64,
    hexadecimal,
    enumeration,
    pointer,
    callback,
    text,
    buffer, // text that the function writes
    job,
    event,
    out_boolean,
    out_unsigned8,
    out_unsigned16,
    out_unsigned32,
    out_unsigned64,
    out_signed32,
    out_signed64,
    out_hexadecimal,
    out_enumeration,
    out_pointer,
};

struct Value {
    std::int64_t value;
    const char *name;
};

struct Parameter {
    const char *name;
    Shown shown;
    std::span<const Value> values; // of an enumeration
};

struct Function {
    const char *name = nullptr; // null: this generation does not have it
    Shown returned{};
    std::span<const Value> values;
    std::span<const Parameter> parameters;
};

// In the order of names: the same index is the same function.
extern const std::span<const Function> functions_of_2;
extern const std::span<const Function> functions_of_3;
extern const char *const names[];
extern const std::size_t num_names;

using Arguments = std::array<std::uintptr_t, 8>;

std::uintptr_t call(std::size_t index, const Arguments &arguments);

} // namespace trace
