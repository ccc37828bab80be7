// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What doca_cc of 2.5 does with sizes of 64 bits and with powers of two, which 3.0 does not have: capabilities, limits,
// and what is refused.
#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>

#include "engine.h"

#define TOO_LARGE ((size_t)1 << 32)

static void sent(struct doca_cc_send_task *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task;
    (void)task_data;
    (void)ctx_data;
}

static void check_capabilities(const struct doca_devinfo *devinfo)
{
    size_t size = 0;
    WORKS(doca_cc_cap_get_max_msg_size(devinfo, &size));
    CHECK(size == 4080);
    WORKS(doca_cc_cap_get_max_recv_queue_size(devinfo, &size));
    CHECK(size == 8192);
    WORKS(doca_cc_cap_get_max_clients(devinfo, &size));
    CHECK(size > 0 && size < TOO_LARGE);
    WORKS(doca_cc_cap_get_max_send_tasks(devinfo, &size));
    CHECK(size == 8192);
    WORKS(doca_cc_consumer_cap_get_max_log_num_tasks(devinfo, &size));
    CHECK(size == 14);
    WORKS(doca_cc_producer_cap_get_max_log_num_tasks(devinfo, &size));
    CHECK(size == 14);
    WORKS(doca_cc_consumer_cap_get_max_buf_size(devinfo, &size));
    CHECK(size > 0 && size < TOO_LARGE);
    WORKS(doca_cc_producer_cap_get_max_buf_size(devinfo, &size));
    CHECK(size > 0 && size < TOO_LARGE);
    GIVES(doca_cc_cap_get_max_msg_size(NULL, &size), DOCA_ERROR_INVALID_VALUE);
    GIVES(doca_cc_cap_get_max_msg_size(devinfo, NULL), DOCA_ERROR_INVALID_VALUE);
    GIVES(doca_cc_consumer_cap_get_max_log_num_tasks(devinfo, NULL), DOCA_ERROR_INVALID_VALUE);
}

static void check_server(struct doca_dev *dev, struct doca_dev_rep *rep)
{
    struct doca_cc_server *server;
    size_t size = 0;
    WORKS(doca_cc_server_create(dev, rep, "limits", &server));
    WORKS(doca_cc_server_set_max_msg_size(server, 100));
    GIVES(doca_cc_server_set_max_msg_size(server, TOO_LARGE + 100), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_cc_server_get_max_msg_size(server, &size));
    CHECK(size == 100);
    WORKS(doca_cc_server_set_recv_queue_size(server, 64));
    GIVES(doca_cc_server_set_recv_queue_size(server, TOO_LARGE + 32), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_cc_server_get_recv_queue_size(server, &size));
    CHECK(size == 64);
    WORKS(doca_cc_server_send_task_set_conf(server, sent, sent, 13));
    GIVES(doca_cc_server_send_task_set_conf(server, sent, sent, 14), DOCA_ERROR_INVALID_VALUE); // above the limit
    GIVES(doca_cc_server_send_task_set_conf(server, sent, sent, 32), DOCA_ERROR_INVALID_VALUE); // no number of 32 bits
    GIVES(doca_cc_server_event_msg_recv_register(server, NULL), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_cc_server_destroy(server));
}

static void check_client(struct doca_dev *dev)
{
    struct doca_cc_connection *const not_looked_at = (struct doca_cc_connection *)&dev;
    struct doca_cc_send_task *task = NULL;
    struct doca_cc_client *client;
    WORKS(doca_cc_client_create(dev, "limits", &client));
    GIVES(doca_cc_client_set_max_msg_size(client, TOO_LARGE), DOCA_ERROR_INVALID_VALUE);
    GIVES(doca_cc_client_send_task_alloc_init(client, not_looked_at, "", TOO_LARGE + 1, &task),
          DOCA_ERROR_INVALID_VALUE);
    GIVES(doca_cc_client_event_msg_recv_register(client, NULL), DOCA_ERROR_INVALID_VALUE);
    CHECK(task == NULL);
    WORKS(doca_cc_client_destroy(client));
}

int main(void)
{
    struct doca_dev *dev = open_device(doca_cc_cap_server_is_supported, "03:00.0");
    struct doca_dev *host = open_device(doca_cc_cap_client_is_supported, "0b:00.0");
    struct doca_dev_rep *rep = open_representor(dev);
    check_capabilities(doca_dev_as_devinfo(dev));
    check_server(dev, rep);
    check_client(host);
    WORKS(doca_dev_rep_close(rep));
    WORKS(doca_dev_close(dev));
    WORKS(doca_dev_close(host));
    return 0;
}
