// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of servers, clients and connections.
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "common_api.hpp"
#include "control.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_API);

using namespace opendoca::comm_channel;
using opendoca::read_from;
using opendoca::comch::answer_query;
using opendoca::comch::check_device;
using opendoca::comch::Control;
using opendoca::v3::call;

namespace {

doca_error_t check_name(const char *name)
{
    const std::size_t length = strnlen(name, max_service_name_size);
    if (length != 0 && length != max_service_name_size)
        return DOCA_SUCCESS;
    LOG_ERR("the name of a server has 1 to %u bytes", max_service_name_size - 1);
    return DOCA_ERROR_INVALID_VALUE;
}

/// Destroys an idle object. Returns IN_USE otherwise.
template <typename Object>
doca_error_t destroy(Object *object)
{
    return call({object}, [&] {
        const doca_error_t status = object->check_idle(DOCA_ERROR_IN_USE);
        if (status == DOCA_SUCCESS)
            delete object;
        return status;
    });
}

/// Sets the callbacks and the number of send tasks of a server or client.
doca_error_t configure_sends(Control *control, doca_comch_task_send_completion_cb_t succeeded,
                             doca_comch_task_send_completion_cb_t failed, std::uint32_t count)
{
    return call({control}, [&] {
        return control->sends.configure(succeeded, failed, count, max_queue_size, DOCA_ERROR_BAD_STATE);
    });
}

/// Takes a send task from the pool and fills it in.
doca_error_t alloc_send(Control *control, doca_comch_connection *peer, const void *msg, std::uint32_t len,
                        doca_comch_task_send **task)
{
    return call({control, peer, msg, task}, [&] {
        doca_error_t status = DOCA_SUCCESS;
        if (control->is_running()) // otherwise alloc() reports it, and the connection may be destroyed
            status = control->check_message(peer, msg, len);
        if (status == DOCA_SUCCESS)
            status = control->sends.alloc({}, *task);
        if (status == DOCA_SUCCESS) {
            (*task)->connection = peer;
            (*task)->message = msg;
            (*task)->length = len;
        }
        return status;
    });
}

/// Sets callbacks while the context is idle. None may be null.
template <typename Set>
doca_error_t register_callbacks(Control *control, bool are_set, Set set)
{
    return call({control}, [&] {
        if (!are_set) {
            LOG_ERR("a callback is NULL");
            return DOCA_ERROR_INVALID_VALUE;
        }
        const doca_error_t status = control->check_idle(DOCA_ERROR_BAD_STATE);
        if (status == DOCA_SUCCESS)
            set();
        return status;
    });
}

doca_error_t register_consumer_events(Control *control, doca_comch_event_consumer_cb_t created,
                                      doca_comch_event_consumer_cb_t expired)
{
    return register_callbacks(control, created != nullptr && expired != nullptr, [&] {
        control->consumer_created = created;
        control->consumer_expired = expired;
    });
}

} // namespace

doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo, uint32_t *max_name_len)
{
    return answer_query(devinfo, max_name_len, max_service_name_size);
}

doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size)
{
    return answer_query(devinfo, size, max_message_size);
}

doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *size)
{
    return answer_query(devinfo, size, max_queue_size);
}

doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo, uint32_t *num_clients)
{
    return answer_query(devinfo, num_clients, max_connections);
}

doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo, uint32_t *max_send_tasks)
{
    return answer_query(devinfo, max_send_tasks, max_queue_size);
}

doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo)
{
    return call({devinfo}, [&] {
        const opendoca::Capabilities &can = devinfo->function->can;
        return can.comm_channel && can.representors_net ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    });
}

doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo)
{
    return call({devinfo}, [&] {
        const opendoca::DeviceFunction &function = *devinfo->function;
        return function.can.comm_channel && function.behind_port ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    });
}

doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
                                      struct doca_comch_server **comch_server)
{
    return call({dev, repr, name, comch_server}, [&] {
        doca_error_t status = check_device(dev->function(), opendoca::LogLevel::error);
        if (status == DOCA_SUCCESS)
            status = check_name(name);
        if (status == DOCA_SUCCESS && !repr->info->dev->is_same_function(*dev)) {
            LOG_ERR("representor %s is one of device %s, and the server's device is %s", repr->info->info.name.c_str(),
                    repr->info->dev->description().c_str(), dev->description().c_str());
            status = DOCA_ERROR_INVALID_VALUE;
        }
        if (status == DOCA_SUCCESS)
            *comch_server = new doca_comch_server(*dev, *repr, name);
        return status;
    });
}

doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name, struct doca_comch_client **comch_client)
{
    return call({dev, name, comch_client}, [&] {
        doca_error_t status = check_device(dev->function(), opendoca::LogLevel::error);
        if (status == DOCA_SUCCESS)
            status = check_name(name);
        if (status == DOCA_SUCCESS)
            *comch_client = new doca_comch_client(*dev, name);
        return status;
    });
}

doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server)
{
    return destroy(comch_server);
}

doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client)
{
    return destroy(comch_client);
}

struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server)
{
    return comch_server;
}

struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client)
{
    return comch_client;
}

doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server, uint32_t size)
{
    return call({comch_server}, [&] { return comch_server->set_max_message_size(size); });
}

doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client, uint32_t size)
{
    return call({comch_client}, [&] { return comch_client->set_max_message_size(size); });
}

doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server, uint32_t *size)
{
    return call({comch_server, size}, [&] { *size = comch_server->max_message_size; });
}

doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client, uint32_t *size)
{
    return call({comch_client, size}, [&] { *size = comch_client->max_message_size; });
}

doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server, uint32_t size)
{
    return call({comch_server}, [&] { return comch_server->Control::set_recv_queue_size(size); });
}

doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client, uint32_t size)
{
    return call({comch_client}, [&] { return comch_client->Control::set_recv_queue_size(size); });
}

doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server, uint32_t *size)
{
    return call({comch_server, size}, [&] { *size = comch_server->recv_queue_size; });
}

doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client, uint32_t *size)
{
    return call({comch_client, size}, [&] { *size = comch_client->recv_queue_size; });
}

doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server, struct doca_dev **dev)
{
    return call({comch_server, dev}, [&] { *dev = comch_server->device(); });
}

doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client, struct doca_dev **dev)
{
    return call({comch_client, dev}, [&] { *dev = comch_client->device(); });
}

doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server, struct doca_dev_rep **rep)
{
    return call({comch_server, rep}, [&] { *rep = comch_server->representor; });
}

doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server,
                                          struct doca_comch_connection *connection)
{
    return call({comch_server, connection}, [&] { return comch_server->disconnect(*connection); });
}

doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
                                              struct doca_comch_connection **connection)
{
    return call({comch_client, connection}, [&] {
        if (!comch_client->is_running()) {
            LOG_ERR("the client is not running: it has no connection");
            return DOCA_ERROR_BAD_STATE;
        }
        *connection = comch_client->server();
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection, union doca_data user_data)
{
    return call({connection}, [&] { connection->user_data = user_data; });
}

union doca_data doca_comch_connection_get_user_data(const struct doca_comch_connection *connection)
{
    return read_from(connection, [&] { return connection->user_data; });
}

struct doca_comch_server *doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection)
{
    // Null if the connection belongs to a client.
    return read_from(connection, [&] { return dynamic_cast<doca_comch_server *>(&connection->control); });
}

struct doca_comch_client *doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection)
{
    return read_from(connection, [&] { return dynamic_cast<doca_comch_client *>(&connection->control); });
}

doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *comch_connection)
{
    return call({comch_connection}, [&] {
        using State = doca_comch_connection::Link::State;
        const State state = comch_connection->link.state();
        if (state == State::connecting)
            return DOCA_ERROR_CONNECTION_INPROGRESS;
        if (state != State::connected)
            return DOCA_ERROR_CONNECTION_ABORTED;
        const std::lock_guard guard(comch_connection->fast->link_lock);
        comch_connection->link.update_counters();
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_comch_connection_get_counter(const struct doca_comch_connection *comch_connection,
                                               enum doca_comch_counter counter_type, uint64_t *counter_value)
{
    return call({comch_connection, counter_value}, [&] {
        const auto &counters = comch_connection->link.counters;
        switch (counter_type) {
        case DOCA_COMCH_COUNTER_SENT_MESSAGES:
            *counter_value = counters.send_messages;
            return DOCA_SUCCESS;
        case DOCA_COMCH_COUNTER_SENT_BYTES:
            *counter_value = counters.send_bytes;
            return DOCA_SUCCESS;
        case DOCA_COMCH_COUNTER_RECV_MESSAGES:
            *counter_value = counters.recv_messages;
            return DOCA_SUCCESS;
        case DOCA_COMCH_COUNTER_RECV_BYTES:
            *counter_value = counters.recv_bytes;
            return DOCA_SUCCESS;
        }
        LOG_ERR("counter %d does not exist", static_cast<int>(counter_type));
        return DOCA_ERROR_INVALID_VALUE;
    });
}

doca_error_t doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server,
                                                  doca_comch_task_send_completion_cb_t task_completion_cb,
                                                  doca_comch_task_send_completion_cb_t task_error_cb,
                                                  uint32_t num_send_tasks)
{
    return configure_sends(comch_server, task_completion_cb, task_error_cb, num_send_tasks);
}

doca_error_t doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
                                                  doca_comch_task_send_completion_cb_t task_completion_cb,
                                                  doca_comch_task_send_completion_cb_t task_error_cb,
                                                  uint32_t num_send_tasks)
{
    return configure_sends(comch_client, task_completion_cb, task_error_cb, num_send_tasks);
}

doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server,
                                                    struct doca_comch_connection *peer, const void *msg, uint32_t len,
                                                    struct doca_comch_task_send **task)
{
    return alloc_send(comch_server, peer, msg, len, task);
}

doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
                                                    struct doca_comch_connection *peer, const void *msg, uint32_t len,
                                                    struct doca_comch_task_send **task)
{
    return alloc_send(comch_client, peer, msg, len, task);
}

struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task)
{
    return task;
}

doca_error_t doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
                                                       doca_comch_event_msg_recv_cb_t recv_event_cb)
{
    return register_callbacks(comch_server, recv_event_cb != nullptr,
                              [&] { comch_server->set_received(recv_event_cb); });
}

doca_error_t doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
                                                       doca_comch_event_msg_recv_cb_t recv_event_cb)
{
    return register_callbacks(comch_client, recv_event_cb != nullptr,
                              [&] { comch_client->set_received(recv_event_cb); });
}

doca_error_t doca_comch_server_event_connection_status_changed_register(
    struct doca_comch_server *comch_server, doca_comch_event_connection_status_changed_cb_t connect_event_cb,
    doca_comch_event_connection_status_changed_cb_t disconnect_event_cb)
{
    return register_callbacks(comch_server, connect_event_cb != nullptr && disconnect_event_cb != nullptr, [&] {
        comch_server->connected = connect_event_cb;
        comch_server->disconnected = disconnect_event_cb;
    });
}

doca_error_t doca_comch_server_event_consumer_register(struct doca_comch_server *comch_server,
                                                       doca_comch_event_consumer_cb_t new_consumer_event_cb,
                                                       doca_comch_event_consumer_cb_t expired_consumer_event_cb)
{
    return register_consumer_events(comch_server, new_consumer_event_cb, expired_consumer_event_cb);
}

doca_error_t doca_comch_client_event_consumer_register(struct doca_comch_client *comch_client,
                                                       doca_comch_event_consumer_cb_t new_consumer_event_cb,
                                                       doca_comch_event_consumer_cb_t expired_consumer_event_cb)
{
    return register_consumer_events(comch_client, new_consumer_event_cb, expired_consumer_event_cb);
}
