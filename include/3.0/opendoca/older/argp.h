// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/argp.h
 * What doca_argp.h has more at a level up to 20800. Included by it, inside of extern "C".
 */
#ifndef OPENDOCA_OLDER_ARGP_H_
#define OPENDOCA_OLDER_ARGP_H_

/** Give the program the flag -g, --grpc-address, of which doca_argp_get_grpc_addr() gives the value. State: before
 * start. */
DOCA_EXPERIMENTAL void doca_argp_set_grpc_program(void) OPENDOCA_BOUND_TO(opendoca_argp_set_grpc_program_2_5);

/**
 * Value of the flag for gRPC.
 *
 * @param [out] address Its text, "" if it was not given; valid until doca_argp_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: address is NULL.
 * - DOCA_ERROR_BAD_STATE: doca_argp_init() has not been called.
 */
DOCA_EXPERIMENTAL doca_error_t doca_argp_get_grpc_addr(const char **address)
    OPENDOCA_BOUND_TO(opendoca_argp_get_grpc_addr_2_5);

#endif /* OPENDOCA_OLDER_ARGP_H_ */
