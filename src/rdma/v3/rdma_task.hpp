// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>

#include <doca_rdma.h>

#include "../../core/buf.hpp"
#include "../../core/device/queue_pair.hpp"
#include "../../core/v3/task.hpp"
#include "../../sync_event/v3/remote_net.hpp"

struct doca_rdma_connection;

namespace opendoca::v3 {

/// What any task of RDMA may need; the opaque types of the C API are it.
struct RdmaTask : doca_task {
    doca_rdma_connection *connection; ///< of a receive: by which the message came
    const doca_buf *src;
    doca_buf *dst;    ///< of an atomic: the remote word
    doca_buf *result; ///< of an atomic: where the old value goes
    std::uint64_t operand;
    std::uint64_t compare;
    std::uint32_t immediate; ///< big endian
    std::uint32_t result_length;
    Received received;
};

/// A task on another node's sync event: a counter that is one word of that node's memory.
struct RemoteEventTask : RdmaTask {
    void set_event(const doca_sync_event_remote_net *other) noexcept { event = other; }
    /// Makes the counter the remote side, with @p data_len bytes of data.
    [[nodiscard]] doca_buf *counter(std::size_t data_len) noexcept
    {
        if (event == nullptr)
            return nullptr;
        word = {};
        word.head = word.data = event->map->range().addr;
        word.len = event->map->range().len;
        word.data_len = data_len;
        word.mmap = event->map.get();
        word.last = &word;
        word.update_fast_path_uses();
        return &word;
    }

    const doca_sync_event_remote_net *event;
    doca_buf word;
};

} // namespace opendoca::v3

struct doca_rdma_task_receive : opendoca::v3::RdmaTask {};
struct doca_rdma_task_send : opendoca::v3::RdmaTask {};
struct doca_rdma_task_send_imm : opendoca::v3::RdmaTask {};
struct doca_rdma_task_read : opendoca::v3::RdmaTask {};
struct doca_rdma_task_write : opendoca::v3::RdmaTask {};
struct doca_rdma_task_write_imm : opendoca::v3::RdmaTask {};
struct doca_rdma_task_atomic_cmp_swp : opendoca::v3::RdmaTask {};
struct doca_rdma_task_atomic_fetch_add : opendoca::v3::RdmaTask {};
struct doca_rdma_task_remote_net_sync_event_get : opendoca::v3::RemoteEventTask {};
struct doca_rdma_task_remote_net_sync_event_notify_set : opendoca::v3::RemoteEventTask {};
struct doca_rdma_task_remote_net_sync_event_notify_add : opendoca::v3::RemoteEventTask {};
