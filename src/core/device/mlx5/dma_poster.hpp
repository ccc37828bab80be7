// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "../verbs/copy_part.hpp"
#include "../verbs/device.hpp"
#include "../verbs/reliable_connection.hpp"
#include "library.hpp"

namespace opendoca {
class CompletionQueue;
}

namespace opendoca::mlx5 {

class Mlx5Device;

/// A queue pair that posts copies to the DMA engine (mlx5dv_wr_memcpy()). It sends nothing, so it needs neither a peer
/// nor an active port. Each request is signaled. Used by one thread at a time.
class DmaQueuePair {
public:
    /// @p has_channel: completions can raise events.
    [[nodiscard]] doca_error_t create(const Mlx5Device &device, std::uint32_t size, bool has_channel);
    /// Moves a new or reset queue pair from INIT to RTS.
    [[nodiscard]] doca_error_t activate(const Mlx5Device &device) noexcept;

    /// Adds a copy request. Between ibv_wr_start() and ibv_wr_complete() of connection().sender().
    void copy(std::uint64_t id, std::uint32_t to_key, std::uint64_t to, std::uint32_t from_key, std::uint64_t from,
              std::size_t length) noexcept
    {
        ibv_qp_ex &sender = connection_.sender();
        sender.wr_id = id;
        sender.wr_flags = IBV_SEND_SIGNALED;
        mlx5dv_wr_memcpy(engine_, to_key, to, from_key, from, length);
    }

    [[nodiscard]] verbs::ReliableConnection &connection() noexcept { return connection_; }

    [[nodiscard]] verbs::VerbsCompletions &completions() noexcept { return completions_; }

private:
    verbs::VerbsCompletions completions_;
    verbs::ReliableConnection connection_; ///< declared after completions_, on which its work requests complete
    mlx5dv_qp_ex *engine_ = nullptr;       ///< connection_'s queue pair, for mlx5dv_wr_memcpy()
};

/// Posts copies to the DMA engine. A request has one segment on each side, and each request is signaled, so that each
/// completion returns one credit. Owned by a verbs::CopyQueue, and used by its thread.
class OPENDOCA_INTERNAL DmaPoster {
public:
    static constexpr bool parts_are_solicited = false; // copies have no solicited completions: each one raises an event

    /// Requests that share a doorbell. If the driver rejects one, it rejects the whole batch; therefore a request is
    /// only added if it has a credit and is within the length limit.
    struct Batch {
        static constexpr std::uint32_t max_count = 16;

        verbs::CopyPart part;
        std::uint32_t count = 0;

        [[nodiscard]] verbs::CopyPart &next_part() noexcept { return part; }
        [[nodiscard]] bool is_full() const noexcept { return count == max_count; }
    };

    DmaPoster(const verbs::VerbsDevice &device, const CompletionQueue &completions);
    /// Creates and activates the queue pair, whose size the constructor has determined.
    [[nodiscard]] doca_error_t connect();
    /// Resets the queue pair after a failure. Everything that was posted is lost.
    [[nodiscard]] doca_error_t reset_and_reconnect() noexcept;

    [[nodiscard]] verbs::ReliableConnection &connection() noexcept { return queue_pair_.connection(); }
    [[nodiscard]] verbs::VerbsCompletions &completions() noexcept { return queue_pair_.completions(); }
    [[nodiscard]] const verbs::CopyPartLimits &limits() const noexcept { return limits_; }
    [[nodiscard]] bool has_credit() const noexcept { return credits_ != 0; }
    [[gnu::always_inline]] [[nodiscard]] bool take_credit() noexcept
    {
        if (--credits_ >= 0) [[likely]]
            return true;
        credits_ = 0;
        return false;
    }
    void take_all_credits() noexcept { credits_ = 0; }

    template <typename Failed>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t post_fast(std::uint64_t id, const doca_buf &dst,
                                                                const doca_buf &src, Failed failed) noexcept
    {
        ibv_qp_ex &sender = connection().sender();
        ibv_wr_start(&sender);
        queue_pair_.copy(
            id, verbs::verbs_key(dst.mmap->first().number), reinterpret_cast<std::uintptr_t>(dst.data) + dst.data_len,
            verbs::verbs_key(src.mmap->first().number), reinterpret_cast<std::uintptr_t>(src.data), src.data_len);
        if (const int error = ibv_wr_complete(&sender); error != 0) [[unlikely]]
            return failed(sender, error);
        return DOCA_SUCCESS;
    }
    [[nodiscard]] int add(Batch &batch, std::uint64_t id) noexcept;
    [[nodiscard]] int post(Batch &batch) noexcept;

    [[nodiscard]] static bool completes_part(std::uint64_t) noexcept { return true; }
    void handle_completion(std::uint64_t) noexcept { ++credits_; }
    [[nodiscard]] bool complete_fast(bool has_waiting) noexcept
    {
        if (has_waiting) [[unlikely]]
            return false; // CopyQueue then calls handle_completion() for this completion
        ++credits_;
        return true;
    }
    [[nodiscard]] static const char *side_name(std::uint64_t) noexcept { return ""; }

private:
    std::int32_t credits_ = 0; ///< requests that can still be posted
    verbs::CopyPartLimits limits_{};
    DmaQueuePair queue_pair_;
    const Mlx5Device &device_;   ///< must outlive this object
    std::uint32_t num_requests_; ///< the value of credits_ while nothing is posted
    bool has_channel_;           ///< completions can raise events
};

} // namespace opendoca::mlx5
