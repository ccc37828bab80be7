// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "fast_paths.hpp"

#include <iterator>

namespace opendoca::soft {

FastPaths::FastPaths(const SoftDevice &device, const QueuePairSettings &settings, std::atomic<ConnectionState> &state)
    : MessageSender(device, settings, state),
      sends_(settings.send_queue_size)
{
}

/// Dispatches by a table, with the same cost for each opcode.
doca_error_t FastPaths::post(Tag tag, const Request &request) noexcept
{
    static constexpr doca_error_t (*functions[])(FastPaths &, Tag, const Request &) noexcept = {
        post_by<&FastPaths::post_message>,
        post_by<&FastPaths::post_message>,
        post_by<&FastPaths::post_word<Opcode::write>>,
        post_by<&FastPaths::post_any>,
        post_by<&FastPaths::post_word<Opcode::read>>,
        post_by<&FastPaths::post_atomic>,
        post_by<&FastPaths::post_atomic>,
    };
    static_assert(Opcode::send == Opcode(0) && Opcode::send_with_immediate == Opcode(1) && Opcode::write == Opcode(2) &&
                  Opcode::write_with_immediate == Opcode(3) && Opcode::read == Opcode(4) &&
                  Opcode::compare_and_swap == Opcode(5) && Opcode::fetch_and_add == Opcode(6) &&
                  std::size(functions) == 7);
    return functions[static_cast<std::size_t>(request.opcode)](*this, tag, request);
}

doca_error_t FastPaths::post_message(Tag tag, const Request &request) noexcept
{
    // Fast path: a short message from one buffer, with credit for a receive that is long enough.
    const TransferPlan plan = request.plan;
    if (plan.length <= cell_capacity && !plan.is_list && can_complete_now() && is_peer_certainly_connected() &&
        has_credit_for(plan.length)) [[likely]] {
        const doca_error_t status = send_now(request);
        if (status == DOCA_SUCCESS) [[likely]]
            return succeed_now(tag);
        complete_now(tag, status, 0);
        return DOCA_SUCCESS;
    }
    return post_any(tag, request);
}

// One-sided operations: two single buffers, memory that is mapped into this process, and nothing queued before.

template <Opcode opcode>
doca_error_t FastPaths::post_word(Tag tag, const Request &request) noexcept
{
    const TransferPlan plan = request.plan;
    if (plan.length != word_size || plan.is_list) [[unlikely]]
        return post_longer<opcode>(tag, request);
    return post_single<opcode, Transfer::word>(tag, request);
}

template <Opcode opcode>
doca_error_t FastPaths::post_longer(Tag tag, const Request &request) noexcept
{
    const TransferPlan plan = request.plan;
    if (plan.is_list || plan.length - 1 >= largest_at_once) // no bytes: the difference wraps around
        return post_any(tag, request);
    return post_single<opcode, Transfer::any>(tag, request);
}

template <Opcode opcode, Transfer transfer>
[[gnu::always_inline]] inline doca_error_t FastPaths::post_single(Tag tag, const Request &request) noexcept
{
    constexpr bool is_read = opcode == Opcode::read;
    const ResolvedKey &key = resolved(request);
    if (!can_access_now(key, request, is_read ? Access::rdma_read : Access::rdma_write)) [[unlikely]]
        return post_one_sided(tag, request);
    if constexpr (is_read)
        return finish(tag, request, read_at_once<transfer>(key, request),
                      transfer == Transfer::word ? word_size : request.plan.length);
    else
        return finish(tag, request, write_at_once<transfer>(key, request));
}

doca_error_t FastPaths::post_atomic(Tag tag, const Request &request) noexcept
{
    const ResolvedKey &key = resolved(request);
    if (!can_access_now(key, request, Access::rdma_atomic)) [[unlikely]]
        return post_one_sided(tag, request);
    bool is_done = false;
    const ResolvedKey::Export found = modify_at_once(*this, key, request, is_done);
    if (found == ResolvedKey::Export::live && is_done) [[likely]]
        return succeed_now(tag);
    return finish_revoked_or_busy(tag, request, found, is_done);
}

doca_error_t FastPaths::post_one_sided(Tag tag, const Request &request) noexcept
{
    if (ResolvedKey &key = resolved(request); !key.is_of(request.remote_key->number))
        key = resolve(*this, *request.remote_key);
    return post_any(tag, request);
}

/// For an export that was revoked while or before it was accessed. After the access the operation has succeeded.
doca_error_t FastPaths::finish_revoked(Tag tag, const Request &request, ResolvedKey::Export found) noexcept
{
    resolved(request).wake_revoker();
    if (found == ResolvedKey::Export::revoked)
        return post_any(tag, request);
    return succeed_now(tag, request.opcode == Opcode::read ? request.plan.length : 0);
}

/// For an atomic: also if the lock of the memory's owner was not free. post_any() then waits for it.
doca_error_t FastPaths::finish_revoked_or_busy(Tag tag, const Request &request, ResolvedKey::Export found,
                                               bool is_done) noexcept
{
    if (found == ResolvedKey::Export::live)
        return post_any(tag, request);
    return finish_revoked(tag, request, is_done ? found : ResolvedKey::Export::revoked);
}

doca_error_t FastPaths::wake_queue() noexcept
{
    completions_->wake();
    return DOCA_SUCCESS;
}

void FastPaths::complete_now(Tag tag, doca_error_t status, std::uint32_t length) noexcept
{
    completions_->done(tag, *this, status, length);
    if (status != DOCA_SUCCESS) [[unlikely]]
        fail();
}

} // namespace opendoca::soft
