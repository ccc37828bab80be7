// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "checksum.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#define POLYNOMIAL UINT64_C(0xc96c5795d7870f42) /* reflected */

/* [k][b]: what byte b does to the checksum when k bytes follow it. Eight bytes are taken at a time. */
static uint64_t tables[8][256];
static bool has_tables;

static void make_tables(void)
{
    for (unsigned int byte = 0; byte < 256; byte++) {
        uint64_t value = byte;

        for (int bit = 0; bit < 8; bit++)
            value = (value >> 1) ^ ((value & 1) != 0 ? POLYNOMIAL : 0);
        tables[0][byte] = value;
    }
    for (int k = 1; k < 8; k++) {
        for (int byte = 0; byte < 256; byte++) {
            const uint64_t before = tables[k - 1][byte];

            tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
        }
    }
    has_tables = true;
}

uint64_t checksum(uint64_t so_far, const void *data, size_t len)
{
    const uint8_t *bytes = data;
    uint64_t value = ~so_far;

    if (!has_tables)
        make_tables();
    for (; len >= 8; len -= 8, bytes += 8) {
        uint64_t word;

        memcpy(&word, bytes, sizeof(word));
        value ^= le64toh(word);
        value = tables[7][value & 0xff] ^ tables[6][(value >> 8) & 0xff] ^ tables[5][(value >> 16) & 0xff] ^
                tables[4][(value >> 24) & 0xff] ^ tables[3][(value >> 32) & 0xff] ^ tables[2][(value >> 40) & 0xff] ^
                tables[1][(value >> 48) & 0xff] ^ tables[0][value >> 56];
    }
    for (; len > 0; len--, bytes++)
        value = (value >> 8) ^ tables[0][(value ^ *bytes) & 0xff];
    return ~value;
}
