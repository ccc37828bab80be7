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

/// Pairs of connected instances of this process. All left ends share one work queue, and all right ends another one.
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

    struct End {
        Handle<doca_rdma, doca_rdma_destroy> rdma;
        doca_ctx *ctx = nullptr;
        bool is_started = false;
        bool has_workq = false;
    };
    struct Side {
        WorkqHandle workq;
        std::vector<End> ends;
    };

    void start(Side &side);
    static void stop(Side &side);
    void connect(const End &from, const End &to) const;
    void submit(Side &side, const doca_job &job);
    void wait(Side &side);

    std::uint32_t queue_size_;
    DeviceHandle dev_;
    alignas(64) std::byte memory_[128]{};
    Handle<doca_mmap, doca_mmap_destroy> map_;
    Handle<doca_mmap, doca_mmap_destroy> remote_;
    Handle<doca_buf_inventory, doca_buf_inventory_destroy> inventory_;
    doca_buf *src_ = nullptr;
    doca_buf *dst_ = nullptr;
    Side left_;
    Side right_;
};

} // namespace opendoca::tools
