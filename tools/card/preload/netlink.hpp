// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Generic netlink, by which programs query devlink for the ports of an e-switch, and RDMA netlink. A socket of these
// protocols is a connection to the card, which exchanges the same messages.
#pragma once

#include <sys/socket.h>

namespace opendoca::card {

/// Returns whether this side of the card supports generic netlink. Preserves errno.
bool has_netlink();
/// Opens a connection for generic netlink. Returns a socket, or -1 with errno.
int open_netlink(int type);
/// The same for RDMA netlink, which every side of a card supports.
int open_rdma_netlink(int type);
/// Returns whether `fd` is such a connection; without a system call in a program that has opened none. Preserves errno.
bool is_netlink(int fd);
/// Stores a netlink address; port 0 is the kernel's.
void store_netlink_address(unsigned port, void *address, socklen_t *size);

} // namespace opendoca::card
