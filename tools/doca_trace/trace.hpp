// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

// The interface between the generated stubs (generate.py) and trace.cpp. The tables describe the functions of both API
// generations; a stub passes its index and its arguments to call().
namespace trace {

// How a value is formatted. out_... is for a pointer parameter: the value that it points to after a successful call.
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

// A name of an enumeration.
struct Value {
    std::int64_t value;
    const char *name;
};

// A parameter of a function.
struct Parameter {
    const char *name;
    Shown shown;
    std::span<const Value> values; // empty unless it is an enumeration
};

// A function of one generation. All tables are constant and live as long as the library.
struct Function {
    const char *name = nullptr; // null if this generation does not have the function
    Shown returned{};
    std::span<const Value> values; // names of the result, if it is an enumeration
    std::span<const Parameter> parameters;
};

// In the order of @c names, with one entry for each name, so that an index means the same function in all of them.
extern const std::span<const Function> functions_of_2;
extern const std::span<const Function> functions_of_3;
extern const char *const names[];
extern const std::size_t num_names;

// The most parameters that a function of either API has; generate.py ends with an error if one has more.
constexpr std::size_t max_parameters = 10;
// The arguments as the caller passed them; those beyond the function's parameters are undefined.
using Arguments = std::array<std::uintptr_t, max_parameters>;

// Calls the real function @p index and reports the call. Any thread may use it; returns the real function's result.
std::uintptr_t call(std::size_t index, const Arguments &arguments);

} // namespace trace
