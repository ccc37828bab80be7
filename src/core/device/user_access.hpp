// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a device provides to programs that create its queues themselves.
#pragma once

#include <cstddef>
#include <cstdint>

#include <doca_error.h>

namespace opendoca {

/// Memory of this process that is registered with the device under a number: a UMEM. Owned by the program.
class UserMemory {
public:
    explicit UserMemory(std::uint32_t number) noexcept : id(number) {}
    UserMemory(const UserMemory &) = delete;
    UserMemory &operator=(const UserMemory &) = delete;
    virtual ~UserMemory();

    /// Deregisters the memory; called once. If that fails, for example because a queue of the device still uses the
    /// memory, nothing has changed.
    [[nodiscard]] virtual doca_error_t release() = 0;

    const std::uint32_t id; ///< the number by which device commands refer to the UMEM
};

/// How the CPU maps a doorbell page.
enum class DoorbellAccess : std::uint8_t {
    write_combining,    ///< BlueFlame
    uncached,           ///< each store reaches the device on its own, in program order
    uncached_dedicated, ///< for one queue, not shared with other parts of the process
};

/// A page of doorbell registers of the device, mapped into this process: a UAR. Owned by the program.
class DoorbellPage {
public:
    DoorbellPage(std::uint32_t number, void *page, void *doorbell) noexcept : id(number), first(page), reg(doorbell) {}
    DoorbellPage(const DoorbellPage &) = delete;
    DoorbellPage &operator=(const DoorbellPage &) = delete;
    /// Releases the page.
    virtual ~DoorbellPage();

    const std::uint32_t id; ///< the number by which device commands refer to the UAR
    void *const first;      ///< the first byte of the mapped page
    void *const reg;        ///< the doorbell register within the page
};

} // namespace opendoca
