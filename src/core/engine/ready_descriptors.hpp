// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <vector>

#include "../base/poll_budget.hpp"
#include "completion_queue.hpp"

namespace opendoca {

/// Resumes parked completion queues when a descriptor of theirs is readable, by the event handle that all queues of a
/// progress engine share. That takes a system call, which is made in one of 64 polls, or once a millisecond. Owned by
/// the progress engine and used by its thread; polled by the root of its queues while one of them is parked.
class OPENDOCA_INTERNAL ReadyDescriptors final : public Pollable {
public:
    explicit ReadyDescriptors(CompletionQueue &root);
    ~ReadyDescriptors() override;

    /// Resumes @p queue, which watches @p fd, as soon as @p fd is found readable, until remove(). Returns false without
    /// memory.
    [[nodiscard]] bool add(int fd, CompletionQueue &queue) noexcept;
    void remove(int fd) noexcept;

    void progress() noexcept override;
    /// A readable descriptor makes the event handle readable, so there is nothing to do.
    [[nodiscard]] bool arm() noexcept override { return false; }
    /// The thread may have been woken by one of the descriptors.
    void disarm() noexcept override { is_due_ = true; }

private:
    [[gnu::cold]] void resume_ready() noexcept;

    CompletionQueue &root_;
    std::vector<CompletionQueue *> by_descriptor_; ///< null for a descriptor that was not added
    std::uint32_t num_added_ = 0;
    bool is_due_ = false; ///< the next poll makes the system call
    PollBudget<64, 1, 1> polls_between_calls_;
};

} // namespace opendoca
