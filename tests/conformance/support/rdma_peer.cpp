// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_peer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <poll.h>

namespace doca_test {

namespace {

using Action = RdmaOrder::Action;

RdmaEnded only(doca_error_t status)
{
    RdmaEnded ended = {};
    ended.status = status;
    return ended;
}

/// The process, from inside.
class Peer {
public:
    explicit Peer(const RdmaPeerRequest &request)
        : dev_(open_device(request.device)),
          memory_(request.kind, request.size),
          inventory_(256),
          end_(dev_, request.rdma)
    {
        fill(memory_.bytes(), request.seed);
        must(doca_mmap_create(nullptr, map_.out()));
        must(doca_mmap_dev_add(map_, dev_));
        must(doca_mmap_set_memrange(map_, memory_.data(), memory_.size()));
        must(doca_mmap_set_permissions(map_, request.access));
        must(doca_mmap_start(map_));
    }

    [[nodiscard]] RdmaPeerReply present() const
    {
        RdmaPeerReply reply = {};
        reply.addr = memory_.data();
        const std::vector<std::byte> details = end_.details();
        const std::vector<std::byte> descriptor = export_rdma(map_, dev_);
        must_hold(details.size() <= sizeof(reply.details), "the details fit");
        must_hold(descriptor.size() <= sizeof(reply.descriptor), "the descriptor fits");
        reply.details_size = details.size();
        reply.descriptor_size = descriptor.size();
        std::ranges::copy(details, reply.details);
        std::ranges::copy(descriptor, reply.descriptor);
        return reply;
    }

    void carry_out(const RdmaOrder &order, Channel &parent)
    {
        const auto offset = order.offset;
        const std::vector<std::byte> blob = to_vector(order.blob, order.blob_size);
        switch (order.action) {
        case Action::connect:
            return parent.send(only(end_.connect(blob)));
        case Action::receive:
            return parent.send(only(keep(inventory_.empty(map_, memory_.data() + offset, order.length), true)));
        case Action::send:
            return parent.send(only(keep(inventory_.full(map_, memory_.data() + offset, order.length), false)));
        case Action::retrieve:
            return parent.send(forget(end_.wait()));
        case Action::wait_for_event:
            return wait_for_event(parent);
        case Action::fill:
            fill(memory_.bytes(), order.seed);
            return parent.send(only(DOCA_SUCCESS));
        case Action::compare:
            return parent.send(only(is_filled(memory_.bytes().subspan(offset, order.length), order.seed)
                                        ? DOCA_SUCCESS
                                        : DOCA_ERROR_UNEXPECTED));
        case Action::add_often:
            return parent.send(only(add_often(order, blob)));
        case Action::restart:
            end_.stop();
            end_.start();
            return parent.send(present());
        case Action::stop:
            end_.stop();
            return parent.send(only(DOCA_SUCCESS));
        case Action::stop_map:
            buffers_.clear();
            return parent.send(only(doca_mmap_stop(map_)));
        case Action::export_map:
            must(doca_mmap_start(map_));
            return parent.send(present());
        }
    }

private:
    /// Submits, and keeps the buffer until its job has been retrieved.
    [[nodiscard]] doca_error_t keep(BufHandle buf, bool receives)
    {
        const std::uint64_t number = next_++;
        const doca_error_t status = receives ? end_.receive(buf, number) : end_.send(buf, {}, number);
        if (status == DOCA_SUCCESS)
            buffers_[number] = std::move(buf);
        return status;
    }
    [[nodiscard]] RdmaEnded forget(const RdmaEnded &ended)
    {
        buffers_.erase(ended.user_data);
        return ended;
    }

    void wait_for_event(Channel &parent)
    {
        doca_event_handle_t handle = -1;
        must(doca_workq_get_event_handle(end_.workq(), &handle));
        bool is_parent_notified = false;
        for (;;) {
            must(doca_workq_event_handle_arm(end_.workq()));
            if (!std::exchange(is_parent_notified, true))
                parent.send(only(DOCA_ERROR_AGAIN));
            pollfd wish = {.fd = handle, .events = POLLIN, .revents = 0};
            must_hold(poll(&wish, 1, 60'000) == 1, "the handle wakes its waiter");
            must(doca_workq_event_handle_clear(end_.workq(), handle));
            const RdmaEnded ended = end_.try_retrieve();
            if (ended.status == DOCA_ERROR_AGAIN)
                continue;
            return parent.send(forget(ended));
        }
    }

    [[nodiscard]] doca_error_t add_often(const RdmaOrder &order, const std::vector<std::byte> &descriptor)
    {
        const MmapHandle imported = import_rdma(descriptor, dev_);
        void *addr = nullptr;
        std::size_t len = 0;
        must(doca_mmap_get_memrange(imported, &addr, &len));
        const BufHandle target =
            inventory_.full(imported, static_cast<std::byte *>(addr) + order.offset, sizeof(std::uint64_t));
        const BufHandle result = inventory_.empty(map_, memory_.data(), sizeof(std::uint64_t));
        for (std::uint32_t i = 0; i < order.count; ++i) {
            if (const doca_error_t status = end_.add(target, result, 1); status != DOCA_SUCCESS)
                return status;
            if (const doca_error_t status = end_.result(); status != DOCA_SUCCESS)
                return status;
        }
        return DOCA_SUCCESS;
    }

    DevHandle dev_;
    Memory memory_;
    MmapHandle map_;
    Inventory inventory_;
    std::map<std::uint64_t, BufHandle> buffers_;
    std::uint64_t next_ = 1;
    RdmaEnd end_;
};

const ChildProgram peer_program("rdma-peer", [](Channel &parent) {
    Peer peer(parent.receive<RdmaPeerRequest>());
    parent.send(peer.present());
    for (;;)
        peer.carry_out(parent.receive<RdmaOrder>(), parent);
});

} // namespace

RdmaPeer::RdmaPeer(const DeviceParam &device, const Options &options)
    : RdmaPeer(device, options, PeerProgram("rdma-peer"))
{
}

RdmaPeer::RdmaPeer(const DeviceParam &device, const Options &options, const PeerProgram &program)
    : process_(program.name, program.variables, program.kill_signal)
{
    RdmaPeerRequest request = {};
    peer_device(device.ibdev).copy(request.device, sizeof(request.device) - 1);
    request.kind = options.kind;
    request.access = options.access;
    request.size = options.size;
    request.seed = options.seed;
    request.rdma = options.rdma;
    process_.channel().send(request);
    reply_ = process_.channel().receive<RdmaPeerReply>();
}

void RdmaPeer::give(RdmaOrder order, const std::vector<std::byte> &blob)
{
    must_hold(blob.size() <= sizeof(order.blob), "the bytes fit");
    order.blob_size = blob.size();
    std::ranges::copy(blob, order.blob);
    process_.channel().send(order);
}

} // namespace doca_test
