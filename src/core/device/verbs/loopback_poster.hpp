// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "../../objects/mmap.hpp"
#include "copy_part.hpp"
#include "device.hpp"
#include "reliable_connection.hpp"

namespace opendoca {
class CompletionQueue;
}

namespace opendoca::verbs {

/// Copies by messages of a queue pair to itself. The send gathers the source, and the receive that was posted before it
/// scatters the data into the destination. Both sides may thus be lists, and memory needs no remote access rights.
/// Owned by a CopyQueue, and used by its thread. Receives are posted in the order of the sends, so the n-th message
/// always meets the n-th receive.
class OPENDOCA_INTERNAL LoopbackPoster {
public:
    static constexpr std::uint32_t max_batch_sends = 16; ///< sends per doorbell
    static constexpr bool parts_are_solicited = true;

    /// Sends that share a doorbell. Posted by ibv_post_send(), since with rdma_rxe (rdma-core 44) ibv_wr_set_sge_list()
    /// takes the length of the first segment for all segments.
    struct Batch {
        CopyPart parts[max_batch_sends];
        ibv_send_wr requests[max_batch_sends];
        std::uint32_t count = 0;

        [[nodiscard]] CopyPart &next_part() noexcept { return parts[count]; }
        [[nodiscard]] bool is_full() const noexcept { return count == max_batch_sends; }
    };

    LoopbackPoster(const VerbsDevice &device, const CompletionQueue &completions);
    [[nodiscard]] doca_error_t connect();
    /// Resets the queue pair after a failure. Everything that was posted is lost.
    [[nodiscard]] doca_error_t reset_and_reconnect() noexcept;

    [[nodiscard]] ReliableConnection &connection() noexcept { return connection_; }
    [[nodiscard]] VerbsCompletions &completions() noexcept { return completions_; }
    [[nodiscard]] const CopyPartLimits &limits() const noexcept { return limits_; }
    [[nodiscard]] bool has_credit() const noexcept { return send_credits_ != 0; }
    [[gnu::always_inline]] [[nodiscard]] bool take_credit() noexcept
    {
        // Decrements first, in memory: this avoids a separate load of the counter.
        if (--send_credits_ >= 0) [[likely]]
            return true;
        send_credits_ = 0;
        return false;
    }
    void take_all_credits() noexcept { send_credits_ = 0; }

    /// Reads operands again after calls where that is as fast as keeping them: a value kept across a call occupies a
    /// register that has to be saved.
    template <typename Failed>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t post_fast(std::uint64_t id, const doca_buf &dst,
                                                                const doca_buf &src, Failed failed) noexcept
    {
        if (src.data_len <= longest_inline_) // rdma_rxe requires the flag when the request is started
            return post_fast(id, dst, src, IBV_SEND_INLINE, failed, [](ibv_qp_ex *sender, const doca_buf &from) {
                ibv_wr_set_inline_data(sender, from.data, from.data_len);
            });
        return post_fast(id, dst, src, 0, failed, [](ibv_qp_ex *sender, const doca_buf &from) {
            ibv_wr_set_sge(sender, verbs_key(from.mmap->first().number), reinterpret_cast<std::uintptr_t>(from.data),
                           static_cast<std::uint32_t>(from.data_len));
        });
    }
    [[nodiscard]] int add(Batch &batch, std::uint64_t id) noexcept;
    [[nodiscard]] int post(Batch &batch) noexcept;

    /// Returns whether a completion is that of a receive, by which the data has arrived. That of a send only returns
    /// credits.
    [[nodiscard]] static bool completes_part(std::uint64_t id) noexcept { return (id & is_send) == 0; }
    void handle_completion(std::uint64_t id) noexcept
    {
        if (!completes_part(id)) // all receives up to its own have completed, or almost, see spare_receives
            send_credits_ += static_cast<std::int32_t>(signal_period_);
    }
    [[nodiscard]] static bool complete_fast(bool) noexcept { return true; }
    [[nodiscard]] static const char *side_name(std::uint64_t id) noexcept
    {
        return (id & is_send) == 0 ? " at the destination" : " at the source";
    }

private:
    static constexpr std::uint64_t is_send = 1; ///< bit of an id: set for the send of a message, not for its receive

    template <typename Failed, typename SetData>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t post_fast(std::uint64_t id, const doca_buf &dst,
                                                                const doca_buf &src, unsigned flags, Failed failed,
                                                                SetData set_data) noexcept
    {
        ibv_qp_ex *const sender = sender_;
        ibv_sge to = {reinterpret_cast<std::uintptr_t>(dst.data) + dst.data_len,
                      static_cast<std::uint32_t>(src.data_len), verbs_key(dst.mmap->first().number)};
        sender->wr_id = id | is_send;
        sender->wr_flags = flags | signal_flags();
        // The receive first: a message without a posted receive would be retried after a delay (RNR).
        if (const int error = post_receive(id, &to, 1); error != 0) [[unlikely]]
            return failed(*sender, error);
        ibv_wr_start(sender);
        ibv_wr_send(sender);
        set_data(sender, src);
        if (const int error = ibv_wr_complete(sender); error != 0) [[unlikely]]
            return failed(*sender, error);
        return DOCA_SUCCESS;
    }
    [[gnu::always_inline]] [[nodiscard]] int post_receive(std::uint64_t id, ibv_sge *segments,
                                                          std::uint32_t count) noexcept
    {
        ibv_recv_wr request;
        request.wr_id = id;
        request.next = nullptr;
        request.sg_list = segments;
        request.num_sge = static_cast<int>(count);
        ibv_recv_wr *bad;
        return ibv_post_recv(queue_pair_, &request, &bad);
    }
    /// Returns the flags of the message that is being posted; every signal_period_-th one is signaled.
    [[gnu::always_inline]] [[nodiscard]] unsigned signal_flags() noexcept
    {
        if (--until_signal_ != 0) [[likely]]
            return send_flags_;
        until_signal_ = signal_period_;
        return send_flags_ | IBV_SEND_SIGNALED;
    }

    ibv_qp_ex *sender_ = nullptr; // for the extended calls
    ibv_qp *queue_pair_ = nullptr;
    std::size_t longest_inline_ = 0; ///< bytes
    /// Messages that can be posted. Receives need no credits of their own: each is complete by the time its message
    /// returns the credit.
    std::int32_t send_credits_ = 0;
    /// Messages until the next signaled one. Its completion returns signal_period_ credits.
    std::uint32_t until_signal_ = 0;
    std::uint32_t signal_period_ = 1; ///< every n-th send is signaled
    const unsigned send_flags_;       ///< IBV_SEND_SOLICITED in event-driven mode: only receives then raise events
    CopyPartLimits limits_;
    VerbsCompletions completions_;
    ReliableConnection connection_;
    const VerbsDevice &device_;
    std::uint32_t num_messages_ = 0; ///< the value of send_credits_ while nothing is posted
};

} // namespace opendoca::verbs
