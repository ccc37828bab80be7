// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// CRC-64/XZ: tells whether what has arrived is what was sent.
#ifndef CHECKSUM_H_
#define CHECKSUM_H_

#include <stddef.h>
#include <stdint.h>

/* The checksum of all bytes so far and these; 0 before the first. */
uint64_t checksum(uint64_t so_far, const void *data, size_t len);

#endif /* CHECKSUM_H_ */
