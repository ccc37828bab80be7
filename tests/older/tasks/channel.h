// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Names of the messages by a progress engine: doca_cc in 2.5 and 2.6, doca_comch from 2.7 on. A program of one release
// has them spelled out.
#ifndef CHANNEL_H_
#define CHANNEL_H_

#if DOCA_API < 20700
#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>
#else
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#endif

#include "engine.h"

#if DOCA_API == 20500
#define SIZE size_t
#define IS_SUCCESSFUL bool
#define LOG2_OR_NUMBER(log2) (log2)
#define TASK_SEND doca_cc_send_task
#define POST_RECV doca_cc_consumer_post_recv_task
#define PRODUCER_SEND doca_cc_producer_send_task
#define server_send_set_conf doca_cc_server_send_task_set_conf
#define client_send_set_conf doca_cc_client_send_task_set_conf
#define server_send_alloc_init doca_cc_server_send_task_alloc_init
#define client_send_alloc_init doca_cc_client_send_task_alloc_init
#define send_as_task doca_cc_send_task_as_task
#define post_recv_set_conf doca_cc_consumer_post_recv_task_set_conf
#define post_recv_alloc_init doca_cc_consumer_post_recv_task_alloc_init
#define post_recv_as_task doca_cc_consumer_post_recv_task_as_task
#define post_recv_get_buf doca_cc_consumer_post_recv_task_get_buf
#define producer_send_set_conf doca_cc_producer_send_task_set_conf
#define producer_send_alloc_init doca_cc_producer_send_task_alloc_init
#define producer_send_as_task doca_cc_producer_send_task_as_task
#define producer_send_get_consumer_id doca_cc_producer_send_task_get_consumer_id
#define consumer_is_supported doca_cc_cap_is_consumer_supported
#define producer_is_supported doca_cc_cap_is_producer_supported
#elif DOCA_API == 20600
#define SIZE uint32_t
#define IS_SUCCESSFUL uint8_t
#define LOG2_OR_NUMBER(log2) (1 << (log2))
#define TASK_SEND doca_cc_task_send
#define POST_RECV doca_cc_consumer_task_post_recv
#define PRODUCER_SEND doca_cc_producer_task_send
#define server_send_set_conf doca_cc_server_task_send_set_conf
#define client_send_set_conf doca_cc_client_task_send_set_conf
#define server_send_alloc_init doca_cc_server_task_send_alloc_init
#define client_send_alloc_init doca_cc_client_task_send_alloc_init
#define send_as_task doca_cc_task_send_as_task
#define post_recv_set_conf doca_cc_consumer_task_post_recv_set_conf
#define post_recv_alloc_init doca_cc_consumer_task_post_recv_alloc_init
#define post_recv_as_task doca_cc_consumer_task_post_recv_as_task
#define post_recv_get_buf doca_cc_consumer_task_post_recv_get_buf
#define producer_send_set_conf doca_cc_producer_task_send_set_conf
#define producer_send_alloc_init doca_cc_producer_task_send_alloc_init
#define producer_send_as_task doca_cc_producer_task_send_as_task
#define producer_send_get_consumer_id doca_cc_producer_task_send_get_consumer_id
#define consumer_is_supported doca_cc_consumer_cap_is_supported
#define producer_is_supported doca_cc_producer_cap_is_supported
#else
#define SIZE uint32_t
#define IS_SUCCESSFUL uint8_t
#define LOG2_OR_NUMBER(log2) (1 << (log2))
#define doca_cc_server doca_comch_server
#define doca_cc_client doca_comch_client
#define doca_cc_connection doca_comch_connection
#define doca_cc_consumer doca_comch_consumer
#define doca_cc_producer doca_comch_producer
#define doca_cc_event_msg_recv doca_comch_event_msg_recv
#define doca_cc_event_connection_status_changed doca_comch_event_connection_status_changed
#define doca_cc_event_consumer doca_comch_event_consumer
#define doca_cc_cap_server_is_supported doca_comch_cap_server_is_supported
#define doca_cc_cap_client_is_supported doca_comch_cap_client_is_supported
#define doca_cc_cap_get_max_msg_size doca_comch_cap_get_max_msg_size
#define doca_cc_server_create doca_comch_server_create
#define doca_cc_client_create doca_comch_client_create
#define doca_cc_server_destroy doca_comch_server_destroy
#define doca_cc_client_destroy doca_comch_client_destroy
#define doca_cc_server_as_ctx doca_comch_server_as_ctx
#define doca_cc_client_as_ctx doca_comch_client_as_ctx
#define doca_cc_server_set_max_msg_size doca_comch_server_set_max_msg_size
#define doca_cc_server_get_max_msg_size doca_comch_server_get_max_msg_size
#define doca_cc_client_set_recv_queue_size doca_comch_client_set_recv_queue_size
#define doca_cc_client_get_recv_queue_size doca_comch_client_get_recv_queue_size
#define doca_cc_server_event_msg_recv_register doca_comch_server_event_msg_recv_register
#define doca_cc_client_event_msg_recv_register doca_comch_client_event_msg_recv_register
#define doca_cc_server_event_connection_register doca_comch_server_event_connection_register
#define doca_cc_server_event_consumer_register doca_comch_server_event_consumer_register
#define doca_cc_server_get_device_repr doca_comch_server_get_device_repr
#define doca_cc_client_get_connection doca_comch_client_get_connection
#define doca_cc_server_get_server_ctx doca_comch_server_get_server_ctx
#define doca_cc_connection_update_info doca_comch_connection_update_info
#define doca_cc_connection_get_counter doca_comch_connection_get_counter
#define DOCA_CC_COUNTER_RECV_MESSAGES DOCA_COMCH_COUNTER_RECV_MESSAGES
#define doca_cc_consumer_create doca_comch_consumer_create
#define doca_cc_consumer_destroy doca_comch_consumer_destroy
#define doca_cc_consumer_as_ctx doca_comch_consumer_as_ctx
#define doca_cc_producer_create doca_comch_producer_create
#define doca_cc_producer_destroy doca_comch_producer_destroy
#define doca_cc_producer_as_ctx doca_comch_producer_as_ctx
#define TASK_SEND doca_comch_task_send
#define POST_RECV doca_comch_consumer_task_post_recv
#define PRODUCER_SEND doca_comch_producer_task_send
#define server_send_set_conf doca_comch_server_task_send_set_conf
#define client_send_set_conf doca_comch_client_task_send_set_conf
#define server_send_alloc_init doca_comch_server_task_send_alloc_init
#define client_send_alloc_init doca_comch_client_task_send_alloc_init
#define send_as_task doca_comch_task_send_as_task
#define post_recv_set_conf doca_comch_consumer_task_post_recv_set_conf
#define post_recv_alloc_init doca_comch_consumer_task_post_recv_alloc_init
#define post_recv_as_task doca_comch_consumer_task_post_recv_as_task
#define post_recv_get_buf doca_comch_consumer_task_post_recv_get_buf
#define producer_send_set_conf doca_comch_producer_task_send_set_conf
#define producer_send_alloc_init(producer, buf, consumer, task)                                                        \
    doca_comch_producer_task_send_alloc_init(producer, buf, NULL, 0, consumer, task)
#define producer_send_as_task doca_comch_producer_task_send_as_task
#define producer_send_get_consumer_id doca_comch_producer_task_send_get_consumer_id
#define consumer_is_supported doca_comch_consumer_cap_is_supported
#define producer_is_supported doca_comch_producer_cap_is_supported
#endif

static inline void sent(struct TASK_SEND *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data;
    (void)ctx_data;
    WORKS(doca_task_get_status(send_as_task(task)));
    doca_task_free(send_as_task(task));
}

#endif
