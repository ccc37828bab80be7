// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include "../../../engine/operation.hpp"
#include "../../device.hpp"
#include "../../request.hpp"

namespace opendoca::soft {

/// The operations of a queue pair, other than receives, that wait for the peer: a ring, oldest first. Each operation
/// has its request in its payload. Owned by a SoftQueuePair; used by the thread of its work queue.
class SendQueue {
public:
    /// @p size is a power of two.
    explicit SendQueue(std::uint32_t size);

    [[nodiscard]] bool is_empty() const noexcept { return num_ == 0; }
    [[nodiscard]] bool is_full() const noexcept { return num_ == size_; }
    /// Appends @p operation, which gets a copy of @p request. The queue must not be full.
    void push(Operation &operation, const Request &request) noexcept;

    // The queue must not be empty.

    [[nodiscard]] Opcode first_opcode() const noexcept { return static_cast<Opcode>(first().kind); }
    /// Returns the request of the oldest operation, which was pushed for @p device.
    [[nodiscard]] Request first_request(const Device &device) const noexcept;
    /// Removes the oldest operation.
    [[nodiscard]] Operation &pop() noexcept
    {
        Operation &operation = first();
        ++first_;
        --num_;
        return operation;
    }

private:
    [[nodiscard]] Operation *&at(std::uint32_t number) const noexcept { return ring_[number & (size_ - 1)]; }
    [[nodiscard]] Operation &first() const noexcept { return *at(first_); }

    const std::uint32_t size_;
    std::uint32_t first_ = 0; ///< wraps around
    std::uint32_t num_ = 0;
    /// Not initialized, so that the pages of a large queue are only touched if it is used.
    std::unique_ptr<Operation *[]> ring_;
};

} // namespace opendoca::soft
