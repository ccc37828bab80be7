// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Default implementations of sources and pollables. They are not in completion_queue.cpp: there, the compiler would
// inline them as the expected targets of the virtual calls.
#include "source.hpp"

namespace opendoca {

Source::~Source() = default;

void Source::flush() noexcept {}

void Source::retrieved(Operation &) noexcept {}

Pollable::~Pollable() = default;

Operation *Pollable::poll_one() noexcept
{
    progress();
    return nullptr;
}

bool Pollable::arm() noexcept
{
    progress(); // an operation that completes here wakes the armed queue
    return false;
}

void Pollable::disarm() noexcept {}

bool Pollable::park() noexcept
{
    return false;
}

void Pollable::unpark() noexcept {}

} // namespace opendoca
