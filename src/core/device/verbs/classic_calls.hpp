// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Adapters that provide the extended calls (ibv_start_poll(), ibv_wr_start() and so on) on devices with a driver that
// has only the classic ones (ibv_poll_cq(), ibv_post_send()). The extended calls are function pointers in the queue's
// structure, so the rest of the provider uses the same code for both kinds of drivers.
#pragma once

#include <cstdint>

#include <infiniband/verbs.h>

namespace opendoca::verbs {

/// A completion queue of ibv_create_cq() that can be polled by the extended calls, one completion at a time. Owned by
/// the VerbsCompletions that owns the queue, and used by the thread that polls that queue.
class ClassicCompletions final : private ibv_cq_ex {
public:
    explicit ClassicCompletions(ibv_cq &queue) noexcept;
    ClassicCompletions(const ClassicCompletions &) = delete;
    ClassicCompletions &operator=(const ClassicCompletions &) = delete;

    /// Returns the adapter. Only the functions that opendoca calls are set.
    [[nodiscard]] ibv_cq_ex &extended() noexcept { return *this; }

private:
    [[nodiscard]] static ClassicCompletions &of(ibv_cq_ex *extended) noexcept
    {
        return *static_cast<ClassicCompletions *>(extended);
    }
    [[nodiscard]] int poll() noexcept;

    ibv_cq &queue_;
    ibv_wc completion_{}; ///< the completion that the last successful poll has returned
};

/// A queue pair of ibv_create_qp() to which work requests can be posted by the extended calls, one request with one
/// segment at a time. Owned by the ReliableConnection that owns the queue pair, and used by the thread that posts to
/// it.
class ClassicSender final : private ibv_qp_ex {
public:
    explicit ClassicSender(ibv_qp &queue_pair) noexcept;
    ClassicSender(const ClassicSender &) = delete;
    ClassicSender &operator=(const ClassicSender &) = delete;

    /// Returns the adapter. Only the functions that opendoca calls are set.
    [[nodiscard]] ibv_qp_ex &extended() noexcept { return *this; }

private:
    [[nodiscard]] static ClassicSender &of(ibv_qp_ex *extended) noexcept
    {
        return *static_cast<ClassicSender *>(extended);
    }
    void set_remote(ibv_wr_opcode opcode, std::uint64_t address, std::uint32_t key) noexcept;
    [[nodiscard]] int post() noexcept;

    ibv_qp &queue_pair_;
    ibv_send_wr request_{}; ///< the request between ibv_wr_start() and ibv_wr_complete()
    ibv_sge segment_{};     ///< its only segment, or its inline data
};

} // namespace opendoca::verbs
