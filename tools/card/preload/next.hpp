// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>

#include <dlfcn.h>

namespace opendoca::card {

/// Returns the function `name` of the next library: libc's, or a sanitizer's. Each `Tag` has its own cache, so it must
/// be unique for each name.
template <typename Function, int Tag>
Function *next(const char *name)
{
    static std::atomic<void *> cached; // zero-initialised without a guard, so it is valid however early it is used;
                                       // relaxed, since the pointer is the only datum
    void *found = cached.load(std::memory_order_relaxed);
    if (found == nullptr) {
        found = dlsym(RTLD_NEXT, name);
        cached.store(found, std::memory_order_relaxed);
    }
    return reinterpret_cast<Function *>(found);
}

} // namespace opendoca::card
