// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "late_operations.hpp"

#include <utility>

namespace opendoca {

LateOperations::LateOperations(CompletionQueue &completions, std::unique_ptr<CompletionOrder> order)
    : completions_(completions),
      order_(std::move(order)),
      waiting_(std::make_unique<Operation *[]>(completions.depth()))
{
    completions_.reserve_polled();
}

LateOperations::~LateOperations()
{
    completions_.stop_polling(*this);
    completions_.unreserve_polled();
}

void LateOperations::append(Operation &operation) noexcept
{
    waiting_[num_waiting_] = &operation;
    if (num_waiting_++ == 0)
        completions_.start_polling(*this); // wakes a waiting queue
}

/// The operations that stay keep their order, so that an order of 0 alone is that of submission.
void LateOperations::progress() noexcept
{
    if (num_waiting_ == 0)
        return;
    std::uint32_t index = order_->next(num_waiting_);
    Operation &operation = *waiting_[index];
    for (--num_waiting_; index != num_waiting_; ++index)
        waiting_[index] = waiting_[index + 1];
    if (num_waiting_ == 0)
        completions_.stop_polling(*this);
    completions_.done_and_notify(operation, DOCA_SUCCESS);
    if (num_waiting_ != 0)
        completions_.wake_if_waiting(); // or the thread would block while there is work
}

void LateOperations::complete_all() noexcept
{
    while (num_waiting_ != 0)
        progress();
}

} // namespace opendoca
