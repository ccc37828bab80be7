// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A process with an RDMA instance and memory, which does with them what it is told to, and otherwise sleeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "child_process.hpp"
#include "peer_machine.hpp"
#include "rdma_fixture.hpp"

namespace doca_test {

struct RdmaPeerRequest {
    char device[DOCA_DEVINFO_IBDEV_NAME_SIZE];
    MemoryKind kind;
    std::uint32_t access; ///< of the memory map
    std::size_t size;
    std::uint32_t seed; ///< of the content
    RdmaOptions rdma;
};

struct RdmaPeerReply {
    std::byte *addr;
    std::size_t details_size;
    std::byte details[256];
    std::size_t descriptor_size;
    std::byte descriptor[256];
};

/// What the peer is to do. Each answers with an RdmaEnded, of which most have nothing but the status.
struct RdmaOrder {
    enum class Action : std::uint32_t {
        connect,
        receive, ///< submits, into [offset, offset + length)
        send,    ///< submits, from there
        retrieve,
        wait_for_event, ///< arms, says so with AGAIN, sleeps in poll until the handle wakes it, then
                        ///< retrieves
        fill,
        compare,
        add_often, ///< count times 1 to the 8 bytes at the offset of the memory that it has imported
        restart,   ///< stops and starts the instance; the answer is an RdmaPeerReply
        stop,
        stop_map,
        export_map, ///< starts the map again and exports it; the answer is an RdmaPeerReply
    };
    Action action;
    std::uint32_t seed = 0;
    std::size_t offset = 0;
    std::size_t length = 0;
    std::uint32_t count = 0;
    std::size_t blob_size = 0; ///< details for connect; a descriptor for add_often
    std::byte blob[256] = {};
};

/// The process, seen from the test.
class RdmaPeer {
public:
    struct Options {
        MemoryKind kind = MemoryKind::heap;
        std::size_t size = std::size_t{1} << 16;
        std::uint32_t access = exposed;
        std::uint32_t seed = 2;
        RdmaOptions rdma = {};
    };

    RdmaPeer(const DeviceParam &device, const Options &options);

    [[nodiscard]] std::vector<std::byte> details() const { return to_vector(reply_.details, reply_.details_size); }
    [[nodiscard]] std::vector<std::byte> descriptor() const
    {
        return to_vector(reply_.descriptor, reply_.descriptor_size);
    }
    [[nodiscard]] std::byte *addr() const { return reply_.addr; }
    [[nodiscard]] ChildProcess &process() { return process_; }

    [[nodiscard]] doca_error_t connect(const std::vector<std::byte> &details)
    {
        return order({.action = RdmaOrder::Action::connect}, details).status;
    }
    [[nodiscard]] doca_error_t receive(std::size_t offset, std::size_t length)
    {
        return order({.action = RdmaOrder::Action::receive, .offset = offset, .length = length}).status;
    }
    [[nodiscard]] doca_error_t send(std::size_t offset, std::size_t length)
    {
        return order({.action = RdmaOrder::Action::send, .offset = offset, .length = length}).status;
    }
    [[nodiscard]] RdmaEnded retrieve() { return order({.action = RdmaOrder::Action::retrieve}); }
    void begin_to_wait() { EXPECT_EQ(order({.action = RdmaOrder::Action::wait_for_event}).status, DOCA_ERROR_AGAIN); }
    [[nodiscard]] RdmaEnded end_waiting() { return process_.channel().receive<RdmaEnded>(); }
    void fill(std::uint32_t seed) { (void)order({.action = RdmaOrder::Action::fill, .seed = seed}); }
    /// Whether the bytes have the content of @p seed, counted from its beginning.
    [[nodiscard]] bool has(std::uint32_t seed, std::size_t offset, std::size_t length)
    {
        return order({.action = RdmaOrder::Action::compare, .seed = seed, .offset = offset, .length = length}).status ==
               DOCA_SUCCESS;
    }
    void begin_to_add(std::uint32_t count, std::size_t offset, const std::vector<std::byte> &descriptor)
    {
        give({.action = RdmaOrder::Action::add_often, .offset = offset, .count = count}, descriptor);
    }
    [[nodiscard]] doca_error_t end_adding() { return process_.channel().receive<RdmaEnded>().status; }
    void restart() { renew(RdmaOrder::Action::restart); }
    [[nodiscard]] doca_error_t stop() { return order({.action = RdmaOrder::Action::stop}).status; }
    [[nodiscard]] doca_error_t stop_map() { return order({.action = RdmaOrder::Action::stop_map}).status; }
    void export_map() { renew(RdmaOrder::Action::export_map); }

private:
    RdmaPeer(const DeviceParam &device, const Options &options, const PeerProgram &program);
    void give(RdmaOrder order, const std::vector<std::byte> &blob = {});
    [[nodiscard]] RdmaEnded order(const RdmaOrder &order, const std::vector<std::byte> &blob = {})
    {
        give(order, blob);
        return process_.channel().receive<RdmaEnded>();
    }
    void renew(RdmaOrder::Action action)
    {
        give({.action = action});
        reply_ = process_.channel().receive<RdmaPeerReply>();
    }

    ChildProcess process_;
    RdmaPeerReply reply_{};
};

} // namespace doca_test
