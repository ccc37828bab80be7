// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "bridged_connections.hpp"

#include <memory>
#include <utility>

#include "../../core/device/connector.hpp"
#include "../../core/device/device.hpp"
#include "../../core/log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_BRIDGED_CONNECTIONS);

namespace opendoca::v3 {

namespace {

/// Returns BAD_STATE, and logs it, unless the program has prepared @p connection by an id and it has not ended.
doca_error_t check_bridged(const doca_rdma_connection &connection, const char *what) noexcept
{
    const bool has_ended = connection.state == doca_rdma_connection::State::ended;
    if (connection.origin == doca_rdma_connection::Origin::bridged && !has_ended)
        return DOCA_SUCCESS;
    LOG_ERR("connection %u cannot be %s: it %s", connection.id, what,
            has_ended ? "has ended" : "was not prepared by doca_rdma_bridge_prepare_connection()");
    return DOCA_ERROR_BAD_STATE;
}

} // namespace

doca_error_t prepare_bridged(doca_rdma &rdma, rdma_cm_id &id, doca_rdma_connection *&connection)
{
    if (const doca_error_t status = rdma.check_running("prepare connections"); status != DOCA_SUCCESS)
        return status;
    doca_rdma_connection *made = nullptr;
    if (const doca_error_t status = rdma.add(doca_rdma_connection::Origin::bridged, made); status != DOCA_SUCCESS)
        return status;
    std::unique_ptr<BridgedLink> link;
    // std::bad_alloc is possible here. The connection is then removed again.
    const doca_error_t status = guarded([&] { return rdma.device().bridge(id, *made->queue_pair, link); });
    if (status != DOCA_SUCCESS) {
        rdma.drop_last();
        return status;
    }
    made->link = std::move(link);
    rdma.request_progress(); // on_progress() detects the end of the connection
    connection = made;
    return DOCA_SUCCESS;
}

doca_error_t accept_bridged(doca_rdma_connection &connection, std::span<const std::byte> private_data)
{
    if (const doca_error_t status = check_bridged(connection, "accepted"); status != DOCA_SUCCESS)
        return status;
    if (connection.state != doca_rdma_connection::State::initial) {
        LOG_ERR("connection %u is accepted or established already", connection.id);
        return DOCA_ERROR_BAD_STATE;
    }
    if (const doca_error_t status = connection.link->accept(*connection.queue_pair, private_data);
        status != DOCA_SUCCESS) {
        connection.rdma.end(connection);
        return status;
    }
    // The client's first message may arrive at any time, and is then the first report of an established connection.
    connection.state = doca_rdma_connection::State::ready;
    connection.rdma.receives().attach(*connection.queue_pair);
    return DOCA_SUCCESS;
}

doca_error_t connect_bridged(doca_rdma_connection &connection)
{
    const doca_error_t status = static_cast<BridgedLink &>(*connection.link).establish();
    if (status == DOCA_SUCCESS) {
        connection.rdma.receives().attach(*connection.queue_pair);
        connection.state = doca_rdma_connection::State::ready;
    }
    return status;
}

doca_error_t establish_bridged(doca_rdma_connection &connection)
{
    using State = doca_rdma_connection::State;
    if (const doca_error_t status = check_bridged(connection, "established"); status != DOCA_SUCCESS)
        return status;
    if (connection.is_confirmed) {
        LOG_ERR("connection %u is established already", connection.id);
        return DOCA_ERROR_BAD_STATE;
    }
    if (connection.state == State::initial) {
        if (const doca_error_t status = connect_bridged(connection); status != DOCA_SUCCESS) {
            connection.rdma.end(connection);
            return status;
        }
    }
    connection.is_confirmed = true;
    connection.rdma.request_established_callback(connection);
    connection.rdma.completions().note_event(); // the queue pair may have failed before
    return DOCA_SUCCESS;
}

} // namespace opendoca::v3
