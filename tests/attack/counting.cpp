// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The walk where nothing is made to fail: failing.cpp's place.
#include <fcntl.h>

#include "failing.hpp"

namespace attack {

Inside::Inside() noexcept {}

Inside::~Inside() {}

Outside::Outside() noexcept : depth_(0) {}

Outside::~Outside() {}

Resources count_resources() noexcept
{
    Resources found{};
    for (int fd = 0; fd < 256; ++fd)
        found.descriptors += fcntl(fd, F_GETFD) >= 0;
    return found;
}

} // namespace attack
