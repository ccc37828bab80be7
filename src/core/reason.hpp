// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Why an object refused. Where every API generation answers with the same code, that code is the reason;
// where they differ, the object names the reason, and the front end of each generation maps it to its code.
#pragma once

#include <doca_error.h>

namespace opendoca {

/// Only what has different codes in DOCA 2.2 and 3.0.
enum class Reason : int {
    already_added = 1 << 16, ///< the device is one of the object's already
    not_added,               ///< the device is none of the object's
    not_started,             ///< the inventory, or the memory map of the buffer to copy
    buffers_in_use,          ///< of the inventory that is to be destroyed
    no_buffer_left,          ///< in the pool
    range_too_small,         ///< for the pool's buffers
    has_instances,           ///< the graph that is to be stopped or destroyed
    too_many_references,     ///< to a buffer
};

/// A doca_error_t or a Reason.
class [[nodiscard]] Status {
public:
    constexpr Status(doca_error_t code) noexcept : value_(code) {}
    constexpr Status(Reason reason) noexcept : value_(static_cast<int>(reason)) {}

    [[nodiscard]] constexpr bool is_reason() const noexcept { return value_ >= first_reason; }
    /// Of one that is a reason.
    [[nodiscard]] constexpr Reason reason() const noexcept { return static_cast<Reason>(value_); }
    /// Of one that is none.
    [[nodiscard]] constexpr doca_error_t code() const noexcept { return static_cast<doca_error_t>(value_); }

    constexpr bool operator==(const Status &) const noexcept = default;

private:
    static constexpr int first_reason = static_cast<int>(Reason::already_added);

    int value_;
};

} // namespace opendoca
