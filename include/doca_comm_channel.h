// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors

/**
 * @file doca_comm_channel.h
 * Comm Channel: messages between a service on the DPU and its clients on the host.
 *
 * Service, on the DPU: ep_create, ep_set_device, ep_set_device_rep, sizes, ep_listen, ep_recvfrom (which also
 * accepts new clients and returns the address of the sender).
 * Client, on the host: ep_create, ep_set_device, sizes, ep_connect, then
 * doca_comm_channel_peer_addr_update_info until it no longer gives DOCA_ERROR_CONNECTION_INPROGRESS, then
 * ep_sendto and ep_recvfrom. A service listens on one representor; only the host function that this stands
 * for can connect. The service must listen before a client connects. Both end with ep_disconnect and
 * ep_destroy.
 *
 * Message boundaries are kept, and so is the order of the messages of one peer. What was sent before a
 * disconnect still arrives.
 *
 * Event-driven: get the descriptors with ep_get_event_channel, arm, wait with epoll for EPOLLIN, send or
 * receive until DOCA_ERROR_AGAIN, arm again. Do not read from the descriptors.
 *
 * Outputs are written only on success.
 * Threads, for all of this header unless stated: any, also for one endpoint and its peer addresses (opendoca).
 * The endpoint has a lock, which is not held while a call blocks and not while a log backend is called.
 * - doca_comm_channel_ep_destroy() must not overlap with any other call on the endpoint or its peer addresses.
 * - doca_comm_channel_ep_disconnect() ends an address for all threads. A doca_comm_channel_ep_sendto() of another
 *   thread that comes later answers DOCA_ERROR_NOT_CONNECTED; functions that take an address alone
 *   (doca_comm_channel_peer_addr_*) must not overlap with the disconnect, nor follow it.
 * - Each message goes to one of the threads that receive. Messages of one thread to a peer keep their order.
 * - An event channel and its arming are the endpoint's: one thread at a time waits for room, since a message that
 *   is sent by any thread ends that arming. Likewise one thread at a time reads the list of peers.
 *
 * opendoca: defaults are messages of 4080 bytes and queues of 512 messages; messages of 4080 bytes and queues
 * of 8192 messages can be had everywhere. Comm Channel works on software devices, and on mlx5 devices whose
 * other side can be reached by TCP; on any other, the queries and ep_set_device answer DOCA_ERROR_NOT_SUPPORTED.
 * See docs/comm-channel.md for the rest.
 */

#ifndef DOCA_CC_H_
#define DOCA_CC_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One end of Comm Channel, service or client. Opaque. */
struct doca_comm_channel_ep_t;
/** A peer of an endpoint, owned by it; valid until disconnected. Opaque. */
struct doca_comm_channel_addr_t;

/** File descriptor that becomes readable on an event. */
typedef doca_event_handle_t doca_event_channel_t;

/** Flags of ep_sendto and ep_recvfrom. */
enum doca_comm_channel_msg_flags {
    DOCA_CC_MSG_FLAG_NONE = 0,
};

/* What can be had. Threads: any, for all of these. */

#if OPENDOCA_LEVEL < 10400
#include <opendoca/older/comm_channel.h>
#endif

/**
 * Longest name of a service.
 *
 * @param [out] max_service_name_len Bytes, with the final NUL; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: the argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_get_max_service_name_len(uint32_t *max_service_name_len);

/**
 * Longest message of a device.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] max_message_size Bytes; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: the device has no Comm Channel.
 * - DOCA_ERROR_UNEXPECTED: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_get_max_message_size(struct doca_devinfo *devinfo,
                                                                        uint32_t *max_message_size);

/**
 * Longest send queue of a device.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] max_send_queue_size Messages; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: the device has no Comm Channel.
 * - DOCA_ERROR_UNEXPECTED: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_get_max_send_queue_size(struct doca_devinfo *devinfo,
                                                                           uint32_t *max_send_queue_size);

/**
 * Longest receive queue of a device.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] max_recv_queue_size Messages; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: the device has no Comm Channel.
 * - DOCA_ERROR_UNEXPECTED: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_get_max_recv_queue_size(struct doca_devinfo *devinfo,
                                                                           uint32_t *max_recv_queue_size);

/**
 * Most clients that a service on a device can have at a time.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] max_num_connections Clients; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have services.
 * - DOCA_ERROR_UNEXPECTED: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_get_service_max_num_connections(struct doca_devinfo *devinfo,
                                                                                   uint32_t *max_num_connections);

/* Endpoint: life and properties */

#if OPENDOCA_LEVEL >= 10400
/**
 * Create an endpoint with default sizes.
 *
 * State: any. Threads: any.
 *
 * @param [out] ep The new endpoint; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ep is NULL.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 * - DOCA_ERROR_INITIALIZATION: the endpoint could not be set up.
 * - DOCA_ERROR_DRIVER: the driver could not be reached.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_ep_t **ep);
#endif

/**
 * Device of an endpoint.
 *
 * State: any.
 *
 * @param [in] ep The endpoint; not NULL.
 * @param [out] device The device; NULL if none was set. Not NULL itself.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_get_device(struct doca_comm_channel_ep_t *ep,
                                                                 struct doca_dev **device);

/**
 * Representor of an endpoint.
 *
 * State: any.
 *
 * @param [in] ep The endpoint; not NULL.
 * @param [out] device_rep The representor; NULL if none was set. Not NULL itself.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_get_device_rep(struct doca_comm_channel_ep_t *ep,
                                                                     struct doca_dev_rep **device_rep);

/**
 * Longest message of an endpoint.
 *
 * State: any.
 *
 * @param [in] ep The endpoint; not NULL.
 * @param [out] max_msg_size Bytes in effect; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_get_max_msg_size(struct doca_comm_channel_ep_t *ep,
                                                                       uint16_t *max_msg_size);

/**
 * Send queue of an endpoint.
 *
 * State: any.
 *
 * @param [in] ep The endpoint; not NULL.
 * @param [out] send_queue_size Messages in effect, a power of two; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_get_send_queue_size(struct doca_comm_channel_ep_t *ep,
                                                                          uint16_t *send_queue_size);

/**
 * Receive queue of an endpoint.
 *
 * State: any.
 *
 * @param [in] ep The endpoint; not NULL.
 * @param [out] recv_queue_size Messages in effect, a power of two; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_get_recv_queue_size(struct doca_comm_channel_ep_t *ep,
                                                                          uint16_t *recv_queue_size);

/**
 * Device that an endpoint uses; mandatory.
 *
 * State: neither listening nor connected.
 *
 * @param [in] ep The endpoint; not NULL.
 * @param [in] device The device; not NULL. Must outlive the endpoint: opendoca: until then it cannot be
 *   closed.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: listening or connected.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: the device has no Comm Channel.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_set_device(struct doca_comm_channel_ep_t *ep,
                                                                 struct doca_dev *device);

/**
 * Representor of the host function that a service is for; mandatory for a service, of no use for a client.
 *
 * State: neither listening nor connected.
 *
 * @param [in] ep The endpoint; not NULL.
 * @param [in] device_rep The representor; not NULL. opendoca: it may be closed before the endpoint is destroyed,
 *   and before it listens.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: listening or connected.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_set_device_rep(struct doca_comm_channel_ep_t *ep,
                                                                     struct doca_dev_rep *device_rep);

/**
 * Longest message. Both sides should set the same.
 *
 * State: neither listening nor connected.
 *
 * @param [in] ep The endpoint; not NULL.
 * @param [in] max_msg_size Bytes, 1 to doca_comm_channel_get_max_message_size; opendoca: raised to 64.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ep is NULL or the size is out of range.
 * - DOCA_ERROR_BAD_STATE: listening or connected.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_set_max_msg_size(struct doca_comm_channel_ep_t *ep,
                                                                       uint16_t max_msg_size);

/**
 * Number of messages that may wait to be sent.
 *
 * State: neither listening nor connected.
 *
 * @param [in] ep The endpoint; not NULL.
 * @param [in] send_queue_size 1 to doca_comm_channel_get_max_send_queue_size; rounded up to a power of two,
 *   opendoca: of at least 8.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ep is NULL or the size is out of range.
 * - DOCA_ERROR_BAD_STATE: listening or connected.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_set_send_queue_size(struct doca_comm_channel_ep_t *ep,
                                                                          uint16_t send_queue_size);

/**
 * Number of received messages that may wait to be read.
 *
 * State: neither listening nor connected.
 *
 * @param [in] ep The endpoint; not NULL.
 * @param [in] recv_queue_size 1 to doca_comm_channel_get_max_recv_queue_size; rounded up to a power of two,
 *   opendoca: of at least 8.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ep is NULL or the size is out of range.
 * - DOCA_ERROR_BAD_STATE: listening or connected.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_set_recv_queue_size(struct doca_comm_channel_ep_t *ep,
                                                                          uint16_t recv_queue_size);

/* Endpoint: events. The descriptors are owned by the endpoint and must not be closed. */

/**
 * Descriptors for sending and receiving.
 *
 * State: listening or connected.
 *
 * @param [in] local_ep The endpoint; not NULL.
 * @param [out] send_event_channel Readable, once armed, when there is room to send; NULL if not wanted.
 * @param [out] recv_event_channel Readable, once armed, when a message can be received; NULL if not wanted.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: local_ep is NULL, or both outputs are.
 * - DOCA_ERROR_BAD_STATE: neither listening nor connected.
 * - DOCA_ERROR_NOT_FOUND: the endpoint has no such descriptor.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *local_ep,
                                                                        doca_event_channel_t *send_event_channel,
                                                                        doca_event_channel_t *recv_event_channel);

/**
 * Descriptor for changes of a service: clients that come or go. Armed anew by
 * doca_comm_channel_ep_update_service_state_info.
 *
 * State: listening.
 *
 * @param [in] local_ep The endpoint of a service; not NULL.
 * @param [out] service_event_channel The descriptor; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the endpoint is a client.
 * - DOCA_ERROR_BAD_STATE: not listening.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_get_service_event_channel(
    struct doca_comm_channel_ep_t *local_ep, doca_event_channel_t *service_event_channel);

/**
 * Arm the descriptor for sending: it becomes readable when there is room, at once if there is. opendoca: a
 * message that was sent ends this, DOCA_ERROR_AGAIN of doca_comm_channel_ep_sendto begins it again.
 *
 * State: listening or connected.
 *
 * @param [in] local_ep The endpoint; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: local_ep is NULL. opendoca: or it is neither listening nor connected.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *local_ep);

/**
 * Arm the descriptor for receiving: it becomes readable when a message is there, at once if one is. opendoca:
 * also when a client waits to be taken in, a connection is completed or a peer has gone. It stays readable
 * until doca_comm_channel_ep_recvfrom answers DOCA_ERROR_AGAIN, and stays armed.
 *
 * State: listening or connected.
 *
 * @param [in] local_ep The endpoint; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: local_ep is NULL. opendoca: or it is neither listening nor connected.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_event_handle_arm_recv(struct doca_comm_channel_ep_t *local_ep);

/* Endpoint: connections and messages */

/**
 * Make an endpoint a service and take clients in.
 *
 * State: neither listening nor connected.
 *
 * @param [in] local_ep The endpoint, with device and representor set; not NULL.
 * @param [in] name Name of the service, at most doca_comm_channel_get_max_service_name_len with its NUL; not
 *   NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, the name is empty or too long, or the representor is not
 *   of this device.
 * - DOCA_ERROR_DRIVER: the driver failed.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have services.
 * - DOCA_ERROR_BAD_STATE: no device or no representor was set.
 * - DOCA_ERROR_NOT_PERMITTED: already listening or connected.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 * - DOCA_ERROR_INITIALIZATION: the service could not be set up.
 * - DOCA_ERROR_CONNECTION_ABORTED: the name could not be registered, for instance because it is taken.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_listen(struct doca_comm_channel_ep_t *local_ep, const char *name);

/**
 * Make an endpoint a client and connect it. The connection is usable once
 * doca_comm_channel_peer_addr_update_info gives DOCA_SUCCESS.
 *
 * State: neither listening nor connected.
 *
 * @param [in] local_ep The endpoint, with the device set; not NULL.
 * @param [in] name Name of a service that listens; not NULL.
 * @param [out] peer_addr Address of the service; not NULL. Owned by the endpoint.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the name is empty or too long.
 * - DOCA_ERROR_DRIVER: the driver failed.
 * - DOCA_ERROR_NOT_SUPPORTED: the device is a port of the DPU. opendoca: in a process that sees both sides of the PCIe
 *   (DOCA_SOFT_ROLE is not set), a port of the software DPU connects as the first PF behind it.
 * - DOCA_ERROR_NOT_PERMITTED: already connected or listening.
 * - DOCA_ERROR_BAD_STATE: no device was set.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 * - DOCA_ERROR_INITIALIZATION: the client could not be set up.
 * - DOCA_ERROR_CONNECTION_ABORTED: no such service listens, it belongs to another user, or too many clients
 *   wait for it.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *local_ep, const char *name,
                                                              struct doca_comm_channel_addr_t **peer_addr);

/**
 * Send a message. The bytes are copied before the call returns.
 *
 * State: connected to that peer.
 *
 * @param [in] local_ep The endpoint; not NULL.
 * @param [in] msg The message; not NULL.
 * @param [in] len Its length in bytes, 1 to the endpoint's longest message.
 * @param [in] flags DOCA_CC_MSG_FLAG_NONE.
 * @param [in] peer_addr Address to send to; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_NOT_CONNECTED: there is no such connection.
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, the message is empty, or too long for either side, or flags
 *   is not 0.
 * - DOCA_ERROR_AGAIN: the send queue is full: the peer has not received as many messages as fit into it, or
 *   into its own receive queue. Or the connection is being made. Nothing was sent.
 * - DOCA_ERROR_CONNECTION_RESET: the connection is broken: disconnect. opendoca: after a peer has disconnected,
 *   not before its messages were received; until then messages to it are lost, as if they had been sent before.
 * - DOCA_ERROR_INITIALIZATION: the connection could not be completed.
 * - DOCA_ERROR_UNKNOWN: any other failure.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep, const void *msg,
                                                             size_t len, int flags,
                                                             struct doca_comm_channel_addr_t *peer_addr);

/**
 * Receive one message, from any peer. On a service it also takes new clients in.
 *
 * opendoca: the first call of a client answers DOCA_ERROR_AGAIN, also when a message is there, if the client
 * has sent two messages or more and has not asked for event channels. Programs that lose what an unchecked
 * first call gives them depend on it; the message comes with the next call.
 *
 * State: listening or connected.
 *
 * @param [in] local_ep The endpoint; not NULL.
 * @param [out] msg Where the message goes; not NULL.
 * @param [in,out] len In: room in bytes; out: length of the message, unchanged on any error. Not NULL.
 * @param [in] flags DOCA_CC_MSG_FLAG_NONE.
 * @param [out] peer_addr Address of the sender; not NULL. Owned by the endpoint.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, flags is not 0, or the message is longer than the room (it
 *   then stays in the queue).
 * - DOCA_ERROR_NOT_CONNECTED: neither listening nor connected.
 * - DOCA_ERROR_AGAIN: no message is there.
 * - DOCA_ERROR_CONNECTION_RESET: the connection has ended and all its messages were received: disconnect.
 *   opendoca: to a service, a client that ends is no error; but when a client from which messages were
 *   received has died and no other is connected, the service gets this error once.
 * - DOCA_ERROR_INITIALIZATION: the connection could not be completed.
 * - DOCA_ERROR_UNKNOWN: any other failure.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg,
                                                               size_t *len, int flags,
                                                               struct doca_comm_channel_addr_t **peer_addr);

/**
 * End the connection with a peer and free its address. Blocks until both is done; opendoca: without holding up
 * other threads that use the endpoint.
 *
 * State: connected to that peer.
 *
 * @param [in] local_ep The endpoint; not NULL.
 * @param [in] peer_addr The peer; not NULL. Not to be used any more, whatever is returned.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 * - DOCA_ERROR_NOT_CONNECTED: there is no such connection; or the peer has died, or never took this client
 *   in, and the address is freed all the same. opendoca: a peer that has disconnected before is no error.
 * - DOCA_ERROR_UNKNOWN: any other failure.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_disconnect(struct doca_comm_channel_ep_t *local_ep,
                                                                 struct doca_comm_channel_addr_t *peer_addr);

/**
 * Destroy an endpoint, after ending all its connections.
 *
 * State: any.
 *
 * @param [in] local_ep The endpoint.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_NOT_CONNECTED: local_ep is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_destroy(struct doca_comm_channel_ep_t *local_ep);

/* Peer address. State: until disconnected. */

/**
 * Read the value that the program attached to a peer.
 *
 * @param [in] peer_addr The peer; not NULL.
 * @param [out] user_data The value, 0 if none was set; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_peer_addr_get_user_data(struct doca_comm_channel_addr_t *peer_addr,
                                                                           uint64_t *user_data);

/**
 * Attach a value to a peer.
 *
 * @param [in] peer_addr The peer; not NULL.
 * @param [in] user_context The value.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: peer_addr is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_peer_addr_set_user_data(struct doca_comm_channel_addr_t *peer_addr,
                                                                           uint64_t user_context);

/**
 * Bring state and counters of a peer up to date.
 *
 * @param [in] peer_addr The peer; not NULL.
 * @return DOCA_SUCCESS: the connection is up, and the counters are those of now, or
 * - DOCA_ERROR_INVALID_VALUE: peer_addr is NULL.
 * - DOCA_ERROR_CONNECTION_INPROGRESS: the connection is being made: call again.
 * - DOCA_ERROR_CONNECTION_ABORTED: the connection failed or was broken.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_peer_addr_update_info(struct doca_comm_channel_addr_t *peer_addr);

/**
 * Messages sent to a peer, as of the last doca_comm_channel_peer_addr_update_info.
 *
 * @param [in] peer_addr The peer; not NULL.
 * @param [out] send_messages The number; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_peer_addr_get_send_messages(
    const struct doca_comm_channel_addr_t *peer_addr, uint64_t *send_messages);

/**
 * Bytes sent to a peer, as of the last doca_comm_channel_peer_addr_update_info.
 *
 * @param [in] peer_addr The peer; not NULL.
 * @param [out] send_bytes The number; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t
doca_comm_channel_peer_addr_get_send_bytes(const struct doca_comm_channel_addr_t *peer_addr, uint64_t *send_bytes);

/**
 * Messages received from a peer, as of the last doca_comm_channel_peer_addr_update_info.
 *
 * @param [in] peer_addr The peer; not NULL.
 * @param [out] recv_messages The number; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_peer_addr_get_recv_messages(
    const struct doca_comm_channel_addr_t *peer_addr, uint64_t *recv_messages);

/**
 * Bytes received from a peer, as of the last doca_comm_channel_peer_addr_update_info.
 *
 * @param [in] peer_addr The peer; not NULL.
 * @param [out] recv_bytes The number; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t
doca_comm_channel_peer_addr_get_recv_bytes(const struct doca_comm_channel_addr_t *peer_addr, uint64_t *recv_bytes);

/**
 * Messages to a peer that its program has not received yet, as of the last
 * doca_comm_channel_peer_addr_update_info.
 *
 * @param [in] peer_addr The peer; not NULL.
 * @param [out] send_in_flight_messages The number; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_peer_addr_get_send_in_flight_messages(
    const struct doca_comm_channel_addr_t *peer_addr, uint64_t *send_in_flight_messages);

/* State of a service */

/**
 * Bring the state of a service up to date, and arm its descriptor anew. Arrays that
 * doca_comm_channel_ep_get_peer_addr_list gave before are not valid any more.
 *
 * State: listening.
 *
 * @param [in] local_ep The endpoint of a service; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: local_ep is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the endpoint is a client.
 * - DOCA_ERROR_DRIVER: the driver failed.
 * - DOCA_ERROR_AGAIN: the state changed meanwhile: call again.
 * - DOCA_ERROR_CONNECTION_RESET: the service is broken: destroy the endpoint.
 */
__DOCA_EXPERIMENTAL doca_error_t
doca_comm_channel_ep_update_service_state_info(struct doca_comm_channel_ep_t *local_ep);

/**
 * Connected clients, as of the last doca_comm_channel_ep_update_service_state_info.
 *
 * State: listening.
 *
 * @param [in] local_ep The endpoint of a service; not NULL.
 * @param [out] peer_addr_array The clients; not NULL. Owned by the endpoint, valid until the next update.
 * @param [out] peer_addr_array_len Their number; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the endpoint is a client.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_get_peer_addr_list(
    const struct doca_comm_channel_ep_t *local_ep, struct doca_comm_channel_addr_t ***peer_addr_array,
    uint32_t *peer_addr_array_len);

/**
 * Clients that wait to be taken in, as of the last doca_comm_channel_ep_update_service_state_info.
 *
 * State: listening.
 *
 * @param [in] local_ep The endpoint of a service; not NULL.
 * @param [out] pending_connections Their number; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the endpoint is a client.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_comm_channel_ep_get_pending_connections(
    const struct doca_comm_channel_ep_t *local_ep, uint32_t *pending_connections);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CC_H_ */
