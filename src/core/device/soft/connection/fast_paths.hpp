// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "message_sender.hpp"
#include "one_sided.hpp"
#include "resolved_key.hpp"
#include "send_queue.hpp"

namespace opendoca::soft {

/// post() of a SoftQueuePair, of which it is a base: carries out an operation within its submit on the shortest path,
/// if nothing is queued before it and it needs no action of the peer. All else is left to post_any(), which also logs
/// the reasons of failures. Used by the thread of the work queue.
///
/// Each path is a function of its own so that it saves only the registers that it needs. What it calls last is not
/// inlined, for the same reason.
class OPENDOCA_INTERNAL FastPaths : public MessageSender {
public:
    [[nodiscard]] doca_error_t post(Tag tag, const Request &request) noexcept override;

protected:
    FastPaths(const SoftDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state);

    /// Executes the request now, or queues it if it would have to wait or would overtake a queued one.
    [[nodiscard]] virtual doca_error_t post_any(Tag tag, const Request &request) noexcept = 0;
    /// Completes an operation within its submit. A failed operation ends the connection.
    void complete_now(Tag tag, doca_error_t status, std::uint32_t length) noexcept;
    /// Releases what refers to hazard pointers of the queue's thread.
    void forget_keys() noexcept { resolved_keys_ = {}; }

    SendQueue sends_;

private:
    /// An entry of the table of post().
    template <doca_error_t (FastPaths::*function)(Tag, const Request &) noexcept>
    static doca_error_t post_by(FastPaths &self, Tag tag, const Request &request) noexcept
    {
        return (self.*function)(tag, request);
    }
    [[nodiscard]] doca_error_t post_message(Tag tag, const Request &request) noexcept;
    /// A READ or WRITE of a word; of any other length by post_longer().
    template <Opcode opcode>
    [[nodiscard]] doca_error_t post_word(Tag tag, const Request &request) noexcept;
    template <Opcode opcode>
    [[gnu::noinline]] [[nodiscard]] doca_error_t post_longer(Tag tag, const Request &request) noexcept;
    template <Opcode opcode, Transfer transfer>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t post_single(Tag tag, const Request &request) noexcept;
    [[nodiscard]] doca_error_t post_atomic(Tag tag, const Request &request) noexcept;
    /// Resolves the remote key of @p request for the next operation with it, unless that was done, and posts the
    /// operation by post_any().
    [[gnu::noinline]] [[nodiscard]] doca_error_t post_one_sided(Tag tag, const Request &request) noexcept;
    /// Completes an operation that a fast path has carried out.
    [[gnu::always_inline]] [[nodiscard]] doca_error_t succeed_now(Tag tag, std::uint32_t length = 0) noexcept
    {
        completions_->done_unarmed(tag, *this, DOCA_SUCCESS, length);
        return completions_->is_waiting() ? wake_queue() : DOCA_SUCCESS;
    }
    // Slow parts of the fast paths, which are tail calls.
    [[gnu::cold, gnu::noinline]] [[nodiscard]] doca_error_t wake_queue() noexcept;
    [[gnu::cold, gnu::noinline]] [[nodiscard]] doca_error_t finish_revoked(Tag tag, const Request &request,
                                                                           ResolvedKey::Export found) noexcept;
    [[gnu::cold, gnu::noinline]] [[nodiscard]] doca_error_t
    finish_revoked_or_busy(Tag tag, const Request &request, ResolvedKey::Export found, bool is_done) noexcept;
    /// Completes the operation of which a fast path has @p found this.
    [[gnu::always_inline]] [[nodiscard]] doca_error_t finish(Tag tag, const Request &request, ResolvedKey::Export found,
                                                             std::uint32_t length = 0) noexcept
    {
        return found == ResolvedKey::Export::live ? succeed_now(tag, length) : finish_revoked(tag, request, found);
    }
    /// Returns whether an operation can be carried out now, and completed in its submit.
    [[nodiscard]] bool can_complete_now() const noexcept { return sends_.is_empty() && !completions_->is_full(); }
    /// Returns whether a fast path may carry out @p request with the resolved @p key: nothing is queued before, there
    /// is a credit, the peer is connected, and it grants @p right.
    [[gnu::always_inline]] [[nodiscard]] bool can_access_now(const ResolvedKey &key, const Request &request,
                                                             std::uint32_t right) const noexcept
    {
        return key.is_of(request.remote_key->number) && key.permits(right) && can_complete_now() &&
               is_peer_certainly_connected();
    }
    [[nodiscard]] ResolvedKey &resolved(const Request &request) noexcept
    {
        return resolved_keys_[request.remote_key->number % num_resolved_keys];
    }

    static constexpr std::size_t num_resolved_keys = 4;

    /// Remote keys that were used last, by their numbers. Emptied when the queue pair is detached.
    std::array<ResolvedKey, num_resolved_keys> resolved_keys_;
};

} // namespace opendoca::soft
