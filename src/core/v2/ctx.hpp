// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <doca_ctx.h>

#include "../fork.hpp"
#include "../guard.hpp"
#include "../id.hpp"
#include "../weak_address.hpp"
#include "job_queue.hpp"

/// The base of every library's object: devices, start and stop, and the work queues that it serves.
/// Thread-safe; each work queue is added and removed by the thread it belongs to.
struct OPENDOCA_INTERNAL doca_ctx {
    doca_ctx();
    doca_ctx(const doca_ctx &) = delete;
    doca_ctx &operator=(const doca_ctx &) = delete;

    [[nodiscard]] doca_error_t dev_add(doca_dev &dev);
    [[nodiscard]] doca_error_t dev_rm(doca_dev &dev) noexcept;
    [[nodiscard]] doca_error_t start();
    [[nodiscard]] doca_error_t stop() noexcept;
    [[nodiscard]] doca_error_t workq_add(doca_workq &workq);
    [[nodiscard]] doca_error_t workq_rm(doca_workq &workq) noexcept;
    [[nodiscard]] doca_error_t set_datapath_on_gpu() noexcept;
    [[nodiscard]] bool is_event_driven_supported() const;
    /// IN_USE while a work queue is on the context: its object can't be destroyed then.
    [[nodiscard]] doca_error_t check_destroyable() const;

    /// Work queues find their data path by it.
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
    [[nodiscard]] bool is_started() const noexcept { return is_started_.load(std::memory_order_acquire); }
    /// Where the context is, for graphs, which may outlive it.
    [[nodiscard]] std::shared_ptr<const doca_ctx *const> share_address() const;
    /// Returns, to @p workq's own thread, whether it is the work queue with the data path that is found without a
    /// search: first_queue(). Only a work queue's thread makes it that one, and lets it be that no more.
    [[nodiscard]] bool serves_first(const doca_workq *workq) const noexcept
    {
        return first_workq_.load(std::memory_order_relaxed) == workq;
    }
    [[nodiscard]] opendoca::v2::JobQueue &first_queue() const noexcept { return *first_queue_; }

protected:
    virtual ~doca_ctx();

    /// In the order in which they were added. Changes only before start.
    [[nodiscard]] const std::vector<doca_dev *> &devices() const noexcept { return devices_; }

    // Implemented by libraries; called under the context's lock.

    /// Whether @p dev, next to @p others, suits the library.
    [[nodiscard]] virtual doca_error_t check_device(const doca_dev &dev,
                                                    const std::vector<doca_dev *> &others) const = 0;
    /// Most libraries need a device, which is what this one checks.
    [[nodiscard]] virtual doca_error_t on_start(const std::vector<doca_dev *> &devices);
    virtual void on_stop() noexcept;
    [[nodiscard]] virtual bool can_be_event_driven(const std::vector<doca_dev *> &devices) const = 0;
    [[nodiscard]] virtual doca_error_t create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                                    std::unique_ptr<opendoca::v2::JobQueue> &queue) = 0;

private:
    struct Service {
        doca_workq *workq;
        std::unique_ptr<opendoca::v2::JobQueue> queue;
    };

    std::atomic<doca_workq *> first_workq_{nullptr}; ///< one of services_, or null
    opendoca::v2::JobQueue *first_queue_ = nullptr;  ///< valid while that is not null
    const opendoca::Id id_;
    std::atomic<bool> is_started_{false};
    const opendoca::HomeProcess home_;
    mutable opendoca::ObjectMutex lock_;
    std::vector<doca_dev *> devices_;
    std::vector<Service> services_;
    mutable opendoca::WeakAddress<const doca_ctx> address_;
};
