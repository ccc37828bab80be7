// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of instances, connections and addresses: they check arguments and call the member function of the
// same purpose. call() refuses null pointers and turns exceptions into errors.
#include <cstddef>
#include <cstdint>
#include <span>

#include <arpa/inet.h>

#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "bridged_connections.hpp"
#include "rdma.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_API);

using opendoca::v3::call;

namespace {

constexpr std::size_t max_private_data = 196; // bytes: the limit of a reply in rdma_cm

/// Returns whether @p text is a numeric address of @p type. Names are not resolved, which could block.
bool is_address(doca_rdma_addr_type type, const char *text) noexcept
{
    in6_addr parsed;
    switch (type) {
    case DOCA_RDMA_ADDR_TYPE_IPv4:
        return inet_pton(AF_INET, text, &parsed) == 1;
    case DOCA_RDMA_ADDR_TYPE_IPv6:
    case DOCA_RDMA_ADDR_TYPE_GID: // written in the notation of IPv6
        return inet_pton(AF_INET6, text, &parsed) == 1;
    }
    return false;
}

/// Returns the name of @p type with an example, for log messages; null if it is not a type of addresses.
const char *name_of(doca_rdma_addr_type type) noexcept
{
    switch (type) {
    case DOCA_RDMA_ADDR_TYPE_IPv4:
        return "IPv4 address, such as 192.0.2.1";
    case DOCA_RDMA_ADDR_TYPE_IPv6:
        return "IPv6 address, such as 2001:db8::1";
    case DOCA_RDMA_ADDR_TYPE_GID:
        return "GID, such as fe80::1";
    }
    return nullptr;
}

/// Checks the private data of a reply, which is optional: pointer and length are both set or both zero.
doca_error_t check_private_data(const void *data, std::uint8_t length) noexcept
{
    if ((data == nullptr) == (length == 0) && length <= max_private_data)
        return DOCA_SUCCESS;
    LOG_ERR("private data: %u bytes at %p; 0 bytes need a null pointer, at most %zu are possible", length, data,
            max_private_data);
    return DOCA_ERROR_INVALID_VALUE;
}

/// Returns INVALID_VALUE, and logs it, if @p connection is not one of @p rdma.
doca_error_t check_owner(const doca_rdma &rdma, const doca_rdma_connection &connection) noexcept
{
    if (&connection.rdma == &rdma)
        return DOCA_SUCCESS;
    LOG_ERR("connection %p belongs to another instance", static_cast<const void *>(&connection));
    return DOCA_ERROR_INVALID_VALUE;
}

} // namespace

doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma)
{
    return call({dev, rdma}, [&] {
        if (!dev->function().can.rdma.reliable_connection) {
            LOG_ERR("device %s cannot do RDMA", dev->description().c_str());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        *rdma = new doca_rdma(*dev);
        return DOCA_SUCCESS;
    });
}

/// Possible only when the context is idle, when all connections are destroyed as well.
doca_error_t doca_rdma_destroy(struct doca_rdma *rdma)
{
    return call({rdma}, [&] {
        const doca_error_t status = rdma->check_idle(DOCA_ERROR_BAD_STATE);
        if (status == DOCA_SUCCESS)
            delete rdma;
        return status;
    });
}

struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma)
{
    return rdma;
}

/// The details belong to the connection: the program copies them and does not free them.
doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **local_rdma_conn_details,
                              size_t *local_rdma_conn_details_size, struct doca_rdma_connection **rdma_connection)
{
    return call({rdma, local_rdma_conn_details, local_rdma_conn_details_size, rdma_connection}, [&] {
        std::span<const std::byte> details;
        const doca_error_t status = rdma->export_connection(details, *rdma_connection);
        if (status == DOCA_SUCCESS) {
            *local_rdma_conn_details = details.data();
            *local_rdma_conn_details_size = details.size();
        }
        return status;
    });
}

doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
                               size_t remote_rdma_conn_details_size, struct doca_rdma_connection *rdma_connection)
{
    return call({rdma, remote_rdma_conn_details, rdma_connection}, [&] {
        if (remote_rdma_conn_details_size == 0) {
            LOG_ERR("connection details have 0 bytes");
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (const doca_error_t status = check_owner(*rdma, *rdma_connection); status != DOCA_SUCCESS)
            return status;
        return rdma->connect({static_cast<const std::byte *>(remote_rdma_conn_details), remote_rdma_conn_details_size},
                             *rdma_connection);
    });
}

doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type addr_type, const char *address, uint16_t port,
                                   struct doca_rdma_addr **addr)
{
    return call({address, addr}, [&] {
        const char *const wanted = name_of(addr_type);
        if (wanted == nullptr) {
            LOG_ERR("%d is no type of address", static_cast<int>(addr_type));
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (!is_address(addr_type, address)) {
            LOG_ERR("'%s' is no %s; names are not looked up", address, wanted);
            return DOCA_ERROR_INVALID_VALUE;
        }
        *addr = new doca_rdma_addr{addr_type, address, port};
        return DOCA_SUCCESS;
    });
}

/// Refuses the address of a connection, which doca_rdma_connection_get_addr() returns and which the connection frees.
doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr)
{
    return call({addr}, [&] {
        if (addr->is_of_connection) {
            LOG_ERR("address %s, port %u, at %p belongs to a connection, which frees it", addr->text.c_str(),
                    addr->port, static_cast<void *>(addr));
            return DOCA_ERROR_BAD_STATE;
        }
        delete addr;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_rdma_addr_get_params(struct doca_rdma_addr *addr, enum doca_rdma_addr_type *addr_type,
                                       const char **address, uint16_t *port)
{
    return call({addr, addr_type, address, port}, [&] {
        *addr_type = addr->type;
        *address = addr->text.c_str();
        *port = addr->port;
    });
}

doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
    return call({rdma}, [&] { return rdma->by_address().listen(port); });
}

doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma, uint16_t port)
{
    return call({rdma}, [&] { return rdma->by_address().stop_listening(port); });
}

doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma, struct doca_rdma_addr *addr,
                                       union doca_data connection_user_data)
{
    return call({rdma, addr}, [&] { return rdma->by_address().connect(*addr, connection_user_data); });
}

doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *rdma_connection, void *private_data,
                                         uint8_t private_data_len)
{
    return call({rdma_connection}, [&] {
        if (const doca_error_t status = check_private_data(private_data, private_data_len); status != DOCA_SUCCESS)
            return status;
        return rdma_connection->rdma.by_address().accept(
            *rdma_connection, {static_cast<const std::byte *>(private_data), private_data_len});
    });
}

doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection)
{
    return call({rdma_connection}, [&] { return rdma_connection->rdma.by_address().reject(*rdma_connection); });
}

/// The pointer stays valid, except that of a client's connection that was never established: the next progress may
/// free it. See doca_rdma_connection.
doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection)
{
    return call({rdma_connection}, [&] { return rdma_connection->rdma.disconnect(*rdma_connection); });
}

doca_error_t doca_rdma_connection_set_user_data(struct doca_rdma_connection *rdma_connection,
                                                union doca_data connection_user_data)
{
    return call({rdma_connection}, [&] { rdma_connection->user_data = connection_user_data; });
}

doca_error_t doca_rdma_connection_get_user_data(const struct doca_rdma_connection *rdma_connection,
                                                union doca_data *connection_user_data)
{
    return call({rdma_connection, connection_user_data}, [&] { *connection_user_data = rdma_connection->user_data; });
}

doca_error_t doca_rdma_connection_get_id(const struct doca_rdma_connection *rdma_connection, uint32_t *connection_id)
{
    return call({rdma_connection, connection_id}, [&] { *connection_id = rdma_connection->id; });
}

doca_error_t doca_rdma_connection_get_addr(const struct doca_rdma_connection *rdma_connection,
                                           struct doca_rdma_addr **addr)
{
    return call({rdma_connection, addr}, [&] {
        using State = doca_rdma_connection::State;
        if (rdma_connection->address == nullptr || rdma_connection->state == State::ended) {
            // Logged as a debug message: servers query the address of each client as a matter of course.
            LOG_DBG("connection %u %s", rdma_connection->id,
                    rdma_connection->state == State::ended ? "has ended" : "was not made by an address of this side");
            return DOCA_ERROR_NOT_FOUND;
        }
        *addr = rdma_connection->address.get();
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_rdma_bridge_prepare_connection(struct doca_rdma *rdma, struct rdma_cm_id *cm_id,
                                                 struct doca_rdma_connection **rdma_connection)
{
    return call({rdma, cm_id, rdma_connection},
                [&] { return opendoca::v3::prepare_bridged(*rdma, *cm_id, *rdma_connection); });
}

doca_error_t doca_rdma_bridge_accept(struct doca_rdma *rdma, void *private_data, uint8_t private_data_len,
                                     struct doca_rdma_connection *rdma_connection)
{
    return call({rdma, rdma_connection}, [&] {
        doca_error_t status = check_private_data(private_data, private_data_len);
        if (status == DOCA_SUCCESS)
            status = check_owner(*rdma, *rdma_connection);
        if (status == DOCA_SUCCESS)
            status = opendoca::v3::accept_bridged(*rdma_connection,
                                                  {static_cast<const std::byte *>(private_data), private_data_len});
        return status;
    });
}

doca_error_t doca_rdma_bridge_established(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection)
{
    return call({rdma, rdma_connection}, [&] {
        const doca_error_t status = check_owner(*rdma, *rdma_connection);
        return status == DOCA_SUCCESS ? opendoca::v3::establish_bridged(*rdma_connection) : status;
    });
}
