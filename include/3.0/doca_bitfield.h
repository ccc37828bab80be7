// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_bitfield.h
 * Fields of bits in bytes, and in words in network byte order.
 *
 * A field is described by a mask, which has the byte order of the word: DOCA_BE16_GENMASK(11, 4) is the mask
 * of bits 4 to 11, counted from 0 at the lowest, of a doca_be16_t. Values are given and returned in the byte
 * order of the CPU. All are macros; with constant arguments they are constants. Arguments may be evaluated
 * more than once.
 */
#ifndef DOCA_BITFIELD_H_
#define DOCA_BITFIELD_H_

#include <stdint.h>
#include <stdlib.h>

#include <doca_types.h>

/** Number of the lowest bit that is set in _x, which must not be 0. */
#define DOCA_SHIFT(_x) (__builtin_ctzll(_x))

/** 16 bits from the byte order of the CPU to that of the network, and back. */
#define DOCA_HTOBE16(_x)                                                                                               \
    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap16((uint16_t)(_x)) : (uint16_t)(_x))
#define DOCA_BETOH16(_x) DOCA_HTOBE16(_x)

/** 32 bits from the byte order of the CPU to that of the network, and back. */
#define DOCA_HTOBE32(_x)                                                                                               \
    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32((uint32_t)(_x)) : (uint32_t)(_x))
#define DOCA_BETOH32(_x) DOCA_HTOBE32(_x)

/** The uint8_t with bits _l to _h set; 0 <= _l <= _h <= 7. */
#define DOCA_U8_GENMASK(_h, _l) ((uint8_t)((0xffu << (_l)) & (0xffu >> (7 - (_h)))))

/** Stores that mask at _p. A statement. */
#define DOCA_U8P_GENMASK(_h, _l, _p)                                                                                   \
    do {                                                                                                               \
        *(uint8_t *)(_p) = DOCA_U8_GENMASK(_h, _l);                                                                    \
    } while (0)

/** The uint8_t with the value _v, cut to size, in the field under the mask _m; other bits are 0. */
#define DOCA_U8_SET(_m, _v) ((uint8_t)(((_v) << DOCA_SHIFT((_m))) & (_m)))

/** Ors that word into the one at _p, whose field should be 0 before. A statement. */
#define DOCA_U8P_SET(_m, _v, _p)                                                                                       \
    do {                                                                                                               \
        *(uint8_t *)(_p) |= DOCA_U8_SET(_m, _v);                                                                       \
    } while (0)

/** The value that the word _f has in the field under the mask _m. */
#define DOCA_U8_GET(_m, _f) (((_m) & (_f)) >> DOCA_SHIFT((_m)))

/** The doca_be16_t with bits _l to _h set; 0 <= _l <= _h <= 15. */
#define DOCA_BE16_GENMASK(_h, _l) ((doca_be16_t)DOCA_HTOBE16((0xffffu << (_l)) & (0xffffu >> (15 - (_h)))))

/** Stores that mask at _p. A statement. */
#define DOCA_BE16P_GENMASK(_h, _l, _p)                                                                                 \
    do {                                                                                                               \
        *(doca_be16_t *)(_p) = DOCA_BE16_GENMASK(_h, _l);                                                              \
    } while (0)

/** The doca_be16_t with the value _v, cut to size, in the field under the mask _m; other bits are 0. */
#define DOCA_BE16_SET(_m, _v) ((doca_be16_t)(DOCA_HTOBE16((_v) << DOCA_SHIFT(DOCA_BETOH16(_m))) & (_m)))

/** Ors that word into the one at _p, whose field should be 0 before. A statement. */
#define DOCA_BE16P_SET(_m, _v, _p)                                                                                     \
    do {                                                                                                               \
        *(doca_be16_t *)(_p) |= DOCA_BE16_SET(_m, _v);                                                                 \
    } while (0)

/** The value that the word _f has in the field under the mask _m. */
#define DOCA_BE16_GET(_m, _f) (DOCA_BETOH16((_m) & (_f)) >> DOCA_SHIFT(DOCA_BETOH16(_m)))

/** The doca_be32_t with bits _l to _h set; 0 <= _l <= _h <= 31. */
#define DOCA_BE32_GENMASK(_h, _l) ((doca_be32_t)DOCA_HTOBE32((0xffffffffu << (_l)) & (0xffffffffu >> (31 - (_h)))))

/** Stores that mask at _p. A statement. */
#define DOCA_BE32P_GENMASK(_h, _l, _p)                                                                                 \
    do {                                                                                                               \
        *(doca_be32_t *)(_p) = DOCA_BE32_GENMASK(_h, _l);                                                              \
    } while (0)

/** The doca_be32_t with the value _v, cut to size, in the field under the mask _m; other bits are 0. */
#define DOCA_BE32_SET(_m, _v) ((doca_be32_t)(DOCA_HTOBE32((_v) << DOCA_SHIFT(DOCA_BETOH32(_m))) & (_m)))

/** Ors that word into the one at _p, whose field should be 0 before. A statement. */
#define DOCA_BE32P_SET(_m, _v, _p)                                                                                     \
    do {                                                                                                               \
        *(doca_be32_t *)(_p) |= DOCA_BE32_SET(_m, _v);                                                                 \
    } while (0)

/** The value that the word _f has in the field under the mask _m. */
#define DOCA_BE32_GET(_m, _f) (DOCA_BETOH32((_m) & (_f)) >> DOCA_SHIFT(DOCA_BETOH32(_m)))

#endif /* DOCA_BITFIELD_H_ */
