// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The TCP connection between the remote copy samples. The sender, on the host, connects to the receiver, on
// the DPU:
//
//   sender -> receiver   8 bytes "ODMADESC", length of the descriptor (32 bits), 32 bits of zero, address and
//   length
//                        of the buffer (64 bits each), the descriptor
//   receiver -> sender   8 bytes "ODMADONE", the outcome of the copy (a doca_error_t, 32 bits), 32 bits of
//   zero
//
// All numbers are in network byte order. Every step has a time limit, given in seconds.
#ifndef DMA_SOCKET_H_
#define DMA_SOCKET_H_

#include <doca_error.h>

#include "dma_common.h"

/* Receiver: listens; port "0" takes a free one. Says on which address and port it listens. */
doca_error_t socket_listen(const char *address, const char *port, int *listener);

/* Receiver: takes one connection. */
doca_error_t socket_accept(int listener, int timeout, int *connection);

/* Sender: connects, and tries again as long as nobody listens. */
doca_error_t socket_connect(const char *address, const char *port, int timeout, int *connection);

doca_error_t send_exported_memory(int connection, int timeout, const struct exported_memory *memory);
doca_error_t receive_exported_memory(int connection, int timeout, struct exported_memory *memory);

doca_error_t send_outcome(int connection, int timeout, doca_error_t outcome);
doca_error_t receive_outcome(int connection, int timeout, doca_error_t *outcome);

#endif /* DMA_SOCKET_H_ */
