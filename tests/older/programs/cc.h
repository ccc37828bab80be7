// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// An endpoint, as programs of each level make it.
#ifndef CC_H_
#define CC_H_

#include <poll.h>

#include <doca_comm_channel.h>

#include "bdf.h"

struct channel {
    struct doca_comm_channel_ep_t *ep;
    struct doca_dev *dev;
    struct doca_dev_rep *rep;
};

#if DOCA_API < 10400
static inline void open_channel(struct channel *channel, int is_server)
{
    struct doca_comm_channel_init_attr attr = {0};
    uint16_t size = 0;
    (void)is_server;
    attr.msgsize = 1024;
    attr.maxmsgs = 10;
    WORKS(doca_comm_channel_ep_create(&attr, &channel->ep));
    WORKS(doca_comm_channel_ep_get_max_msg_size(channel->ep, &size));
    CHECK(size == 1024);
    WORKS(doca_comm_channel_ep_get_send_queue_size(channel->ep, &size));
    CHECK(size == 16);
}
#else
static inline struct doca_dev_rep *open_rep(struct doca_dev *dev)
{
    struct doca_devinfo_rep **list;
    struct doca_dev_rep *rep;
    uint32_t count;
    WORKS(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_NET, &list, &count));
    WORKS(doca_dev_rep_open(list[0], &rep));
    WORKS(doca_devinfo_rep_list_destroy(list));
    return rep;
}

static inline void open_channel(struct channel *channel, int is_server)
{
    WORKS(doca_comm_channel_ep_create(&channel->ep));
    channel->dev = open_by_address(is_server ? "03:00.0" : "b1:00.0");
    WORKS(doca_comm_channel_ep_set_device(channel->ep, channel->dev));
    if (is_server) {
        channel->rep = open_rep(channel->dev);
        WORKS(doca_comm_channel_ep_set_device_rep(channel->ep, channel->rep));
    }
    WORKS(doca_comm_channel_ep_set_max_msg_size(channel->ep, 1024));
    WORKS(doca_comm_channel_ep_set_send_queue_size(channel->ep, 10));
    WORKS(doca_comm_channel_ep_set_recv_queue_size(channel->ep, 10));
}
#endif

static inline void close_channel(struct channel *channel)
{
    WORKS(doca_comm_channel_ep_destroy(channel->ep));
    if (channel->rep != NULL)
        WORKS(doca_dev_rep_close(channel->rep));
    if (channel->dev != NULL)
        WORKS(doca_dev_close(channel->dev));
}

static inline void receive(struct channel *channel, char *text, struct doca_comm_channel_addr_t **peer)
{
    size_t length = 1024;
    doca_error_t result;
    while ((result = doca_comm_channel_ep_recvfrom(channel->ep, text, &length, DOCA_CC_MSG_FLAG_NONE, peer)) ==
           DOCA_ERROR_AGAIN)
        length = 1024;
    WORKS(result);
}

// The same asleep, as programs do that serve several clients.
static inline void receive_asleep(struct channel *channel, char *text, struct doca_comm_channel_addr_t **peer)
{
    doca_event_channel_t to_send, to_receive;
    struct pollfd waiting = {.events = POLLIN};
    size_t length = 1024;
    doca_error_t result;
    WORKS(doca_comm_channel_ep_get_event_channel(channel->ep, &to_send, &to_receive));
    waiting.fd = to_receive;
    do {
        WORKS(doca_comm_channel_ep_event_handle_arm_recv(channel->ep));
        CHECK(poll(&waiting, 1, -1) == 1);
        result = doca_comm_channel_ep_recvfrom(channel->ep, text, &length, DOCA_CC_MSG_FLAG_NONE, peer);
    } while (result == DOCA_ERROR_AGAIN);
    WORKS(result);
}

static inline void send_text(struct channel *channel, const char *text, struct doca_comm_channel_addr_t *peer)
{
    doca_error_t result;
    while ((result = doca_comm_channel_ep_sendto(channel->ep, text, strlen(text) + 1, DOCA_CC_MSG_FLAG_NONE, peer)) ==
           DOCA_ERROR_AGAIN)
        ;
    WORKS(result);
}

#endif
