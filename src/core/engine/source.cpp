// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What sources do by default. Not in completion_queue.cpp, where the compiler would take it for the likely case.
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
    progress(); // what ends now wakes the armed queue
    return false;
}

void Pollable::disarm() noexcept {}

} // namespace opendoca
