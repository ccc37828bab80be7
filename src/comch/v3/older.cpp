// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comch as programs of DOCA 2.5 and 2.6 have it, by the name doca_cc: the private symbols that doca_cc.h,
// doca_cc_consumer.h and doca_cc_producer.h bind to where 3.0 has another signature. They stay part of the ABI. In 2.5
// sizes are size_t and numbers of tasks powers of two; both releases have no immediate data.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "control.hpp"

OPENDOCA_LOG_SOURCE(DOCA_OLDER_COMCH);

using opendoca::comch::Control;
using opendoca::v3::call;

using ReceivedCallback = decltype(Control::received_2_5);

extern "C" {

DOCA_EXPERIMENTAL doca_error_t opendoca_cc_cap_get_max_msg_size_2_5(const struct doca_devinfo *devinfo, size_t *size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_cap_get_max_recv_queue_size_2_5(const struct doca_devinfo *devinfo,
                                                                           size_t *size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_cap_get_max_clients_2_5(const struct doca_devinfo *devinfo,
                                                                   size_t *num_clients);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_cap_get_max_send_tasks_2_5(const struct doca_devinfo *devinfo,
                                                                      size_t *max_send_tasks);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_consumer_cap_get_max_buf_size_2_5(const struct doca_devinfo *devinfo,
                                                                             size_t *max_buf_size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_producer_cap_get_max_buf_size_2_5(const struct doca_devinfo *devinfo,
                                                                             size_t *max_buf_size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_consumer_cap_get_max_log_num_tasks_2_5(const struct doca_devinfo *devinfo,
                                                                                  size_t *max_log_num_tasks);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_producer_cap_get_max_log_num_tasks_2_5(const struct doca_devinfo *devinfo,
                                                                                  size_t *max_log_num_tasks);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_server_set_max_msg_size_2_5(struct doca_comch_server *server, size_t size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_client_set_max_msg_size_2_5(struct doca_comch_client *client, size_t size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_server_set_recv_queue_size_2_5(struct doca_comch_server *server,
                                                                          size_t size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_client_set_recv_queue_size_2_5(struct doca_comch_client *client,
                                                                          size_t size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_server_get_max_msg_size_2_5(const struct doca_comch_server *server,
                                                                       size_t *size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_client_get_max_msg_size_2_5(const struct doca_comch_client *client,
                                                                       size_t *size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_server_get_recv_queue_size_2_5(const struct doca_comch_server *server,
                                                                          size_t *size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_client_get_recv_queue_size_2_5(const struct doca_comch_client *client,
                                                                          size_t *size);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_server_send_task_set_conf_2_5(
    struct doca_comch_server *server, doca_comch_task_send_completion_cb_t task_completion_cb,
    doca_comch_task_send_completion_cb_t task_error_cb, uint8_t log_num_tasks);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_client_send_task_set_conf_2_5(
    struct doca_comch_client *client, doca_comch_task_send_completion_cb_t task_completion_cb,
    doca_comch_task_send_completion_cb_t task_error_cb, uint8_t log_num_tasks);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_consumer_post_recv_task_set_conf_2_5(
    struct doca_comch_consumer *consumer, doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
    doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, size_t log_num_tasks);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_producer_send_task_set_conf_2_5(
    struct doca_comch_producer *producer, doca_comch_producer_task_send_completion_cb_t task_completion_cb,
    doca_comch_producer_task_send_completion_cb_t task_error_cb, size_t log_num_tasks);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_server_send_task_alloc_init_2_5(struct doca_comch_server *server,
                                                                           struct doca_comch_connection *peer,
                                                                           const void *msg, size_t len,
                                                                           struct doca_comch_task_send **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_client_send_task_alloc_init_2_5(struct doca_comch_client *client,
                                                                           struct doca_comch_connection *peer,
                                                                           const void *msg, size_t len,
                                                                           struct doca_comch_task_send **task);
DOCA_EXPERIMENTAL doca_error_t
opendoca_cc_producer_send_task_alloc_init_2_5(struct doca_comch_producer *producer, struct doca_buf *buf,
                                              int consumer_id, struct doca_comch_producer_task_send **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_server_event_msg_recv_register_2_5(struct doca_comch_server *server,
                                                                              ReceivedCallback recv_event_cb);
DOCA_EXPERIMENTAL doca_error_t opendoca_cc_client_event_msg_recv_register_2_5(struct doca_comch_client *client,
                                                                              ReceivedCallback recv_event_cb);
DOCA_EXPERIMENTAL doca_error_t
opendoca_cc_producer_task_send_alloc_init_2_6(struct doca_comch_producer *producer, struct doca_buf *buf,
                                              uint32_t consumer_id, struct doca_comch_producer_task_send **task);

} // extern "C"

namespace {

/// Returns a number of 3.0, which has 32 bits, as a size.
template <typename Object>
doca_error_t get_size(doca_error_t (*get)(const Object *, std::uint32_t *), const Object *object, std::size_t *size,
                      const char *function)
{
    const auto read = [&] {
        std::uint32_t value = 0;
        const doca_error_t status = get(object, &value);
        if (status == DOCA_SUCCESS)
            *size = value;
        return status;
    };
    return call({object, size}, read, function);
}

/// Returns the largest power of two that is not above a number of 3.0, as its exponent.
doca_error_t get_log2(doca_error_t (*get)(const doca_devinfo *, std::uint32_t *), const doca_devinfo *devinfo,
                      std::size_t *exponent, const char *function)
{
    const auto read = [&] {
        std::uint32_t value = 0;
        const doca_error_t status = get(devinfo, &value);
        if (status == DOCA_SUCCESS)
            *exponent = value == 0 ? 0 : static_cast<std::size_t>(std::bit_width(value)) - 1;
        return status;
    };
    return call({devinfo, exponent}, read, function);
}

template <typename Object>
doca_error_t set_size(doca_error_t (*set)(Object *, std::uint32_t), Object *object, std::size_t size,
                      const char *function)
{
    if (size > std::numeric_limits<std::uint32_t>::max()) {
        LOG_ERR("%s: %zu is above %u", function, size, std::numeric_limits<std::uint32_t>::max());
        return DOCA_ERROR_INVALID_VALUE;
    }
    return set(object, static_cast<std::uint32_t>(size));
}

template <typename Object, typename Callback>
doca_error_t set_conf(doca_error_t (*set)(Object *, Callback, Callback, std::uint32_t), Object *object,
                      Callback succeeded, Callback failed, std::size_t log_num_tasks, const char *function)
{
    constexpr std::size_t largest = 31;
    if (log_num_tasks > largest) {
        LOG_ERR("%s: log_num_tasks is %zu, and %zu at most", function, log_num_tasks, largest);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return set(object, succeeded, failed, 1U << log_num_tasks);
}

template <typename Object>
doca_error_t alloc_send(doca_error_t (*alloc)(Object *, doca_comch_connection *, const void *, std::uint32_t,
                                              doca_comch_task_send **),
                        Object *object, doca_comch_connection *peer, const void *msg, std::size_t len,
                        doca_comch_task_send **task, const char *function)
{
    if (len > std::numeric_limits<std::uint32_t>::max()) {
        LOG_ERR("%s: a message of %zu bytes is above the limit of every device", function, len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return alloc(object, peer, msg, static_cast<std::uint32_t>(len), task);
}

doca_error_t register_callback(Control *control, ReceivedCallback callback, const char *function)
{
    const auto set = [&] {
        if (callback == nullptr) {
            LOG_ERR("a callback is NULL");
            return DOCA_ERROR_INVALID_VALUE;
        }
        const doca_error_t status = control->check_idle(DOCA_ERROR_BAD_STATE);
        if (status == DOCA_SUCCESS) {
            control->received = nullptr;
            control->received_2_5 = callback;
        }
        return status;
    };
    return call({control}, set, function);
}

} // namespace

doca_error_t opendoca_cc_cap_get_max_msg_size_2_5(const struct doca_devinfo *devinfo, size_t *size)
{
    return get_size(doca_comch_cap_get_max_msg_size, devinfo, size, "doca_cc_cap_get_max_msg_size");
}

doca_error_t opendoca_cc_cap_get_max_recv_queue_size_2_5(const struct doca_devinfo *devinfo, size_t *size)
{
    return get_size(doca_comch_cap_get_max_recv_queue_size, devinfo, size, "doca_cc_cap_get_max_recv_queue_size");
}

doca_error_t opendoca_cc_cap_get_max_clients_2_5(const struct doca_devinfo *devinfo, size_t *num_clients)
{
    return get_size(doca_comch_cap_get_max_clients, devinfo, num_clients, "doca_cc_cap_get_max_clients");
}

doca_error_t opendoca_cc_cap_get_max_send_tasks_2_5(const struct doca_devinfo *devinfo, size_t *max_send_tasks)
{
    return get_size(doca_comch_cap_get_max_send_tasks, devinfo, max_send_tasks, "doca_cc_cap_get_max_send_tasks");
}

doca_error_t opendoca_cc_consumer_cap_get_max_buf_size_2_5(const struct doca_devinfo *devinfo, size_t *max_buf_size)
{
    return get_size(doca_comch_consumer_cap_get_max_buf_size, devinfo, max_buf_size,
                    "doca_cc_consumer_cap_get_max_buf_size");
}

doca_error_t opendoca_cc_producer_cap_get_max_buf_size_2_5(const struct doca_devinfo *devinfo, size_t *max_buf_size)
{
    return get_size(doca_comch_producer_cap_get_max_buf_size, devinfo, max_buf_size,
                    "doca_cc_producer_cap_get_max_buf_size");
}

doca_error_t opendoca_cc_consumer_cap_get_max_log_num_tasks_2_5(const struct doca_devinfo *devinfo,
                                                                size_t *max_log_num_tasks)
{
    return get_log2(doca_comch_consumer_cap_get_max_num_tasks, devinfo, max_log_num_tasks,
                    "doca_cc_consumer_cap_get_max_log_num_tasks");
}

doca_error_t opendoca_cc_producer_cap_get_max_log_num_tasks_2_5(const struct doca_devinfo *devinfo,
                                                                size_t *max_log_num_tasks)
{
    return get_log2(doca_comch_producer_cap_get_max_num_tasks, devinfo, max_log_num_tasks,
                    "doca_cc_producer_cap_get_max_log_num_tasks");
}

doca_error_t opendoca_cc_server_set_max_msg_size_2_5(struct doca_comch_server *server, size_t size)
{
    return set_size(doca_comch_server_set_max_msg_size, server, size, "doca_cc_server_set_max_msg_size");
}

doca_error_t opendoca_cc_client_set_max_msg_size_2_5(struct doca_comch_client *client, size_t size)
{
    return set_size(doca_comch_client_set_max_msg_size, client, size, "doca_cc_client_set_max_msg_size");
}

doca_error_t opendoca_cc_server_set_recv_queue_size_2_5(struct doca_comch_server *server, size_t size)
{
    return set_size(doca_comch_server_set_recv_queue_size, server, size, "doca_cc_server_set_recv_queue_size");
}

doca_error_t opendoca_cc_client_set_recv_queue_size_2_5(struct doca_comch_client *client, size_t size)
{
    return set_size(doca_comch_client_set_recv_queue_size, client, size, "doca_cc_client_set_recv_queue_size");
}

doca_error_t opendoca_cc_server_get_max_msg_size_2_5(const struct doca_comch_server *server, size_t *size)
{
    return get_size(doca_comch_server_get_max_msg_size, server, size, "doca_cc_server_get_max_msg_size");
}

doca_error_t opendoca_cc_client_get_max_msg_size_2_5(const struct doca_comch_client *client, size_t *size)
{
    return get_size(doca_comch_client_get_max_msg_size, client, size, "doca_cc_client_get_max_msg_size");
}

doca_error_t opendoca_cc_server_get_recv_queue_size_2_5(const struct doca_comch_server *server, size_t *size)
{
    return get_size(doca_comch_server_get_recv_queue_size, server, size, "doca_cc_server_get_recv_queue_size");
}

doca_error_t opendoca_cc_client_get_recv_queue_size_2_5(const struct doca_comch_client *client, size_t *size)
{
    return get_size(doca_comch_client_get_recv_queue_size, client, size, "doca_cc_client_get_recv_queue_size");
}

doca_error_t opendoca_cc_server_send_task_set_conf_2_5(struct doca_comch_server *server,
                                                       doca_comch_task_send_completion_cb_t task_completion_cb,
                                                       doca_comch_task_send_completion_cb_t task_error_cb,
                                                       uint8_t log_num_tasks)
{
    return set_conf(doca_comch_server_task_send_set_conf, server, task_completion_cb, task_error_cb, log_num_tasks,
                    "doca_cc_server_send_task_set_conf");
}

doca_error_t opendoca_cc_client_send_task_set_conf_2_5(struct doca_comch_client *client,
                                                       doca_comch_task_send_completion_cb_t task_completion_cb,
                                                       doca_comch_task_send_completion_cb_t task_error_cb,
                                                       uint8_t log_num_tasks)
{
    return set_conf(doca_comch_client_task_send_set_conf, client, task_completion_cb, task_error_cb, log_num_tasks,
                    "doca_cc_client_send_task_set_conf");
}

doca_error_t opendoca_cc_consumer_post_recv_task_set_conf_2_5(
    struct doca_comch_consumer *consumer, doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
    doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, size_t log_num_tasks)
{
    return set_conf(doca_comch_consumer_task_post_recv_set_conf, consumer, task_completion_cb, task_error_cb,
                    log_num_tasks, "doca_cc_consumer_post_recv_task_set_conf");
}

doca_error_t opendoca_cc_producer_send_task_set_conf_2_5(
    struct doca_comch_producer *producer, doca_comch_producer_task_send_completion_cb_t task_completion_cb,
    doca_comch_producer_task_send_completion_cb_t task_error_cb, size_t log_num_tasks)
{
    return set_conf(doca_comch_producer_task_send_set_conf, producer, task_completion_cb, task_error_cb, log_num_tasks,
                    "doca_cc_producer_send_task_set_conf");
}

doca_error_t opendoca_cc_server_send_task_alloc_init_2_5(struct doca_comch_server *server,
                                                         struct doca_comch_connection *peer, const void *msg,
                                                         size_t len, struct doca_comch_task_send **task)
{
    return alloc_send(doca_comch_server_task_send_alloc_init, server, peer, msg, len, task,
                      "doca_cc_server_send_task_alloc_init");
}

doca_error_t opendoca_cc_client_send_task_alloc_init_2_5(struct doca_comch_client *client,
                                                         struct doca_comch_connection *peer, const void *msg,
                                                         size_t len, struct doca_comch_task_send **task)
{
    return alloc_send(doca_comch_client_task_send_alloc_init, client, peer, msg, len, task,
                      "doca_cc_client_send_task_alloc_init");
}

doca_error_t opendoca_cc_producer_send_task_alloc_init_2_5(struct doca_comch_producer *producer, struct doca_buf *buf,
                                                           int consumer_id, struct doca_comch_producer_task_send **task)
{
    return doca_comch_producer_task_send_alloc_init(producer, buf, nullptr, 0, static_cast<std::uint32_t>(consumer_id),
                                                    task);
}

doca_error_t opendoca_cc_server_event_msg_recv_register_2_5(struct doca_comch_server *server,
                                                            ReceivedCallback recv_event_cb)
{
    return register_callback(server, recv_event_cb, "doca_cc_server_event_msg_recv_register");
}

doca_error_t opendoca_cc_client_event_msg_recv_register_2_5(struct doca_comch_client *client,
                                                            ReceivedCallback recv_event_cb)
{
    return register_callback(client, recv_event_cb, "doca_cc_client_event_msg_recv_register");
}

doca_error_t opendoca_cc_producer_task_send_alloc_init_2_6(struct doca_comch_producer *producer, struct doca_buf *buf,
                                                           uint32_t consumer_id,
                                                           struct doca_comch_producer_task_send **task)
{
    return doca_comch_producer_task_send_alloc_init(producer, buf, nullptr, 0, consumer_id, task);
}
