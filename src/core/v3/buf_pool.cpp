// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of buffer pools: buffers of equal size that divide one memory map.
#include <cstddef>

#include <doca_buf_pool.h>

#include "../log/log.hpp"
#include "../objects/bufpool.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_BUF_POOL);

using opendoca::v3::call;

/// A pool of buffers of equal size, with the alignment that 3.0 adds. Owned by the program.
struct doca_buf_pool final : opendoca::BufPool {
    using BufPool::BufPool;

    std::size_t alignment = 1;
};

namespace {

doca_error_t check_stopped(const doca_buf_pool &pool)
{
    if (!pool.is_started())
        return DOCA_SUCCESS;
    LOG_ERR("the buffer pool is started");
    return DOCA_ERROR_BAD_STATE;
}

} // namespace

doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size, const struct doca_mmap *mmap,
                                  struct doca_buf_pool **buf_pool)
{
    return call({mmap, buf_pool}, [&] {
        const doca_error_t status = opendoca::BufPool::check_size(num_elements, element_size);
        if (status == DOCA_SUCCESS)
            *buf_pool = new doca_buf_pool(num_elements, element_size, mmap->shared_from_this());
        return status;
    });
}

doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool)
{
    return call({buf_pool}, [&] {
        const doca_error_t status = buf_pool->check_unused();
        if (status == DOCA_SUCCESS)
            delete buf_pool;
        return status;
    });
}

doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool)
{
    return call({buf_pool}, [&]() -> opendoca::Status {
        // A second start is no error and changes nothing.
        if (buf_pool->is_started())
            return DOCA_SUCCESS;
        // The map may have been stopped since the pool was created.
        if (const doca_error_t status = buf_pool->check_memory(); status != DOCA_SUCCESS)
            return status;
        // The layout depends on the alignment, which may change until here.
        const opendoca::Status status = buf_pool->lay_out(buf_pool->alignment);
        return status == DOCA_SUCCESS ? buf_pool->start() : status;
    });
}

doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool)
{
    return call({buf_pool}, [&] {
        const doca_error_t status = buf_pool->check_unused();
        if (status == DOCA_SUCCESS)
            buf_pool->stop();
        return status;
    });
}

doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf)
{
    return call({buf_pool, buf}, [&] { return buf_pool->take(*buf); });
}

doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data)
{
    return call({buf_pool}, [&] {
        const doca_error_t status = check_stopped(*buf_pool);
        if (status == DOCA_SUCCESS)
            buf_pool->user_data = user_data;
        return status;
    });
}

doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool, size_t element_alignment)
{
    return call({buf_pool}, [&] {
        doca_error_t status = check_stopped(*buf_pool);
        if (status == DOCA_SUCCESS)
            status = opendoca::check_alignment(element_alignment);
        if (status == DOCA_SUCCESS)
            buf_pool->alignment = element_alignment;
        return status;
    });
}

doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_elements)
{
    return call({buf_pool, num_of_elements}, [&] { *num_of_elements = buf_pool->store().num_elements(); });
}

doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool, uint32_t *num_of_free_elements)
{
    return call({buf_pool, num_of_free_elements}, [&] { *num_of_free_elements = buf_pool->store().num_free(); });
}

doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool, union doca_data *user_data)
{
    return call({buf_pool, user_data}, [&] { *user_data = buf_pool->user_data; });
}

doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool, size_t *element_alignment)
{
    return call({buf_pool, element_alignment}, [&] { *element_alignment = buf_pool->alignment; });
}
