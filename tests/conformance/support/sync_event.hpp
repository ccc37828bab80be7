// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events of a test, in this process and in others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <poll.h>

#include <doca_sync_event.h>

#include "child_process.hpp"
#include "device.hpp"
#include "memory.hpp"

namespace doca_test {

using SyncEventHandle = Handle<doca_sync_event, doca_sync_event_destroy>;

constexpr std::uint64_t all_bits = UINT64_MAX;

inline bool has_sync_events(doca_devinfo *info)
{
    return doca_sync_event_job_get_supported(info, DOCA_SYNC_EVENT_JOB_WAIT_GT) == DOCA_SUCCESS;
}

inline bool exports_sync_events(doca_devinfo *info)
{
    return doca_sync_event_get_export_to_dpu_supported(info) == DOCA_SUCCESS;
}

enum class Publisher : std::uint32_t { cpu, dpu };

/// An event, stopped and destroyed at the end.
class Event {
public:
    /// With its counter at @p addr, or if that is null, in memory of the library.
    Event(doca_dev *dev, Publisher publisher, std::uint64_t *addr = nullptr)
    {
        must(doca_sync_event_create(handle_.out()));
        if (publisher == Publisher::cpu) {
            must(doca_sync_event_publisher_add_location_cpu(handle_, dev));
            must(doca_sync_event_subscriber_add_location_dpu(handle_));
        } else {
            must(doca_sync_event_publisher_add_location_dpu(handle_));
            must(doca_sync_event_subscriber_add_location_cpu(handle_, dev));
        }
        if (addr != nullptr)
            must(doca_sync_event_set_addr(handle_, addr));
    }
    /// From an export.
    Event(doca_dev *dev, std::span<const std::uint8_t> blob)
    {
        must(doca_sync_event_create_from_export(dev, blob.data(), blob.size(), handle_.out()));
    }
    Event(Event &&other) = default;
    ~Event() { reset(); }

    Event &start()
    {
        must(doca_sync_event_start(handle_));
        is_synchronous_ = true;
        return *this;
    }
    Event &start_as_ctx()
    {
        ctx_ = doca_sync_event_as_ctx(handle_);
        must(doca_ctx_start(ctx_));
        return *this;
    }
    void reset()
    {
        if (handle_.get() == nullptr)
            return;
        if (is_synchronous_) {
            EXPECT_EQ(doca_sync_event_stop(handle_), DOCA_SUCCESS);
        }
        if (ctx_ != nullptr) {
            EXPECT_EQ(doca_ctx_stop(ctx_), DOCA_SUCCESS);
        }
        handle_.reset();
    }

    operator doca_sync_event *() const { return handle_; }
    [[nodiscard]] doca_ctx *ctx() const { return ctx_; }
    [[nodiscard]] std::span<const std::uint8_t> export_to_dpu(doca_dev *dev) const
    {
        const std::uint8_t *data = nullptr;
        std::size_t size = 0;
        must(doca_sync_event_export_to_dpu(handle_, dev, &data, &size));
        return {data, size};
    }
    [[nodiscard]] std::uint64_t get() const
    {
        std::uint64_t value = 0;
        must(doca_sync_event_get(handle_, &value));
        return value;
    }

private:
    SyncEventHandle handle_;
    doca_ctx *ctx_ = nullptr;
    bool is_synchronous_ = false;
};

/// A work queue, and jobs on events that were started as contexts.
class EventQueue {
public:
    static constexpr int patience = 60'000; ///< milliseconds, after which a signal counts as lost

    explicit EventQueue(std::uint32_t depth = 8, bool is_event_driven = false)
    {
        must(doca_workq_create(depth, workq_.out()));
        if (!is_event_driven)
            return;
        must(doca_workq_set_event_driven_enable(workq_, 1));
        must(doca_workq_get_event_handle(workq_, &fd_));
    }
    EventQueue(const EventQueue &) = delete;
    EventQueue &operator=(const EventQueue &) = delete;
    ~EventQueue()
    {
        for (doca_ctx *const ctx : ctxs_) {
            EXPECT_EQ(doca_ctx_workq_rm(ctx, workq_), DOCA_SUCCESS);
        }
    }

    operator doca_workq *() const { return workq_; }
    void add(const Event &event)
    {
        must(doca_ctx_workq_add(event.ctx(), workq_));
        ctxs_.push_back(event.ctx());
    }
    void remove(const Event &event)
    {
        EXPECT_EQ(doca_ctx_workq_rm(event.ctx(), workq_), DOCA_SUCCESS);
        std::erase(ctxs_, event.ctx());
    }

    [[nodiscard]] doca_error_t submit_wait(const Event &event, std::uint64_t value, std::uint64_t mask = all_bits,
                                           std::uint64_t user_data = 0) const
    {
        const doca_sync_event_job_wait job = {base(event, DOCA_SYNC_EVENT_JOB_WAIT_GT, user_data), value, mask};
        return doca_workq_submit(workq_, &job.base);
    }
    [[nodiscard]] doca_error_t submit_get(const Event &event, std::uint64_t *value) const
    {
        const doca_sync_event_job_get job = {base(event, DOCA_SYNC_EVENT_JOB_GET, 0), value};
        return doca_workq_submit(workq_, &job.base);
    }
    [[nodiscard]] doca_error_t submit_set(const Event &event, std::uint64_t value) const
    {
        const doca_sync_event_job_update_set job = {base(event, DOCA_SYNC_EVENT_JOB_UPDATE_SET, 0), value};
        return doca_workq_submit(workq_, &job.base);
    }
    [[nodiscard]] doca_error_t submit_add(const Event &event, std::uint64_t value, std::uint64_t *fetched) const
    {
        const doca_sync_event_job_update_add job = {base(event, DOCA_SYNC_EVENT_JOB_UPDATE_ADD, 0), value, fetched};
        return doca_workq_submit(workq_, &job.base);
    }

    [[nodiscard]] doca_error_t retrieve(doca_event &event) const
    {
        return doca_workq_progress_retrieve(workq_, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    }
    [[nodiscard]] bool has_nothing() const
    {
        doca_event event{};
        return retrieve(event) == DOCA_ERROR_AGAIN;
    }
    /// The next event, by polling.
    [[nodiscard]] doca_event poll() const
    {
        doca_event event{};
        while (retrieve(event) == DOCA_ERROR_AGAIN)
            sched_yield();
        return event;
    }

    void arm() const { must(doca_workq_event_handle_arm(workq_)); }
    void clear() const { must(doca_workq_event_handle_clear(workq_, fd_)); }
    [[nodiscard]] bool is_signalled(int timeout = 0) const
    {
        pollfd handle = {.fd = fd_, .events = POLLIN, .revents = 0};
        return ::poll(&handle, 1, timeout) == 1;
    }
    /// The next event, by sleeping; nothing when none comes in time.
    [[nodiscard]] std::optional<doca_event> sleep() const
    {
        doca_event event{};
        for (;;) {
            if (retrieve(event) != DOCA_ERROR_AGAIN)
                return event;
            arm();
            if (!is_signalled(patience))
                return std::nullopt;
            clear();
        }
    }
    /// How the next job, for which this sleeps, has ended.
    [[nodiscard]] doca_error_t sleep_for_result() const
    {
        const auto event = sleep();
        return event ? static_cast<doca_error_t>(event->result.u64) : DOCA_ERROR_TIME_OUT;
    }

private:
    [[nodiscard]] static doca_job base(const Event &event, int type, std::uint64_t user_data)
    {
        return {.type = type, .flags = DOCA_JOB_FLAGS_NONE, .ctx = event.ctx(), .user_data = {.u64 = user_data}};
    }

    WorkqHandle workq_;
    doca_event_handle_t fd_ = -1;
    std::vector<doca_ctx *> ctxs_;
};

/// A process with a handle of an event, and what it is told to do with it.
class RemoteEvent {
public:
    enum class Order : std::uint32_t {
        get,
        set,
        add,
        wait,
        wait_yield,
        sleep,
        storm,
        fill_queues,
        fill_handles,
        starve,          ///< takes all descriptors that the process can have
        starve_for_good, ///< the same, and none can be opened in place of one that is closed
        destroy
    };

    struct Reply {
        doca_error_t status = DOCA_SUCCESS;
        std::uint64_t value = 0;
    };

    /// Its own event: of @p kind of memory, or of the library's.
    RemoteEvent(const DeviceParam &device, Publisher publisher, std::optional<MemoryKind> kind = std::nullopt);
    /// A handle of another process's.
    RemoteEvent(const DeviceParam &device, std::span<const std::uint8_t> blob);

    [[nodiscard]] ChildProcess &process() { return process_; }
    [[nodiscard]] std::span<const std::uint8_t> blob() const { return blob_; }

    /// To be followed by finish(), unless it never ends.
    void begin(Order order, std::uint64_t value = 0, std::uint64_t mask = all_bits);
    [[nodiscard]] Reply finish() { return process_.channel().receive<Reply>(); }
    Reply run(Order order, std::uint64_t value = 0, std::uint64_t mask = all_bits)
    {
        begin(order, value, mask);
        return finish();
    }
    /// Returns when the process has ended.
    void kill();

private:
    void send_setup(const DeviceParam &device, Publisher publisher, std::optional<MemoryKind> kind);

    ChildProcess process_{"sync_event"};
    std::vector<std::uint8_t> blob_;
};

} // namespace doca_test
