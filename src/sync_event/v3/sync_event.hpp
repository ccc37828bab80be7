// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doca_sync_event.h>

#include "../../core/mmap.hpp"
#include "../../core/v3/ctx.hpp"
#include "../sync_event.hpp"

// The types of tasks.

struct doca_sync_event_task_get : doca_task {
    std::uint64_t *value; ///< where it goes
};

struct doca_sync_event_task_notify_set : doca_task {
    std::uint64_t value;
};

struct doca_sync_event_task_notify_add : doca_task {
    std::uint64_t value;
    std::uint64_t *fetched; ///< where the old value goes, or null
};

struct doca_sync_event_task_wait_eq : doca_task {
    static constexpr auto condition = opendoca::WaitCondition::equal;
    std::uint64_t value;
    std::uint64_t mask;
};

struct doca_sync_event_task_wait_neq : doca_task {
    static constexpr auto condition = opendoca::WaitCondition::not_equal;
    std::uint64_t value;
    std::uint64_t mask;
};

/// A handle of a sync event, which in asynchronous mode is a context.
struct doca_sync_event final : doca_ctx {
    doca_sync_event() : doca_ctx(nullptr) {}
    ~doca_sync_event() override = default;

    opendoca::SyncEvent event;
    std::vector<std::byte> remote_net_export;  ///< empty until there is one
    std::shared_ptr<doca_mmap> remote_net_map; ///< by which other nodes reach the counter; null until then

    template <typename Task, typename Callback>
    using Type = opendoca::v3::TaskType<Task, Callback>;
    Type<doca_sync_event_task_get, doca_sync_event_task_get_completion_cb_t> get{*this};
    Type<doca_sync_event_task_notify_set, doca_sync_event_task_notify_set_completion_cb_t> notify_set{*this};
    Type<doca_sync_event_task_notify_add, doca_sync_event_task_notify_add_completion_cb_t> notify_add{*this};
    Type<doca_sync_event_task_wait_eq, doca_sync_event_task_wait_eq_completion_cb_t> wait_eq{*this};
    Type<doca_sync_event_task_wait_neq, doca_sync_event_task_wait_neq_completion_cb_t> wait_neq{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override;

private:
    std::unique_ptr<opendoca::CounterWaits> waits_;
};
