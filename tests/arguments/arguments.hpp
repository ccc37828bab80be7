// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Calls of public functions with arguments from a table, and the objects that they are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doca_error.h>

namespace arguments {

/// Any argument: a pointer, a number, or the address of nothing for a callback that is not NULL.
using Word = std::uintptr_t;

enum class Kind { object, slot, text, memory, callback, number, enumeration };

struct Argument {
    const char *name;
    const char *type; ///< of an object, without "struct"
    Kind kind;
    bool is_required;  ///< NULL is refused
    bool is_output;    ///< written only on success
    bool is_undefined; ///< the header leaves wrong values undefined
};

struct Outcome {
    enum class Of { nothing, error, value } of;
    std::uint64_t value;
};

struct Function {
    const char *name;
    const char *header;
    Outcome (*call)(const Word *words);
    bool waits;        ///< the header says that it waits
    bool refuses_all;  ///< the header says that it refuses NULL with another code
    bool ends_process; ///< the header says so
    std::vector<Argument> arguments;
};

extern const std::vector<Function> functions;

/// What is passed to a function, by type. The first object of a type is the one that fits the others.
struct World {
    std::map<std::string, std::vector<void *>> objects;

    void add(const char *type, const void *object)
    {
        if (object != nullptr)
            objects[type].push_back(const_cast<void *>(object));
    }
};

enum class State { idle, running, in_flight, stopping, stopped };
constexpr const char *state_names[] = {"idle", "running", "in flight", "stopping", "stopped"};

/// Of each generation: makes the objects, in a process that has made none before. Ends the process if it can't.
void build(World &world, State state);
/// Stops what can be stopped. Must not crash or hang whatever was called before.
void wind_down(World &world);

template <typename F>
struct Stub;
template <typename R, typename... A>
struct Stub<R (*)(A...)> {
    static R run(A...) { return R(); }
};

template <typename T>
T convert(Word word)
{
    if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) {
        return word != 0 ? &Stub<T>::run : nullptr;
    } else if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<T>(word);
    } else if constexpr (std::is_class_v<T> || std::is_union_v<T>) {
        T value{};
        std::memcpy(&value, &word, sizeof(value) < sizeof(word) ? sizeof(value) : sizeof(word));
        return value;
    } else {
        return static_cast<T>(word);
    }
}

template <typename R, typename Call>
Outcome outcome_of(Call call)
{
    if constexpr (std::is_void_v<R>) {
        call();
        return {Outcome::Of::nothing, 0};
    } else if constexpr (std::is_same_v<R, doca_error_t>) {
        return {Outcome::Of::error, static_cast<std::uint64_t>(call())};
    } else {
        const R result = call();
        std::uint64_t value = 0;
        std::memcpy(&value, &result, sizeof(result) < sizeof(value) ? sizeof(result) : sizeof(value));
        return {Outcome::Of::value, value};
    }
}

template <typename R, typename... A>
Outcome invoke(R (*function)(A...), const Word *words)
{
    return [&]<std::size_t... I>(std::index_sequence<I...>)
    {
        return outcome_of<R>([&] { return function(convert<A>(words[I])...); });
    }
    (std::index_sequence_for<A...>{});
}

/// A function like printf(), with a format that has nothing in it.
template <typename R, typename... A>
Outcome invoke(R (*function)(A..., ...), const Word *words)
{
    return [&]<std::size_t... I>(std::index_sequence<I...>)
    {
        return outcome_of<R>([&] { return function(convert<A>(words[I])...); });
    }
    (std::index_sequence_for<A...>{});
}

} // namespace arguments
