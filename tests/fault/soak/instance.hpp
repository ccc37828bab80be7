// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The DOCA objects of a worker, and how they come and go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_rdma.h>

#include "../../../tools/common/doca.hpp"
#include "control.hpp"

namespace soak {

using opendoca::tools::Handle;
using opendoca::tools::must;

/// Something that a test of the library must report.
struct Wrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void expect(bool holds, const std::string &what)
{
    if (!holds)
        throw Wrong(what);
}

/// Anonymous memory, or that of a memfd, which importers can map.
class Memory {
public:
    Memory(std::size_t size, bool is_shareable);
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory();

    [[nodiscard]] std::byte *data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::byte *data_;
    std::size_t size_;
    int fd_ = -1;
};

class Instance {
public:
    Instance(const char *device, bool is_event_driven, bool exposed_is_shareable, bool local_is_shareable,
             std::size_t local_size);
    Instance(const Instance &) = delete;
    Instance &operator=(const Instance &) = delete;
    ~Instance();

    /// Starts the context and adds the work queue; the details for the peer.
    [[nodiscard]] std::span<const std::byte> start();
    /// Takes the peer's details and memory. False when the peer has gone.
    [[nodiscard]] bool connect(std::span<const std::byte> details, std::span<const std::byte> descriptor);
    /// doca_ctx_workq_rm, which is to be called again after what is in flight has been retrieved.
    [[nodiscard]] doca_error_t remove_workq();
    void stop();
    void set_event_driven(bool is_event_driven);
    /// Destroys everything, which has to work.
    void close();

    [[nodiscard]] std::span<const std::byte> descriptor() const noexcept { return descriptor_; }
    [[nodiscard]] doca_rdma_state state() const;
    /// Waits for an event; false when there was none in time.
    [[nodiscard]] bool wait(int milliseconds);
    [[nodiscard]] bool is_event_driven() const noexcept { return is_event_driven_; }
    /// A connection on a network repeats a READ whose answer gets lost, and then reads what later WRITEs have
    /// left there.
    [[nodiscard]] bool may_read_again() const noexcept { return may_read_again_; }

    [[nodiscard]] doca_workq *workq() const noexcept { return workq_.get(); }
    [[nodiscard]] doca_ctx *ctx() const noexcept { return doca_rdma_as_ctx(rdma_.get()); }
    [[nodiscard]] std::byte *local() const noexcept { return local_.data(); }
    [[nodiscard]] Memory &exposed() noexcept { return exposed_; }
    [[nodiscard]] std::byte *remote() const noexcept { return remote_; }

    [[nodiscard]] doca_buf *take_local(std::byte *head, std::size_t len, std::byte *data, std::size_t data_len);
    [[nodiscard]] doca_buf *take_remote(std::size_t offset, std::size_t len, std::size_t data_len);

private:
    [[nodiscard]] Handle<doca_mmap, doca_mmap_destroy> map(const Memory &memory, std::uint32_t rights);
    [[nodiscard]] doca_buf *take(doca_mmap *map, std::byte *head, std::size_t len, std::byte *data,
                                 std::size_t data_len);

    Memory exposed_;
    Memory local_;
    opendoca::tools::DeviceHandle dev_;
    bool may_read_again_;
    Handle<doca_mmap, doca_mmap_destroy> exposed_map_;
    Handle<doca_mmap, doca_mmap_destroy> local_map_;
    Handle<doca_mmap, doca_mmap_destroy> remote_map_;
    Handle<doca_buf_inventory, doca_buf_inventory_destroy> inventory_;
    Handle<doca_rdma, doca_rdma_destroy> rdma_;
    Handle<doca_workq, doca_workq_destroy> workq_;
    std::span<const std::byte> descriptor_;
    std::byte *remote_ = nullptr;
    bool is_event_driven_;
    bool is_started_ = false;
    bool has_workq_ = false;
    int epoll_ = -1;
};

} // namespace soak
