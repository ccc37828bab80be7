// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_bars.hpp"

#include <cstddef>
#include <cstdint>

namespace opendoca::tools {

namespace {

constexpr std::size_t KiB = 1 << 10;
constexpr std::size_t MiB = 1 << 20;

/// Cases for software devices, with shared memory unless the bar is about ordinary memory.
constexpr PairCase latency(PairOp op, std::size_t size)
{
    return {op, PairTest::latency, MemoryKind::shared, false, size, 1};
}

constexpr PairCase rate(PairOp op, std::size_t size, MemoryKind memory = MemoryKind::shared)
{
    return {op, PairTest::rate, memory, false, size, size < MiB ? 32U : 4U};
}

/// Cases for devices of libibverbs, with the depths that perftest needs to saturate a card.
constexpr PairCase on_device(PairOp op, PairTest test, std::size_t size, std::uint32_t depth)
{
    return {op, test, MemoryKind::ordinary, false, size, depth};
}

/// The limits. docs/benchmarks.md explains each.
constexpr PairBar bars_against_perftest[] = {
    speed_at_least(0.95, "WRITE 64 B / ib_write_bw", on_device(PairOp::write, PairTest::rate, 64, 128)),
    speed_at_least(0.95, "WRITE 1 MiB / ib_write_bw", on_device(PairOp::write, PairTest::rate, MiB, 16)),
    speed_at_least(0.95, "READ 64 B / ib_read_bw", on_device(PairOp::read, PairTest::rate, 64, 128)),
    speed_at_least(0.95, "READ 1 MiB / ib_read_bw", on_device(PairOp::read, PairTest::rate, MiB, 16)),
    speed_at_least(0.9, "SEND/RECV 64 B, one way / ib_send_lat", on_device(PairOp::send, PairTest::latency, 64, 1)),
};

constexpr PairBar bars_against_ucx[] = {
    time_at_most(2.0, "WRITE 8 B, depth 32 / ucp_put_bw", rate(PairOp::write, 8)),
    time_at_most(1.3, "WRITE 8 B, one way / ucp_put_lat", latency(PairOp::write, 8)),
    time_at_most(2.0, "READ 8 B, depth 32 / ucp_get", rate(PairOp::read, 8)),
    time_at_most(2.0, "FETCH_ADD, depth 32 / ucp_fadd", rate(PairOp::fetch_add, 8)),
    time_at_most(1.2, "SEND/RECV 8 B, one way / tag_lat", latency(PairOp::send, 8)),
    speed_at_least(0.95, "WRITE 1 MiB / ucp_put_bw", rate(PairOp::write, MiB)),
    speed_at_least(0.95, "READ 1 MiB / ucp_get", rate(PairOp::read, MiB)),
    speed_at_least(0.95, "SEND/RECV 1 MiB / tag_bw", rate(PairOp::send, MiB)),
    speed_at_least(1.0, "ordinary WRITE 8 B / cma put", rate(PairOp::write, 8, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary WRITE 4 KiB / cma put", rate(PairOp::write, 4 * KiB, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary WRITE 1 MiB / cma put", rate(PairOp::write, MiB, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary READ 8 B / cma get", rate(PairOp::read, 8, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary READ 4 KiB / cma get", rate(PairOp::read, 4 * KiB, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary READ 1 MiB / cma get", rate(PairOp::read, MiB, MemoryKind::ordinary)),
    speed_at_least(1.0, "ordinary SEND/RECV 1 MiB / tag_bw with cma", rate(PairOp::send, MiB, MemoryKind::ordinary)),
};

} // namespace

std::span<const PairBar> rdma_bars(RivalKind rival)
{
    if (rival == RivalKind::ucx)
        return bars_against_ucx;
    return bars_against_perftest;
}

} // namespace opendoca::tools
