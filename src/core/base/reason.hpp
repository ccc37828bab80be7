// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The reason why an object has refused an operation. If all API generations return the same error code for it, that
// code is the reason. If they differ, the object returns a Reason, which the front end of each generation maps to its
// code.
#pragma once

#include <doca_error.h>

namespace opendoca {

/// The reasons with different codes in DOCA 2.2 and 3.0. Their values are above those of all error codes.
enum class Reason : int {
    already_added = 1 << 16, ///< the device is one of the object's already
    not_added,               ///< the device is none of the object's
    not_started,             ///< the inventory, or the memory map of the buffer to copy
    buffers_in_use,          ///< buffers of the inventory that is to be destroyed
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
    /// Returns the reason. Only if is_reason().
    [[nodiscard]] constexpr Reason reason() const noexcept { return static_cast<Reason>(value_); }
    /// Returns the error code. Only if not is_reason().
    [[nodiscard]] constexpr doca_error_t code() const noexcept { return static_cast<doca_error_t>(value_); }

    constexpr bool operator==(const Status &) const noexcept = default;

private:
    static constexpr int first_reason = static_cast<int>(Reason::already_added);

    int value_;
};

} // namespace opendoca
