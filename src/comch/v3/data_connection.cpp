// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "data_connection.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "../../core/engine/completion_queue.hpp"
#include "../../core/log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_DATA_CONNECTION);

namespace opendoca::comch {

doca_error_t make_data_connection(doca_dev &dev, CompletionQueue &completions, std::uint32_t queue_size,
                                  ReceiveQueue *receives, std::uint32_t peer, std::unique_ptr<DataConnection> &made)
{
    QueuePairSettings settings{};
    // A producer only sends, a consumer only receives: the other queue has the smallest size.
    settings.send_queue_size = receives != nullptr ? 1 : std::bit_ceil(std::max(queue_size, 1U));
    settings.recv_queue_size = receives != nullptr ? std::bit_ceil(std::clamp(queue_size, 16U, 1024U)) : 1;
    // The program's buffer and the slot for immediate data.
    settings.recv_chain_length = settings.send_chain_length = 2;
    settings.permissions = Access::local_read_write;
    settings.mtu = dev.function().can.rdma.active_mtu;
    settings.has_grh = true;
    settings.shared_receives = receives;
    settings.completions = &completions;
    auto connection = std::make_unique<DataConnection>();
    connection->peer = peer;
    std::unique_ptr<QueuePair> queue_pair;
    doca_error_t status = dev.device().create_queue_pair(settings, connection->state, queue_pair);
    if (status != DOCA_SUCCESS)
        return status;
    connection->state.store(ConnectionState::initial, std::memory_order_release);
    queue_pair->owner = connection.get();
    status = queue_pair->attach(completions);
    if (status != DOCA_SUCCESS)
        return status;
    connection->queue_pair = std::move(queue_pair);
    completions.wake_if_waiting(); // arm() has not reached it
    made = std::move(connection);
    return DOCA_SUCCESS;
}

void put_details(const DataConnection &connection, ControlMessage &message) noexcept
{
    const std::span<const std::byte> details = connection.queue_pair->details();
    message.details_size = static_cast<std::uint32_t>(std::min(details.size(), message.details.size()));
    std::memcpy(message.details.data(), details.data(), message.details_size);
}

doca_error_t DataDevice::open(doca_dev &dev)
{
    dev_ = &dev;
    if (dev.function().messages_by == nullptr)
        return DOCA_SUCCESS;
    const doca_error_t status = doca_dev::open(dev.messages_by(), dev_);
    if (status == DOCA_SUCCESS)
        own_.reset(dev_);
    return status;
}

void DataDevice::close() noexcept
{
    maps_.clear();
    own_.reset();
}

doca_error_t DataDevice::take_over(doca_buf &buf, CompletionQueue &completions)
{
    const doca_mmap &map = *buf.mmap;
    const std::pair key(map.serial(), map.num_starts());
    if (const auto known = maps_.find(key); known != maps_.end()) {
        // The number of starts is part of the key: a map that was stopped and started again may describe other memory.
        buf.mmap = known->second.get();
        return DOCA_SUCCESS;
    }
    if (map.is_imported() || map.is_of_dmabuf() || !map.is_usable()) {
        LOG_ERR("memory that was imported, or is a dmabuf's, cannot be sent by device %s", dev_->description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (maps_.size() == max_maps) {
        // All credits free means that no operation is in flight that could refer to the registrations: they can be
        // dropped.
        if (!completions.reserve(completions.depth()))
            return DOCA_ERROR_NO_MEMORY;
        completions.release_credits(completions.depth());
        maps_.clear();
    }
    std::shared_ptr<const doca_mmap> made;
    const doca_error_t status = map_for_library(*dev_, map.range(), map.access(), made);
    if (status == DOCA_SUCCESS)
        buf.mmap = maps_.emplace(key, std::move(made)).first->second.get();
    return status;
}

doca_error_t OwnMemory::create(doca_dev &dev, std::size_t size)
{
    bytes_ = std::make_unique<std::byte[]>(size);
    return map_for_library(dev, {bytes_.get(), size}, Access::local_read_write, map_);
}

} // namespace opendoca::comch
