// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The uverbs descriptor in the program: a socket that is connected to the card. Therefore close, dup, fork, exec and
// SCM_RIGHTS work as with a real descriptor, and no table of descriptors is needed.
#pragma once

#include <cstddef>

#include <sys/types.h>

namespace opendoca::card {

/// Returns the number N of the /dev/infiniband/uverbsN that is open at `fd`, or -1 if `fd` is anything else. Preserves
/// errno.
int uverbs_number(int fd);

/// Opens /dev/infiniband/uverbsN. Returns a descriptor, or -1 with errno.
int open_uverbs(int number);

/// Passes an ioctl to the card. Returns 0, or -1 with errno.
int card_ioctl(int fd, void *header);

/// Maps the page that the card offers at `offset`. Returns an address, or MAP_FAILED with errno.
void *card_map(int fd, std::size_t length, int protection, off_t offset);

} // namespace opendoca::card
