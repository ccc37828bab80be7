// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One side of the RDMA benchmark: connections, memory and the jobs over them. Both generations of the API use memory in
// the same way; the loops are in rdma_loops.hpp, and what they call is in v2/ (jobs) and v3/ (tasks).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "doca_memory.hpp"
#include "pair_case.hpp"
#include "patience.hpp"
#include "poller.hpp"

namespace opendoca::tools {

/// What a side sends to the other one before they connect: opaque descriptors of the library.
struct RdmaDetails {
    std::vector<std::vector<std::byte>> connections; ///< the connection details, one for each connection
    std::vector<std::byte> memory;                   ///< the export descriptor
};

/// Returns the first device that supports RDMA, or the named one. Throws if there is none.
[[nodiscard]] std::string find_rdma_device(const std::string &ibdev);

/// One side of a case in one thread: its device, its memory and its prepared jobs. Each thread of a case has a session
/// of its own, which one thread at a time uses. details() and connect() are called once, in this order; the loops after
/// them. Jobs are built by connect() and submitted again and again, so that loops allocate nothing.
class RdmaSession {
public:
    RdmaSession(const RdmaSession &) = delete;
    RdmaSession &operator=(const RdmaSession &) = delete;
    virtual ~RdmaSession();

    /// Exports the connections and the exposed memory.
    [[nodiscard]] RdmaDetails details();
    /// Connects to the peer with these details and builds the jobs.
    void connect(const RdmaDetails &peer);

    /// Returns the memory that the peer accesses.
    [[nodiscard]] std::byte *exposed() const noexcept { return exposed_.addr(); }
    /// Returns the memory of this side's jobs: sources, followed by as many bytes of destinations.
    [[nodiscard]] std::byte *source() const noexcept { return local_.addr(); }
    [[nodiscard]] std::byte *destination() const noexcept { return local_.addr() + size_; }

    /// The loops. The measuring side and its peer call the two loops of a pair with the same count.
    virtual void run(std::size_t count) = 0; ///< runs jobs with the given depth; for sends the peer receives
    virtual void ping_by_write(std::size_t count) = 0;
    virtual void pong_by_write(std::size_t count) = 0;
    virtual void ping_by_send(std::size_t count) = 0;
    virtual void pong_by_send(std::size_t count) = 0;
    virtual void receive(std::size_t count) = 0;

    /// Posts the receives for ping_by_send, pong_by_send and receive, which keep them posted.
    virtual void post_receives() = 0;

protected:
    RdmaSession(const std::string &ibdev, const PairCase &what);

    /// The functions of the front end. Jobs and receives are numbered from 0; job n belongs to connection n modulo
    /// their number.
    virtual std::vector<std::byte> export_connection(std::uint32_t number) = 0;
    virtual void connect_one(std::uint32_t number, std::span<const std::byte> details) = 0;
    /// For WRITE and READ @p first is the source, for SEND the only buffer, for FETCH_ADD the counter.
    virtual void add_job(std::uint32_t number, doca_buf *first, doca_buf *second) = 0;
    virtual void add_receive(std::uint32_t number, doca_buf *destination) = 0;

    [[nodiscard]] const PairCase &what() const noexcept { return what_; }
    [[nodiscard]] doca_dev *dev() const noexcept { return dev_.get(); }
    /// Returns the jobs of all connections that are in flight at once.
    [[nodiscard]] std::uint32_t num_jobs() const noexcept { return what_.depth * what_.connections; }
    /// Returns the receives of all connections that are posted at once.
    [[nodiscard]] std::uint32_t num_receives() const noexcept;

    /// Releases the buffers. Called by the front end's destructor when no job uses them any more.
    void drop_bufs();
    /// Blocks until @p handle has an event.
    void wait_for_event(int handle);
    /// Waits until the peer has written @p mark behind the exposed bytes.
    void wait_for_mark(std::byte mark) const;

private:
    /// Returns a buffer that drop_bufs() releases.
    [[nodiscard]] doca_buf *take_buf(doca_mmap *map, std::byte *addr, std::size_t size, std::size_t data_len);
    /// Builds jobs and receives. @p remote is the address of the peer's exposed memory.
    void make_jobs(std::byte *remote);

    PairCase what_;
    std::size_t size_; ///< bytes of a message, rounded up to cache lines
    OwnMemory exposed_;
    OwnMemory local_;
    DeviceHandle dev_;
    MmapHandle exposed_map_;
    MmapHandle local_map_;
    MmapHandle remote_map_;
    InventoryHandle inventory_;
    std::vector<doca_buf *> bufs_;
    std::optional<Poller> poller_; ///< created by the first wait
};

/// Creates a session of the generation that this program was built for.
[[nodiscard]] std::unique_ptr<RdmaSession> make_rdma_session(const std::string &ibdev, const PairCase &what);

} // namespace opendoca::tools
