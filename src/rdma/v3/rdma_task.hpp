// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>

#include <doca_rdma.h>

#include "../../core/device/queue_pair.hpp"
#include "../../core/objects/buf.hpp"
#include "../../core/v3/task.hpp"
#include "../../sync_event/v3/remote_net.hpp"

struct doca_rdma_connection;

namespace opendoca::v3 {

/// The fields of all types of RDMA tasks, of which each type uses some. The opaque task types of the C API derive from
/// it and add nothing, so that one pool template serves all. In a pool that the context owns; see doca_task for the
/// states. Buffers and connections are the program's, and must exist until the task has completed.
struct RdmaTask : doca_task {
    doca_rdma_connection *connection; ///< of a receive: the connection by which the message arrived, null before
    const doca_buf *src;              ///< of a read: the remote memory
    doca_buf *dst;                    ///< of a write and an atomic: the remote memory
    doca_buf *result;                 ///< of an atomic: local buffer for the old value, 8 bytes
    std::uint64_t operand;            ///< of an atomic: the value to add or to store
    std::uint64_t compare;            ///< of a compare-and-swap: the expected value
    std::uint32_t immediate;          ///< in network byte order; of a receive: that of the message
    std::uint32_t result_length;      ///< bytes of a receive or a read that has succeeded
    Received received;                ///< of a receive: the kind of message
};

/// A task on another node's sync event: on its counter, one 64-bit word of that node's memory. Carried out as a read,
/// write or fetch-and-add of that word, for which the task has a buffer of its own: the program passes the event, not
/// a buffer.
struct RemoteEventTask : RdmaTask {
    /// @p other must exist until the task has completed.
    void set_event(const doca_sync_event_remote_net *other) noexcept { event = other; }
    /// Describes the counter in word, with a data section of @p data_len bytes: 8 to read or add, 0 to write (a
    /// destination is filled behind its data). Returns word, or null if no event is set, which the check of the
    /// operation refuses.
    [[nodiscard]] doca_buf *counter(std::size_t data_len) noexcept
    {
        if (event == nullptr)
            return nullptr;
        word = {}; // anew for each submit: the previous operation has changed the data section, or the event
        word.head = word.data = event->map->range().addr;
        word.len = event->map->range().len;
        word.data_len = data_len;
        word.mmap = event->map.get();
        word.last = &word;
        word.update_fast_path_uses();
        return &word;
    }

    const doca_sync_event_remote_net *event; ///< null if the program has not set one
    doca_buf word;                           ///< the remote side of the operation; valid after counter()
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
