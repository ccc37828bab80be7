// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <doca_ctx.h>

#include "../base/guard.hpp"
#include "../base/id.hpp"
#include "../base/weak_address.hpp"
#include "../process/fork.hpp"
#include "job_queue.hpp"

/// The base of every library's object: devices, the states stopped and started, and the work queues that it serves.
/// Owned by the program. Any thread may call it: `lock_` guards the members. A work queue is added and removed by its
/// own thread. Invariant: devices change only while the context is stopped, and it stops only without work queues.
struct OPENDOCA_INTERNAL doca_ctx {
    doca_ctx();
    doca_ctx(const doca_ctx &) = delete;
    doca_ctx &operator=(const doca_ctx &) = delete;

    // Each function returns BAD_STATE, after a log line, in the wrong state; a failed call changes nothing.
    [[nodiscard]] doca_error_t dev_add(doca_dev &dev);
    [[nodiscard]] doca_error_t dev_rm(doca_dev &dev) noexcept;
    [[nodiscard]] doca_error_t start();
    [[nodiscard]] doca_error_t stop() noexcept;
    [[nodiscard]] doca_error_t workq_add(doca_workq &workq);
    /// Returns NOT_PERMITTED while jobs of @p workq are in flight or not retrieved, and flushes them: the program
    /// retrieves and calls again.
    [[nodiscard]] doca_error_t workq_rm(doca_workq &workq) noexcept;
    [[nodiscard]] doca_error_t set_datapath_on_gpu() noexcept;
    /// Returns whether the context's devices can notify a work queue that is blocked.
    [[nodiscard]] bool is_event_driven_supported() const;
    /// Returns IN_USE, after a log line, while a work queue is on the context: its object cannot be destroyed then.
    [[nodiscard]] doca_error_t check_destroyable() const;

    /// Returns the small number by which work queues find their JobQueue; it is unique while the context exists.
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
    // Acquire: pairs with the release store in start(), so that what on_start() has created is visible.
    [[nodiscard]] bool is_started() const noexcept { return is_started_.load(std::memory_order_acquire); }
    /// Returns a pointer to the context that becomes null when the context is destroyed. For graphs, which may outlive
    /// it.
    [[nodiscard]] std::shared_ptr<const doca_ctx *const> share_address() const;
    /// Returns, in @p workq's own thread, whether this is the work queue that is found without a search: see
    /// first_queue(). False for a null @p workq. Relaxed: only that thread changes the member to or from its own work
    /// queue.
    [[nodiscard]] bool serves_first(const doca_workq *workq) const noexcept
    {
        return first_workq_.load(std::memory_order_relaxed) == reinterpret_cast<std::uintptr_t>(workq);
    }
    /// Valid if serves_first().
    [[nodiscard]] opendoca::v2::JobQueue &first_queue() const noexcept { return *first_queue_; }

protected:
    virtual ~doca_ctx();

    /// In the order in which they were added.
    [[nodiscard]] const std::vector<doca_dev *> &devices() const noexcept { return devices_; }

    // Implemented by libraries; called under the context's lock.

    /// Checks whether @p dev, next to @p others, suits the library.
    [[nodiscard]] virtual doca_error_t check_device(const doca_dev &dev,
                                                    const std::vector<doca_dev *> &others) const = 0;
    /// Creates what work queues need. The default checks that there is a device, which most libraries need.
    [[nodiscard]] virtual doca_error_t on_start(const std::vector<doca_dev *> &devices);
    /// Releases what on_start() has created.
    virtual void on_stop() noexcept;
    [[nodiscard]] virtual bool can_be_event_driven(const std::vector<doca_dev *> &devices) const = 0;
    /// Creates the data path for @p workq. Called by the thread of the work queue.
    [[nodiscard]] virtual doca_error_t create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                                    std::unique_ptr<opendoca::v2::JobQueue> &queue) = 0;

private:
    /// A work queue and what the context does for it.
    struct Service {
        doca_workq *workq;
        std::unique_ptr<opendoca::v2::JobQueue> queue;
    };

    static constexpr std::uintptr_t no_workq = 1;       ///< unlike any argument of a program, null included
    std::atomic<std::uintptr_t> first_workq_{no_workq}; ///< the address of one of services_, or no_workq
    opendoca::v2::JobQueue *first_queue_ = nullptr;     ///< valid unless first_workq_ is no_workq
    const opendoca::Id id_;
    std::atomic<bool> is_started_{false};
    const opendoca::CreatorProcess creator_; ///< a forked child cannot wait for jobs of its parent
    mutable opendoca::ObjectMutex lock_;
    std::vector<doca_dev *> devices_; ///< each holds a use of its device
    std::vector<Service> services_;
    mutable opendoca::WeakAddress<const doca_ctx> address_;
};
