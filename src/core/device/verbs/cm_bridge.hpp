// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "../connector.hpp"
#include "rdma_cm_library.hpp"

namespace opendoca::verbs {

class VerbsDevice;
class VerbsQueuePair;

/// A connection of an id of rdma_cm that the program owns. The id refers to the queue pair (rdma_cm_id::qp) as one of
/// rdma_create_qp() would be referred to: when a server accepts, librdmacm connects the queue pair of the client, and
/// rdma_disconnect() ends its operations. Owned by the connection, and used by the thread of its progress engine; the
/// program must not use the id in another thread at the same time. From disconnect() on, the id is not accessed: the
/// program may have destroyed it.
class CmBridge final : public BridgedLink {
public:
    /// INVALID_VALUE, logged, if @p id is not bound to this device and port, or has a queue pair already.
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, rdma_cm_id &id, VerbsQueuePair &queue_pair,
                                             std::unique_ptr<BridgedLink> &link);
    ~CmBridge() override { disconnect(); }

    [[nodiscard]] doca_error_t accept(QueuePair &queue_pair, std::span<const std::byte> private_data) override;
    /// The program rejects its clients itself, by rdma_reject().
    void reject() noexcept override {}
    void disconnect() noexcept override;
    /// The program's id exists for as long as the program needs it, so the notice of disconnect() is not lost.
    [[nodiscard]] bool is_over() const noexcept override { return true; }
    [[nodiscard]] doca_error_t establish() override;

private:
    CmBridge(const RdmaCmLibrary &library, rdma_cm_id &id, VerbsQueuePair &queue_pair) noexcept;

    /// Withdraws the queue pair from the id. Returns whether the id referred to it.
    bool withdraw_queue_pair() noexcept;

    const RdmaCmLibrary &library_;
    VerbsQueuePair &queue_pair_; ///< of the connection, which destroys it after disconnect()
    rdma_cm_id *id_;             ///< the program's; null after disconnect()
    bool is_connected_ = false;  ///< disconnect() has to notify the peer
};

} // namespace opendoca::verbs
