// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Generic netlink, by which programs ask devlink for the ports of an e-switch. On the side of a card that has
// one, such a socket is a connection to the card: it does for a program what netlink does, but for addresses.
#pragma once

#include <sys/socket.h>

namespace opendoca::card {

/// Does this side of the card answer generic netlink?
bool has_netlink();
/// A socket, or -1 with errno.
int open_netlink(int type);
/// The same of RDMA netlink, which every side of a card answers.
int open_rdma_netlink(int type);
/// Is `fd` such a socket? Costs nothing in a program that has none. Keeps errno.
bool is_netlink(int fd);
/// Stores an address of netlink: this process's, or with 0 the kernel's.
void store_netlink_address(unsigned port, void *address, socklen_t *size);

} // namespace opendoca::card
