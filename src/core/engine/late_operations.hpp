// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include "completion_order.hpp"
#include "completion_queue.hpp"

namespace opendoca {

/// Operations that their source carries out when they are retrieved, on a strict device. Each poll completes one,
/// chosen by a CompletionOrder. Owned by the source; used by the thread of the completion queue.
class OPENDOCA_INTERNAL LateOperations final : public Pollable {
public:
    /// Throws std::bad_alloc. @p completions must outlive the object.
    LateOperations(CompletionQueue &completions, std::unique_ptr<CompletionOrder> order);
    ~LateOperations() override;

    /// Appends @p operation, and wakes a waiting queue.
    void append(Operation &operation) noexcept;
    /// Completes all operations, for a front end that is stopping.
    void complete_all() noexcept;

    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override { return num_waiting_ != 0; }
    [[nodiscard]] bool park() noexcept override { return num_waiting_ == 0; } // append() wakes the queue

private:
    CompletionQueue &completions_;
    const std::unique_ptr<CompletionOrder> order_;
    std::unique_ptr<Operation *[]> waiting_; ///< as many places as the completion queue has
    std::uint32_t num_waiting_ = 0;
};

} // namespace opendoca
