// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a device gives to a program that makes queues of it itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include <doca_error.h>

namespace opendoca {

/// Memory of this process that the device knows by a number: a UMEM.
class UserMemory {
public:
    explicit UserMemory(std::uint32_t number) noexcept : id(number) {}
    UserMemory(const UserMemory &) = delete;
    UserMemory &operator=(const UserMemory &) = delete;
    virtual ~UserMemory();

    /// Takes the memory away from the device, once. A failure, as when a queue of the device still uses it, changes
    /// nothing.
    [[nodiscard]] virtual doca_error_t release() = 0;

    const std::uint32_t id;
};

/// How the CPU reaches a page of doorbells.
enum class DoorbellAccess : std::uint8_t {
    write_combining, ///< BlueFlame
    uncached,
    uncached_alone, ///< by one queue, and no other part of the process
};

/// A page of the device, mapped into this process, through which doorbells are rung: a UAR.
class DoorbellPage {
public:
    DoorbellPage(std::uint32_t number, void *page, void *doorbell) noexcept : id(number), first(page), reg(doorbell) {}
    DoorbellPage(const DoorbellPage &) = delete;
    DoorbellPage &operator=(const DoorbellPage &) = delete;
    /// Gives the page back.
    virtual ~DoorbellPage();

    const std::uint32_t id;
    void *const first;
    void *const reg;
};

} // namespace opendoca
