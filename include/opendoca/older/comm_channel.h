// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/comm_channel.h
 * What doca_comm_channel.h has other at the level 10300. Included by it, inside of extern "C".
 *
 * An endpoint of this level that is given no device takes one when it listens or connects (opendoca): a service
 * the first port of a DPU with a representor, and that representor; a client the first device that can
 * connect.
 *
 * The functions of this level that send, receive and connect block.
 */
#ifndef OPENDOCA_OLDER_COMM_CHANNEL_H_
#define OPENDOCA_OLDER_COMM_CHANNEL_H_

/**
 * Sizes of an endpoint. The members are those that programs are known to set; zero, or no structure at all, means the
 * default.
 */
struct doca_comm_channel_init_attr {
    uint32_t cookie;                    /**< Not looked at. */
    uint32_t flags;                     /**< Not looked at. */
    uint32_t maxmsgs;                   /**< Messages in each queue. */
    uint32_t msgsize;                   /**< Bytes of the largest message. */
    doca_event_channel_t event_channel; /**< Not looked at: see doca_comm_channel_ep_get_event_channel(). */
};

/**
 * Create an endpoint.
 *
 * @param [in] attr Its sizes; NULL is allowed.
 * @param [out] ep The new endpoint; not NULL.
 * @return As doca_comm_channel_ep_create() of DOCA 2.2, or
 * - DOCA_ERROR_INVALID_VALUE: a size is above its limit.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_create(const struct doca_comm_channel_init_attr *attr,
                                                             struct doca_comm_channel_ep_t **ep)
    OPENDOCA_BOUND_TO(opendoca_comm_channel_ep_create_1_3);

/**
 * Make an endpoint a client and connect it. Blocks until the connection is usable.
 *
 * @param [in] local_ep The endpoint; not NULL.
 * @param [in] name Name of a service that listens; not NULL.
 * @param [out] peer_addr Address of the service; not NULL.
 * @return As doca_comm_channel_ep_connect() and doca_comm_channel_peer_addr_update_info() of DOCA 2.2, but never
 * DOCA_ERROR_CONNECTION_INPROGRESS, or
 * - DOCA_ERROR_AGAIN: a signal handler ended the wait (opendoca).
 * After an error the endpoint is not connected, and can connect again.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *local_ep, const char *name,
                                                              struct doca_comm_channel_addr_t **peer_addr)
    OPENDOCA_BOUND_TO(opendoca_comm_channel_ep_connect_1_3);

/**
 * Send a message. Blocks while the send queue is full.
 *
 * @param [in] local_ep, msg, len, flags, peer_addr As of DOCA 2.2.
 * @return As doca_comm_channel_ep_sendto() of DOCA 2.2, but
 * - DOCA_ERROR_AGAIN: a signal handler ended the wait (opendoca). Nothing was sent.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep, const void *msg,
                                                             size_t len, int flags,
                                                             struct doca_comm_channel_addr_t *peer_addr)
    OPENDOCA_BOUND_TO(opendoca_comm_channel_ep_sendto_1_3);

/**
 * Receive one message, from any peer. Blocks until there is one.
 *
 * @param [in] local_ep, flags As of DOCA 2.2.
 * @param [out] msg, peer_addr As of DOCA 2.2.
 * @param [in,out] len As of DOCA 2.2.
 * @return As doca_comm_channel_ep_recvfrom() of DOCA 2.2, but
 * - DOCA_ERROR_AGAIN: a signal handler ended the wait (opendoca). Nothing was received.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg,
                                                               size_t *len, int flags,
                                                               struct doca_comm_channel_addr_t **peer_addr)
    OPENDOCA_BOUND_TO(opendoca_comm_channel_ep_recvfrom_1_3);

#endif /* OPENDOCA_OLDER_COMM_CHANNEL_H_ */
