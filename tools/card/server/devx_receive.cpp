// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Commands about pools of receive memory (RMP): the shared receive queues that DEVX creates in registered user memory.
#include <cstdint>

#include "devx.hpp"

namespace opendoca::card {

prm::Status prm_create_rmp(Mailbox &mailbox)
{
    using namespace prm::rmp;
    const std::uint32_t entries = 1u << mailbox.get(log_size), log_bytes = mailbox.get32(log_stride);
    auto *domain = mailbox.own<ProtectionDomain>(pd);
    UserMemory *record = mailbox.memory_at(record_umem_id, record_offset, queue_record_bytes);
    UserMemory *buffer = mailbox.memory_at(umem_id, umem_offset, std::uint64_t{entries} << log_bytes);
    if (domain == nullptr || record == nullptr || buffer == nullptr || record->process != buffer->process)
        return prm::Status::bad_resource;
    auto *queue_of_pool = mailbox.card().objects.create<SharedReceiveQueue>(mailbox.file);
    if (queue_of_pool == nullptr)
        return prm::Status::no_resources;
    SharedReceiveQueue &pool = *queue_of_pool;
    pool.process = buffer->process;
    pool.pd = Use(domain);
    pool.entries = entries;
    pool.log_stride = log_bytes;
    pool.max_sges = (1u << log_bytes) / 16 - 1;
    pool.limit = mailbox.get32(limit);
    pool.is_cyclic = mailbox.get(type) == type_cyclic;
    pool.buffer = buffer->start + mailbox.get(umem_offset);
    pool.doorbell_record = record->start + mailbox.get(record_offset);
    pool.buffer_memory = Use(buffer);
    pool.record_memory = Use(record);
    mailbox.set(number, pool.number());
    mailbox.created = &pool;
    return prm::Status::ok;
}

/// Sets the limit, below which the pool reports an event once.
prm::Status prm_modify_rmp(Mailbox &mailbox)
{
    using namespace prm::rmp;
    auto *pool = mailbox.own<SharedReceiveQueue>(number);
    if (pool == nullptr || !pool->is_created_by_devx)
        return prm::Status::bad_resource;
    if (mailbox.get(sets_limit) == 0)
        return prm::Status::ok;
    if (mailbox.get(limit) >= pool->entries)
        return prm::Status::bad_parameter;
    pool->limit = mailbox.get32(limit);
    return prm::Status::ok;
}

} // namespace opendoca::card
