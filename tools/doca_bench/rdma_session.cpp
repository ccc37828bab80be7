// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_session.hpp"

#include <algorithm>
#include <stdexcept>

namespace opendoca::tools {

namespace {

constexpr std::size_t cache_line = 64; ///< bytes, the alignment of all messages

} // namespace

std::string find_rdma_device(const std::string &ibdev)
{
    const DeviceList devices;
    std::string known;
    for (doca_devinfo *const info : devices.infos()) {
        if (!api::can_write(*info))
            continue;
        const std::string name = ibdev_of(*info);
        if (ibdev.empty() || ibdev == name)
            return name;
        known += " " + name;
    }
    throw std::runtime_error(known.empty() ? "no device here can do RDMA"
                                           : "no device '" + ibdev + "' can do RDMA here; these can:" + known);
}

RdmaSession::RdmaSession(const std::string &ibdev, const PairCase &what)
    : what_(what),
      // Rounded up to whole lines, so that sources and destinations do not share one.
      size_((what.size + cache_line - 1) / cache_line * cache_line),
      exposed_(what.memory, size_),
      local_(what.memory, 2 * size_),
      dev_(open_by_name(ibdev)),
      exposed_map_(start_map(dev_.get(), exposed_.bytes(), api::local_rights | api::rdma_rights)),
      local_map_(start_map(dev_.get(), local_.bytes(), api::local_rights)),
      inventory_(start_inventory(2 * num_jobs() + num_receives()))
{
}

RdmaSession::~RdmaSession() = default;

/// Returns twice the depth for each connection: the receiver reposts while the sender's next jobs are in flight, so
/// half of them are always posted.
std::uint32_t RdmaSession::num_receives() const noexcept
{
    return what_.op == PairOp::send ? std::max(2 * what_.depth, 16U) * what_.connections : 0;
}

RdmaDetails RdmaSession::details()
{
    RdmaDetails details;
    for (std::uint32_t i = 0; i < what_.connections; ++i)
        details.connections.push_back(export_connection(i));
    const void *bytes = nullptr;
    std::size_t size = 0;
    must(doca_mmap_export_rdma(exposed_map_.get(), dev_.get(), &bytes, &size), "exporting memory");
    const auto *const first = static_cast<const std::byte *>(bytes);
    details.memory.assign(first, first + size);
    return details;
}

void RdmaSession::connect(const RdmaDetails &peer)
{
    if (peer.connections.size() != what_.connections)
        throw std::runtime_error("the peer has " + std::to_string(peer.connections.size()) + " connections, not " +
                                 std::to_string(what_.connections));
    for (std::uint32_t i = 0; i < what_.connections; ++i)
        connect_one(i, peer.connections[i]);
    doca_mmap *map = nullptr;
    must(doca_mmap_create_from_export(nullptr, peer.memory.data(), peer.memory.size(), dev_.get(), &map),
         "importing memory");
    remote_map_.reset(map);
    // The peer may be another machine: its descriptor is not trusted to be of the agreed size.
    void *remote = nullptr;
    std::size_t remote_size = 0;
    must(doca_mmap_get_memrange(map, &remote, &remote_size), "the range of imported memory");
    if (remote_size < size_)
        throw std::runtime_error("the imported memory is too small");
    make_jobs(static_cast<std::byte *>(remote));
}

doca_buf *RdmaSession::take_buf(doca_mmap *map, std::byte *addr, std::size_t size, std::size_t data_len)
{
    doca_buf *buf = nullptr;
    must(api::take_buf(inventory_.get(), map, addr, size, data_len, &buf), "taking a buffer");
    bufs_.push_back(buf);
    return buf;
}

void RdmaSession::make_jobs(std::byte *remote)
{
    doca_mmap *const local = local_map_.get();
    const std::size_t size = what_.size;
    for (std::uint32_t i = 0; i < num_jobs(); ++i) {
        switch (what_.op) {
        case PairOp::write:
            add_job(i, take_buf(local, source(), size, size), take_buf(remote_map_.get(), remote, size, 0));
            break;
        case PairOp::read:
            add_job(i, take_buf(remote_map_.get(), remote, size, size), take_buf(local, destination(), size, 0));
            break;
        case PairOp::send:
            add_job(i, take_buf(local, source(), size, size), nullptr);
            break;
        case PairOp::fetch_add:
            add_job(i, take_buf(remote_map_.get(), remote, 8, 8), take_buf(local, destination(), 8, 0));
            break;
        }
    }
    for (std::uint32_t i = 0; i < num_receives(); ++i)
        add_receive(i, take_buf(local, destination(), size, 0));
}

void RdmaSession::drop_bufs()
{
    for (doca_buf *const buf : bufs_)
        (void)api::drop_buf(buf, nullptr);
    bufs_.clear();
}

void RdmaSession::wait_for_event(int handle)
{
    if (!poller_)
        poller_.emplace(handle);
    poller_->wait();
}

void RdmaSession::wait_for_mark(std::byte mark) const
{
    // acquire: orders reads of what the peer has written before the mark, which a WRITE has stored.
    const auto *const place = reinterpret_cast<const unsigned char *>(exposed_.addr() + what_.size - 1);
    Patience patience;
    while (__atomic_load_n(place, __ATOMIC_ACQUIRE) != static_cast<unsigned char>(mark))
        patience.try_again();
}

} // namespace opendoca::tools
