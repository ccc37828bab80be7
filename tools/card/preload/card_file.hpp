// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A descriptor of uverbs or rdma_cm in the program: a socket that is connected to the card. Therefore close, dup, fork,
// exec and SCM_RIGHTS work as with a real descriptor, and no table of descriptors is needed.
#pragma once

#include <cstddef>

#include <sys/types.h>

namespace opendoca::card {

/// Returns the number N of the /dev/infiniband/uverbsN that is open at `fd`, rdma_cm_device for rdma_cm, or -1 if `fd`
/// is anything else. Preserves errno.
int device_number(int fd);
/// Returns whether a device of verbs is open at `fd`. Preserves errno.
bool is_uverbs(int fd);

/// Opens /dev/infiniband/uverbsN or rdma_cm. Returns a descriptor, or -1 with errno.
int open_device(int number);

/// Passes an ioctl to the card. Returns 0, or -1 with errno.
int card_ioctl(int fd, void *header);

/// Passes a command, which was written to rdma_cm, to the card. If it asks for an event and there is none, this blocks
/// until one comes, or fails with EAGAIN if the descriptor is non-blocking; a close() by another thread does not end
/// the wait. Returns `size`, or -1 with errno.
ssize_t card_write(int program_fd, const void *command, std::size_t size);

/// Maps the page that the card offers at `offset`. Returns an address, or MAP_FAILED with errno.
void *card_map(int fd, std::size_t length, int protection, off_t offset);

} // namespace opendoca::card
