// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Words of a page that another process can change at any time: what is read is read once, then checked and used.
#pragma once

namespace opendoca::soft {

/// Acquire: ordered before every later load from the page.
template <typename T>
T read_once(const T &word) noexcept
{
    T value;
    __atomic_load(&word, &value, __ATOMIC_ACQUIRE);
    return value;
}

} // namespace opendoca::soft
