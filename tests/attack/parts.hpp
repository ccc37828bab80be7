// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The parts of the walk; each begins and ends with nothing but an open device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "scenario.hpp"

namespace attack {

/// Memory that is mapped for a device.
class Map {
public:
    Map(Walk &walk, doca_dev *dev, std::span<std::byte> bytes, std::uint32_t access);

    [[nodiscard]] bool is_made() const noexcept { return is_made_; }
    operator doca_mmap *() const noexcept { return mmap_; }
    void reset() { mmap_.reset(); }

private:
    Owned<doca_mmap> mmap_;
    bool is_made_ = false;
};

/// Buffers.
class Inventory {
public:
    Inventory(Walk &walk, std::size_t size);

    [[nodiscard]] bool is_made() const noexcept { return is_made_; }
    /// Null when it failed. With all of its bytes as data, or none.
    [[nodiscard]] doca_buf *make(doca_mmap *mmap, std::byte *at, std::size_t len, bool is_full);

private:
    Walk &walk_;
    Owned<doca_buf_inventory> inventory_;
    bool is_made_ = false;
};

/// A work queue on a context that is started with it. Flushes at the end.
class Queue {
public:
    Queue(Walk &walk, doca_ctx *ctx, doca_dev *dev, bool is_event_driven);
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;
    ~Queue();

    [[nodiscard]] bool is_made() const noexcept { return is_made_; }
    operator doca_workq *() const noexcept { return workq_; }
    /// The next event, or TIME_OUT when there is none, which has to be excused.
    /// With @p is_armed, it sleeps first.
    [[nodiscard]] doca_error_t retrieve(doca_event &event, bool is_armed = false);
    /// Of an event-driven one.
    [[nodiscard]] bool arm();
    /// Submits, and retrieves the end: how the job has ended, or was refused.
    [[nodiscard]] doca_error_t run(const doca_job &job);

private:
    Walk &walk_;
    doca_ctx *ctx_;
    Owned<doca_workq> workq_;
    doca_event_handle_t handle_ = -1;
    bool is_event_driven_;
    bool is_device_added_ = false;
    bool is_started_ = false;
    bool is_added_ = false;
    bool is_made_ = false;
};

[[nodiscard]] doca_dma_job_memcpy copy_job(doca_ctx *ctx, doca_buf *dst, doca_buf *src);

void walk_through_devices(Walk &walk);
void walk_through_local_copies(Walk &walk, doca_dev *dev);
void walk_through_exports(Walk &walk, doca_dev *dev);
void walk_through_rdma(Walk &walk, doca_dev *dev, bool is_event_driven);
void walk_through_sync_events(Walk &walk, doca_dev *dev);
/// With @p has_word, the counter is in the program's memory.
void walk_through_ends_of_sync_events(Walk &walk, doca_dev *dev, bool has_word);
void walk_through_comm_channel(Walk &walk, doca_dev *dev, bool by_address);
void walk_through_hashes(Walk &walk, doca_dev *dev);
void walk_through_compression(Walk &walk, doca_dev *dev);
void walk_through_erasure_coding(Walk &walk, doca_dev *dev);
void walk_through_graphs(Walk &walk, doca_dev *dev);
void walk_through_pools(Walk &walk, doca_dev *dev);
void walk_through_arguments(Walk &walk);

} // namespace attack
