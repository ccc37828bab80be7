// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>

namespace doca_test {

/// What a free callback was called with.
struct Freed {
    int calls = 0;
    void *addr = nullptr;
    std::size_t len = 0;

    static void callback(void *addr, std::size_t len, void *cookie)
    {
        auto &freed = *static_cast<Freed *>(cookie);
        ++freed.calls;
        freed.addr = addr;
        freed.len = len;
    }
};

} // namespace doca_test
