// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The uverbs descriptor. It is a connection to the card, so close, dup, fork, exec and SCM_RIGHTS do to it
// what they do to a real one, and nothing here keeps a table of descriptors.
#pragma once

#include <cstddef>

#include <sys/types.h>

namespace opendoca::card {

/// Number N of the /dev/infiniband/uverbsN that is open at `fd`, or -1 where it is anything else. Keeps
/// errno.
int uverbs_number(int fd);

/// Opens /dev/infiniband/uverbsN: a descriptor, or -1 with errno.
int open_uverbs(int number);

/// Hands an ioctl to the card: 0, or -1 with errno.
int card_ioctl(int fd, void *header);

/// Maps what the card offers at `offset`: an address, or MAP_FAILED with errno.
void *card_map(int fd, std::size_t length, int protection, off_t offset);

} // namespace opendoca::card
