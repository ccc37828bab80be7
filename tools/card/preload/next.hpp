// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>

#include <dlfcn.h>

namespace opendoca::card {

/// The function that `name` would be without this library: libc's, or a sanitizer's. `Tag` keeps one cache a
/// name.
template <typename Function, int Tag>
Function *next(const char *name)
{
    static std::atomic<void *> cached; // zero at start: no guard, so it is right however early it is called
    void *found = cached.load(std::memory_order_relaxed);
    if (found == nullptr) {
        found = dlsym(RTLD_NEXT, name);
        cached.store(found, std::memory_order_relaxed);
    }
    return reinterpret_cast<Function *>(found);
}

} // namespace opendoca::card
