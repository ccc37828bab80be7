// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_rdma.h>

#include "../../common/doca.hpp"

namespace opendoca::tools {

/// Pairs of connected RDMA instances in this process. All left ends share one work queue, and all right ends another
/// one, so both queues have many connections. Owned by the benchmark and used by its only thread; each function leaves
/// nothing in flight but posted receives.
class Crowd {
public:
    /// Makes room for @p max_pairs. @p queue_size is that of each instance in both directions; 0 for the default.
    Crowd(const std::string &ibdev, std::size_t max_pairs, std::uint32_t queue_size);
    Crowd(const Crowd &) = delete;
    Crowd &operator=(const Crowd &) = delete;
    ~Crowd();

    /// Creates and connects a pair. Returns the seconds that it took.
    double add_pair();
    [[nodiscard]] std::size_t num_pairs() const noexcept { return left_.ends.size(); }

    /// Polls @p count times on the right side, where nothing completes.
    void retrieve_nothing(std::size_t count);
    /// Writes 8 B from left to right of pair @p number and retrieves the completion, @p count times.
    void write(std::size_t number, std::size_t count);
    /// Posts a receive at the right end of each pair.
    void post_receives();
    /// Sends a message from left to right of pair @p number, retrieves both completions and reposts the receive, @p
    /// count times.
    void send(std::size_t number, std::size_t count);

private:
    using WorkqHandle = Handle<doca_workq, doca_workq_destroy>;

    /// One instance. The flags record how far its start has come, so that stop() undoes only that.
    struct End {
        Handle<doca_rdma, doca_rdma_destroy> rdma;
        doca_ctx *ctx = nullptr;
        bool is_started = false;
        bool has_workq = false;
    };
    /// All ends on one work queue.
    struct Side {
        WorkqHandle workq;
        std::vector<End> ends;
    };

    /// Creates and starts an instance, and attaches it to the side's work queue.
    void start(Side &side);
    /// Detaches and stops all instances of a side; flushed receives are retrieved and discarded.
    static void stop(Side &side);
    /// Connects one direction of a pair.
    void connect(const End &from, const End &to) const;
    void submit(Side &side, const doca_job &job);
    /// Polls for the completion of one job. Throws if it has failed.
    void wait(Side &side);

    std::uint32_t queue_size_;
    DeviceHandle dev_;
    alignas(64) std::byte memory_[128]{}; ///< a source, and a destination in another cache line
    Handle<doca_mmap, doca_mmap_destroy> map_;
    Handle<doca_mmap, doca_mmap_destroy> remote_;
    Handle<doca_buf_inventory, doca_buf_inventory_destroy> inventory_;
    doca_buf *src_ = nullptr;
    doca_buf *dst_ = nullptr;
    Side left_;
    Side right_;
};

} // namespace opendoca::tools
