// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../../../buf.hpp"
#include "../../../engine/completion_queue.hpp"
#include "../../../mmap.hpp"
#include "../../queue_pair.hpp"
#include "../device.hpp"
#include "queue_pair_page.hpp"

namespace opendoca::soft {

class SoftQueuePair;

/// What the operation of a receive holds.
struct Receive {
    doca_buf *dst;
    TransferPlan plan;
};

/// Receives that are given to a message when it has come, whichever connection it has come by. Queue pairs take
/// them from here.
class OPENDOCA_INTERNAL SoftReceiveQueue : public ReceiveQueue {
public:
    SoftReceiveQueue(const SoftDevice &device, CompletionQueue &completions, std::uint32_t size);

    [[nodiscard]] doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept override;
    /// Those that no message has met end with SHUTDOWN.
    void flush() noexcept override;

    [[nodiscard]] bool has_receive() const noexcept { return num_ != 0; }
    [[nodiscard]] Operation &first() noexcept { return *at(first_); }
    /// Takes the oldest receive for @p queue_pair; there must be one.
    [[nodiscard]] Operation &take(Source &queue_pair) noexcept
    {
        --num_;
        Operation &operation = *at(first_++);
        completions_.assign(operation, queue_pair);
        return operation;
    }
    /// Returns a receive that was taken but not filled to the head of the queue; flushes it if there is no room.
    void give_back(Operation &operation) noexcept;

    /// Registers @p connection, which is checked only when its peer rings and which has a message but no receive: it is
    /// checked again when a receive is posted.
    void starve(SoftQueuePair &connection) noexcept;
    /// Schedules a check of the connection that has waited longest for a receive.
    void feed() noexcept
    {
        if (first_starving_ != nullptr && has_receive()) [[unlikely]]
            feed_first();
    }
    /// Unregisters @p connection, which has ended.
    void forget(SoftQueuePair &connection) noexcept;

protected:
    [[nodiscard]] CompletionQueue &completions() const noexcept { return completions_; }

private:
    [[gnu::cold]] void feed_first() noexcept;
    /// That senders can place a message in the memory of @p receive.
    [[nodiscard]] doca_error_t check_exports(const Receive &receive);
    [[nodiscard]] bool is_known_to_be_exported(const doca_mmap &map) const noexcept
    {
        const std::pair key(map.serial(), map.num_starts());
        return key == exported_[0] || key == exported_[1];
    }
    [[nodiscard]] bool are_known_to_be_exported(const doca_buf *list) const noexcept
    {
        while (list != nullptr && is_known_to_be_exported(*list->mmap))
            list = list->next;
        return list == nullptr;
    }

    [[nodiscard]] Operation *&at(std::uint32_t number) noexcept { return ring_[number & mask_]; }

    const SoftDevice &device_;
    CompletionQueue &completions_;
    /// Maps that were exported when they were met last, by doca_mmap's serial() and num_starts(). A receive has
    /// memory of two at most, as a rule.
    std::array<std::pair<std::uint64_t, std::uint32_t>, 2> exported_{};
    std::size_t last_exported_ = 0;
    const std::uint32_t size_;
    const std::uint32_t mask_;
    std::vector<Operation *> ring_; ///< a power of two
    std::uint32_t first_ = 0;
    std::uint32_t num_ = 0;
    SoftQueuePair *first_starving_ = nullptr; ///< a list
    SoftQueuePair *last_starving_ = nullptr;
};

/// Describes the memory of @p receive in @p entry, for the sender of a message that is placed in it.
[[nodiscard]] doca_error_t post_segments(const SoftDevice &device, ReceiveEntry &entry, const Receive &receive);

} // namespace opendoca::soft
