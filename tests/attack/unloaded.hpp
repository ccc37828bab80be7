// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

#include <doca_error.h>

namespace attack {

/// Exports memory by the API of one generation, and destroys all that it has made.
void export_memory(void *library);

inline void must(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "not true: %s\n", what);
    std::exit(1);
}

/// Calls a function of the library by its name.
template <typename Function, typename... Arguments>
void call(void *library, const char *name, Function *, Arguments... arguments)
{
    auto *const function = reinterpret_cast<Function *>(dlsym(library, name));
    must(function != nullptr && function(arguments...) == DOCA_SUCCESS, name);
}
#define CALL(name, ...) call(library, #name, static_cast<decltype(name) *>(nullptr), __VA_ARGS__)

} // namespace attack
