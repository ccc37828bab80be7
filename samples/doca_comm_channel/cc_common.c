// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "cc_common.h"

#include <doca_log.h>

#include "../common.h"
#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::CC_COMMON);

/* Waits until the endpoint may have something to receive, which is also when a connection is made or lost. */
static doca_error_t await_recv(struct cc_end *end)
{
    doca_event_channel_t channel;
    doca_error_t result;

    result = doca_comm_channel_ep_get_event_channel(end->ep, NULL, &channel);
    if (result == DOCA_SUCCESS)
        result = doca_comm_channel_ep_event_handle_arm_recv(end->ep);
    return result == DOCA_SUCCESS ? await_handle(channel) : result;
}

/* Waits until there may be room to send. */
static doca_error_t await_send(struct cc_end *end)
{
    doca_event_channel_t channel;
    doca_error_t result;

    result = doca_comm_channel_ep_get_event_channel(end->ep, &channel, NULL);
    if (result == DOCA_SUCCESS)
        result = doca_comm_channel_ep_event_handle_arm_send(end->ep);
    return result == DOCA_SUCCESS ? await_handle(channel) : result;
}

static doca_error_t create_endpoint(struct cc_end *end, struct doca_dev *dev)
{
    doca_error_t result;

    end->dev = dev;
    result = doca_comm_channel_ep_create(&end->ep);
    if (result == DOCA_SUCCESS)
        result = doca_comm_channel_ep_set_device(end->ep, dev);
    if (result == DOCA_SUCCESS)
        result = doca_comm_channel_ep_set_max_msg_size(end->ep, CC_MAX_MSG_SIZE);
    if (result == DOCA_SUCCESS)
        result = doca_comm_channel_ep_set_send_queue_size(end->ep, CC_QUEUE_SIZE);
    if (result == DOCA_SUCCESS)
        result = doca_comm_channel_ep_set_recv_queue_size(end->ep, CC_QUEUE_SIZE);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Comm Channel cannot be set up: %s", doca_get_error_string(result));
    return result;
}

static doca_error_t open_representor(struct doca_dev *dev, const char *pci_addr, struct doca_dev_rep **rep)
{
    struct doca_devinfo_rep **reps = NULL;
    uint32_t num_reps = 0;
    doca_error_t result;

    result = doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_NET, &reps, &num_reps);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The representors cannot be listed: %s", doca_get_error_string(result));
        return result;
    }
    result = DOCA_ERROR_NOT_FOUND;
    for (uint32_t i = 0; i < num_reps && result == DOCA_ERROR_NOT_FOUND; i++) {
        uint8_t is_equal = 0;

        if (doca_devinfo_rep_get_is_pci_addr_equal(reps[i], pci_addr, &is_equal) == DOCA_SUCCESS && is_equal != 0)
            result = doca_dev_rep_open(reps[i], rep);
    }
    (void)doca_devinfo_rep_list_destroy(reps);
    if (result == DOCA_ERROR_NOT_FOUND)
        DOCA_LOG_ERR("The device has no representor of a function at '%s'; choose another one with -r", pci_addr);
    else if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The representor cannot be opened: %s", doca_get_error_string(result));
    return result;
}

doca_error_t cc_listen(struct cc_end *end, struct doca_dev *dev, const char *rep_pci_addr, const char *service)
{
    doca_error_t result;

    result = create_endpoint(end, dev);
    if (result == DOCA_SUCCESS)
        result = open_representor(dev, rep_pci_addr, &end->rep);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_comm_channel_ep_set_device_rep(end->ep, end->rep);
    if (result == DOCA_SUCCESS)
        result = doca_comm_channel_ep_listen(end->ep, service);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The service '%s' cannot listen: %s", service, doca_get_error_string(result));
        return result;
    }
    DOCA_LOG_INFO("The service '%s' listens for the host's function at %s", service, rep_pci_addr);
    return DOCA_SUCCESS;
}

doca_error_t cc_connect(struct cc_end *end, struct doca_dev *dev, const char *service)
{
    doca_error_t result;

    result = create_endpoint(end, dev);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_comm_channel_ep_connect(end->ep, service, &end->peer);
    while (result == DOCA_SUCCESS) {
        result = doca_comm_channel_peer_addr_update_info(end->peer);
        if (result != DOCA_ERROR_CONNECTION_INPROGRESS)
            break;
        result = await_recv(end);
    }
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Cannot connect to the service '%s': %s; does it listen on the DPU?", service,
                     doca_get_error_string(result));
        return result;
    }
    DOCA_LOG_INFO("Connected to the service '%s'", service);
    return DOCA_SUCCESS;
}

doca_error_t cc_send(struct cc_end *end, const void *message, size_t len)
{
    doca_error_t result;

    while ((result = doca_comm_channel_ep_sendto(end->ep, message, len, DOCA_CC_MSG_FLAG_NONE, end->peer)) ==
           DOCA_ERROR_AGAIN) {
        result = await_send(end);
        if (result != DOCA_SUCCESS)
            break;
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("A message of %zu bytes cannot be sent: %s", len, doca_get_error_string(result));
    return result;
}

doca_error_t cc_receive(struct cc_end *end, void *message, size_t *len)
{
    const size_t room = *len;
    struct doca_comm_channel_addr_t *from = NULL;
    doca_error_t result;

    for (;;) {
        *len = room;
        result = doca_comm_channel_ep_recvfrom(end->ep, message, len, DOCA_CC_MSG_FLAG_NONE, &from);
        if (result == DOCA_SUCCESS && end->peer == NULL)
            end->peer = from;
        if (result == DOCA_SUCCESS && from == end->peer)
            return DOCA_SUCCESS;
        if (result == DOCA_SUCCESS) {
            DOCA_LOG_WARN("Another client has sent a message, and is not answered");
            continue;
        }
        if (result != DOCA_ERROR_AGAIN) {
            DOCA_LOG_ERR("No message can be received: %s", doca_get_error_string(result));
            return result;
        }
        /* To a service, a client that disconnects is no error; this one's is the end. */
        if (end->peer != NULL && doca_comm_channel_peer_addr_update_info(end->peer) == DOCA_ERROR_CONNECTION_ABORTED) {
            DOCA_LOG_ERR("The other side has ended the connection");
            return DOCA_ERROR_CONNECTION_RESET;
        }
        result = await_recv(end);
        if (result != DOCA_SUCCESS)
            return result;
    }
}

doca_error_t cc_close(struct cc_end *end)
{
    doca_error_t result = DOCA_SUCCESS;

    if (end->peer != NULL && doca_comm_channel_ep_disconnect(end->ep, end->peer) != DOCA_SUCCESS)
        DOCA_LOG_WARN("The other side had gone before");
    if (end->ep != NULL)
        result = first_error(result, doca_comm_channel_ep_destroy(end->ep));
    if (end->rep != NULL)
        result = first_error(result, doca_dev_rep_close(end->rep));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Comm Channel cannot be taken apart: %s", doca_get_error_string(result));
    *end = (struct cc_end){0};
    return result;
}
