// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doca_sync_event.h>

#include "../../core/objects/mmap.hpp"
#include "../../core/v3/ctx.hpp"
#include "../sync_event.hpp"

// The types of tasks. Pointers are to memory of the program, which must exist until the task has completed.

/// Reads the counter.
struct doca_sync_event_task_get : doca_task {
    std::uint64_t *value; ///< receives the value of the counter
};

/// Sets the counter to value.
struct doca_sync_event_task_notify_set : doca_task {
    std::uint64_t value;
};

/// Adds value to the counter, modulo 2^64.
struct doca_sync_event_task_notify_add : doca_task {
    std::uint64_t value;
    std::uint64_t *fetched; ///< receives the value before the addition; may be null
};

/// Completes when (counter & mask) == value.
struct doca_sync_event_task_wait_eq : doca_task {
    static constexpr auto condition = opendoca::WaitCondition::equal;
    std::uint64_t value;
    std::uint64_t mask;
};

/// Completes when (counter & mask) != value.
struct doca_sync_event_task_wait_neq : doca_task {
    static constexpr auto condition = opendoca::WaitCondition::not_equal;
    std::uint64_t value;
    std::uint64_t mask;
};

/// Completes when (counter & mask) > value. Only programs of DOCA 2.5 to 2.8 have it: see older.cpp.
struct doca_sync_event_task_wait_gt : doca_task {
    static constexpr auto condition = opendoca::WaitCondition::greater;
    std::uint64_t value;
    std::uint64_t mask;
};

/// Its callback, as the headers of these releases have it.
using doca_sync_event_task_wait_gt_callback = void (*)(doca_sync_event_task_wait_gt *task, doca_data task_user_data,
                                                       doca_data ctx_user_data);

/// The sync event of DOCA 3.0: a SyncEvent that is a context in asynchronous mode. Created and owned by the program.
/// As a context it is used by the thread of its progress engine; in synchronous mode by any thread. It can be started
/// again, and the counter keeps its value.
struct doca_sync_event final : doca_ctx {
    /// Without a device of the context: the event has those of its locations.
    doca_sync_event() : doca_ctx(nullptr) {}
    ~doca_sync_event() override = default;

    // Declared before remote_net_map, so that the counter outlives its memory map.
    opendoca::SyncEvent event;
    std::vector<std::byte> remote_net_export;  ///< descriptor for other nodes; empty until the first export
    std::shared_ptr<doca_mmap> remote_net_map; ///< registers the counter for RDMA; null until the first export

    template <typename Task, typename Callback>
    using Type = opendoca::v3::TaskType<Task, Callback>;
    Type<doca_sync_event_task_get, doca_sync_event_task_get_completion_cb_t> get{*this};
    Type<doca_sync_event_task_notify_set, doca_sync_event_task_notify_set_completion_cb_t> notify_set{*this};
    Type<doca_sync_event_task_notify_add, doca_sync_event_task_notify_add_completion_cb_t> notify_add{*this};
    Type<doca_sync_event_task_wait_eq, doca_sync_event_task_wait_eq_completion_cb_t> wait_eq{*this};
    Type<doca_sync_event_task_wait_neq, doca_sync_event_task_wait_neq_completion_cb_t> wait_neq{*this};
    Type<doca_sync_event_task_wait_gt, doca_sync_event_task_wait_gt_callback> wait_gt{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;

private:
    std::unique_ptr<opendoca::CounterWaits> waits_; ///< source of all tasks; from on_start() to on_idle()
};
