// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_poster.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "../../engine/completion_queue.hpp"
#include "../../log/log.hpp"
#include "device.hpp"
#include "trials.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MLX5_DMA);

namespace opendoca::mlx5 {

namespace {

// Larger queues are not faster; a long copy is split into several requests.
constexpr std::uint32_t max_requests = 256;
constexpr std::uint32_t min_requests = 16;
/// Longest request. A length of 2 GiB would be encoded as 0.
constexpr std::uint64_t max_request_bytes = 1u << 30;

/// Creates a queue pair that can post DMA copies.
ibv_qp *create_dma_queue_pair(ibv_context *context, ibv_qp_init_attr_ex *attributes)
{
    mlx5dv_qp_init_attr more{};
    more.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
    more.send_ops_flags = MLX5DV_QP_EX_WITH_MEMCPY;
    return load_library()->create_qp(context, attributes, &more);
}

} // namespace

doca_error_t DmaQueuePair::create(const Mlx5Device &device, std::uint32_t size, bool has_channel)
{
    // The extended posting calls require at least one verbs operation.
    const verbs::ReliableConnection::Sizes sizes = {.sends = size,
                                                    .receives = 0,
                                                    .send_segments = 1,
                                                    .receive_segments = 0,
                                                    .send_operations = IBV_QP_EX_WITH_SEND,
                                                    .make = create_dma_queue_pair};
    if (const doca_error_t status = completions_.create(device, size, has_channel); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = connection_.create(device, completions_, sizes, 0); status != DOCA_SUCCESS)
        return status;
    engine_ = device.mlx5_function().library().qp_ex_from_ibv_qp_ex(&connection_.sender());
    return activate(device);
}

doca_error_t DmaQueuePair::activate(const Mlx5Device &device) noexcept
{
    // Forced loopback works without an address. Otherwise any connection does, since no packet is sent.
    return device.loop_back(connection_) ? DOCA_SUCCESS : device.connect_to_itself(connection_);
}

DmaPoster::DmaPoster(const verbs::VerbsDevice &device, const CompletionQueue &completions)
    : device_(static_cast<const Mlx5Device &>(device)),
      num_requests_(std::min(std::clamp(std::bit_ceil(completions.depth()), min_requests, max_requests),
                             device.port().can.rdma.max_queue_size)),
      has_channel_(completions.is_event_driven())
{
}

doca_error_t DmaPoster::connect()
{
    // Tried already when the engine was created, so this only reads the result.
    const Engine &engine = engine_of(device_.mlx5_function());
    limits_ = {static_cast<std::uint32_t>(std::min(engine.max_length, max_request_bytes)), 1};
    credits_ = static_cast<std::int32_t>(num_requests_);
    return queue_pair_.create(device_, num_requests_, has_channel_);
}

/// Resets and reconnects the queue pair, and discards what it has left in the completion queue.
doca_error_t DmaPoster::reset_and_reconnect() noexcept
{
    doca_error_t status = connection().reset();
    completions().discard_all();
    if (status == DOCA_SUCCESS)
        status = queue_pair_.activate(device_);
    credits_ = status == DOCA_SUCCESS ? static_cast<std::int32_t>(num_requests_) : 0;
    return status;
}

/// Adds a request to the batch. The first one of a batch opens it on the queue pair.
int DmaPoster::add(Batch &batch, std::uint64_t id) noexcept
{
    if (batch.count++ == 0)
        ibv_wr_start(&connection().sender());
    --credits_;
    const ibv_sge &to = batch.part.dst.segments[0], &from = batch.part.src.segments[0];
    queue_pair_.copy(id, to.lkey, to.addr, from.lkey, from.addr, to.length);
    return 0;
}

/// Rings the doorbell for the whole batch.
int DmaPoster::post(Batch &batch) noexcept
{
    if (batch.count == 0)
        return 0;
    batch.count = 0;
    return ibv_wr_complete(&connection().sender());
}

} // namespace opendoca::mlx5
