// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/sha.h
 * What doca_sha.h has more at the level 20500, and keeps up to 20800. Included by it, inside of extern "C".
 */
#ifndef OPENDOCA_OLDER_SHA_H_
#define OPENDOCA_OLDER_SHA_H_

/* As the functions of DOCA 2.6 and later with _buf in their names. */

DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_get_max_src_buffer_size(const struct doca_devinfo *devinfo,
                                                                    uint64_t *max_buffer_size)
    OPENDOCA_BOUND_TO(doca_sha_cap_get_max_src_buf_size);

DOCA_EXPERIMENTAL doca_error_t doca_sha_cap_get_min_dst_buffer_size(const struct doca_devinfo *devinfo,
                                                                    enum doca_sha_algorithm task_type,
                                                                    uint32_t *min_buffer_size)
    OPENDOCA_BOUND_TO(doca_sha_cap_get_min_dst_buf_size);

DOCA_EXPERIMENTAL doca_error_t doca_sha_task_partial_hash_set_is_final_buffer(struct doca_sha_task_partial_hash *task)
    OPENDOCA_BOUND_TO(doca_sha_task_partial_hash_set_is_final_buf);

#endif /* OPENDOCA_OLDER_SHA_H_ */
