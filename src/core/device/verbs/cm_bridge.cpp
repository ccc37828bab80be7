// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "cm_bridge.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "../../log/log.hpp"
#include "cm_steps.hpp"
#include "device.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_CM_BRIDGE);

namespace opendoca::verbs {

doca_error_t CmBridge::create(const VerbsDevice &device, rdma_cm_id &id, VerbsQueuePair &queue_pair,
                              std::unique_ptr<BridgedLink> &link)
{
    const VerbsFunction &port = device.port();
    if (!is_id_on_port(id, port)) {
        LOG_ERR("the id of rdma_cm is bound to device %s, port %u, and the instance uses device %s, port %u",
                id.verbs != nullptr ? ibv_get_device_name(id.verbs->device) : "none (its address is not resolved)",
                id.port_num, port.ibdev_name.c_str(), port.port());
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (id.qp != nullptr) {
        LOG_ERR("the id of rdma_cm has a queue pair already, 0x%x", id.qp->qp_num);
        return DOCA_ERROR_INVALID_VALUE;
    }
    const RdmaCmLibrary *const library = load_rdma_cm();
    if (library == nullptr)
        return DOCA_ERROR_NOT_SUPPORTED;
    link.reset(new CmBridge(*library, id, queue_pair));
    return DOCA_SUCCESS;
}

CmBridge::CmBridge(const RdmaCmLibrary &library, rdma_cm_id &id, VerbsQueuePair &queue_pair) noexcept
    : library_(library),
      queue_pair_(queue_pair),
      id_(&id)
{
    id.qp = &queue_pair.share();
}

bool CmBridge::withdraw_queue_pair() noexcept
{
    const bool has_ours = id_->qp == &queue_pair_.share();
    if (has_ours)
        id_->qp = nullptr;
    return has_ours;
}

/// Connects the queue pair before the reply. rdma_accept() must not find it in the id, since it would connect it again
/// with rights of its own.
doca_error_t CmBridge::accept(QueuePair &, std::span<const std::byte> private_data)
{
    (void)withdraw_queue_pair();
    if (connect_by_id(library_, *id_, queue_pair_) != DOCA_SUCCESS)
        return DOCA_ERROR_CONNECTION_ABORTED;
    if (!accept_client(library_, *id_, queue_pair_, private_data)) {
        LOG_ERR("accepting the client of an id of the program: %s", std::strerror(errno));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    id_->qp = &queue_pair_.share();
    is_connected_ = true;
    return DOCA_SUCCESS;
}

/// librdmacm has connected the queue pair unless the program has withdrawn it from the id: the server's reply was then
/// reported as CONNECT_RESPONSE, and waits for this confirmation.
doca_error_t CmBridge::establish()
{
    if (id_->qp == &queue_pair_.share()) {
        const doca_error_t status = queue_pair_.adopt();
        is_connected_ = status == DOCA_SUCCESS;
        return status;
    }
    if (connect_by_id(library_, *id_, queue_pair_) != DOCA_SUCCESS)
        return DOCA_ERROR_CONNECTION_ABORTED;
    is_connected_ = true;
    if (library_.establish(id_) == 0)
        return DOCA_SUCCESS;
    LOG_ERR("confirming the connection of an id of the program: %s", std::strerror(errno));
    return DOCA_ERROR_CONNECTION_ABORTED;
}

/// Fails without harm if the peer has disconnected before.
void CmBridge::disconnect() noexcept
{
    if (id_ == nullptr)
        return;
    (void)withdraw_queue_pair();
    rdma_cm_id *const id = std::exchange(id_, nullptr);
    if (is_connected_)
        (void)library_.disconnect(id);
}

} // namespace opendoca::verbs
