// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One side of the RDMA benchmark: an instance, memory and a work queue, and the loops that run jobs over
// them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_rdma.h>

#include "../common/doca.hpp"
#include "../../src/core/unique_fd.hpp"
#include "rdma_case.hpp"

namespace opendoca::tools {

/// What a side tells the other one.
struct RdmaDetails {
    std::size_t details_size;
    std::byte details[256];
    std::size_t descriptor_size;
    std::byte descriptor[256];
};

/// The first device that does RDMA, or the one of the name. Throws when there is none.
[[nodiscard]] std::string find_rdma_device(const std::string &ibdev);

class RdmaSession {
public:
    RdmaSession(const std::string &ibdev, const RdmaCase &what);
    RdmaSession(const RdmaSession &) = delete;
    RdmaSession &operator=(const RdmaSession &) = delete;
    ~RdmaSession();

    [[nodiscard]] RdmaDetails details() const;
    void connect(const RdmaDetails &peer);

    /// Memory that the peer reaches.
    [[nodiscard]] std::byte *exposed() const noexcept { return exposed_.addr; }
    /// Memory that this side's jobs take from, and behind it as much that they bring to.
    [[nodiscard]] std::byte *source() const noexcept { return local_.addr; }
    [[nodiscard]] std::byte *destination() const noexcept { return local_.addr + size_; }

    /// The loops. The side that measures and its peer call the two of a pair with the same count.
    void run(std::size_t count); ///< jobs, as many in flight as the depth says; with sends the peer receives
    void ping_by_write(std::size_t count);
    void pong_by_write(std::size_t count);
    void ping_by_send(std::size_t count);
    void pong_by_send(std::size_t count);
    void receive(std::size_t count);

    /// Receives for ping_by_send, pong_by_send and receive, which keep them up.
    void post_receives();

private:
    struct Memory {
        Memory(MemoryKind kind, std::size_t size);
        Memory(const Memory &) = delete;
        Memory &operator=(const Memory &) = delete;
        ~Memory();
        std::byte *addr;
        std::size_t size;
        UniqueFd memfd; ///< stays open, so that importers can map the memory
    };
    using MapHandle = Handle<doca_mmap, doca_mmap_destroy>;
    union Job {
        doca_job base;
        doca_rdma_job_recv receive;
        doca_rdma_job_send send;
        doca_rdma_job_read_write read_write;
        doca_rdma_job_atomic atomic;
    };

    [[nodiscard]] MapHandle map(const Memory &memory, std::uint32_t rights) const;
    [[nodiscard]] doca_buf *take_buf(doca_mmap *map, std::byte *addr, std::size_t size, std::size_t data_len);
    void make_jobs();
    void submit(const Job &job);
    /// Waits for the end of a job; its user data.
    std::uint64_t retrieve();
    void wait_for_event();
    void repost(std::uint64_t receive);
    /// Waits until the peer has written @p mark behind the exposed bytes.
    void wait_for_mark(std::byte mark);
    void write_mark(std::byte mark);

    RdmaCase what_;
    std::size_t size_;
    Memory exposed_;
    Memory local_;
    DeviceHandle dev_;
    MapHandle exposed_map_;
    MapHandle local_map_;
    MapHandle remote_map_;
    Handle<doca_buf_inventory, doca_buf_inventory_destroy> inventory_;
    Handle<doca_rdma, doca_rdma_destroy> rdma_;
    Handle<doca_workq, doca_workq_destroy> workq_;
    doca_ctx *ctx_ = nullptr;
    UniqueFd epoll_;
    doca_event_handle_t event_handle_ = -1;
    bool has_workq_ = false;
    std::byte *remote_ = nullptr;
    std::vector<doca_buf *> bufs_;
    std::vector<Job> jobs_;          ///< one for each that may be in flight
    std::vector<doca_buf *> filled_; ///< of each, the buffer that it appends to; null when none
    std::vector<Job> receives_;
    std::uint32_t num_marks_ = 0;
    doca_rdma_result result_{};
};

} // namespace opendoca::tools
