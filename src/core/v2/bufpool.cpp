// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of buffer pools: buffers of equal size that divide one memory map.
#include <cstddef>

#include "../objects/bufpool.hpp"

#include <doca_buf.h>
#include <doca_bufpool.h>

#include "../log/log.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_BUFPOOL);

using opendoca::v2::call;

/// The opaque type of the C API. Owned by the program.
struct doca_bufpool final : opendoca::BufPool {
    using BufPool::BufPool;
};

doca_error_t doca_bufpool_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
                                 size_t element_size, size_t element_alignment, const struct doca_mmap *mmap,
                                 struct doca_bufpool **bufpool)
{
    return call({mmap, bufpool}, [&]() -> opendoca::Status {
        if (const doca_error_t status = mmap->check_range(); status != DOCA_SUCCESS)
            return status;
        if (const doca_error_t status = opendoca::BufPool::check_size(num_elements, element_size);
            status != DOCA_SUCCESS)
            return status;
        if (extensions != DOCA_BUF_EXTENSION_NONE) {
            LOG_ERR("buffer extensions 0x%x do not exist", extensions);
            return DOCA_ERROR_INVALID_VALUE;
        }
        // 0 means no alignment.
        const std::size_t alignment = element_alignment == 0 ? 1 : element_alignment;
        if (const doca_error_t status = opendoca::check_alignment(alignment); status != DOCA_SUCCESS)
            return status;
        opendoca::BufLayout layout;
        // The layout is checked first: descriptors of buffers that do not fit could take up to 4 GiB for nothing.
        if (const opendoca::Status status =
                opendoca::BufLayout::in(mmap->range(), num_elements, element_size, alignment, layout);
            status != DOCA_SUCCESS)
            return status;
        *bufpool = new doca_bufpool(num_elements, element_size, mmap->shared_from_this(), layout);
        (*bufpool)->user_data = opendoca::value_of(user_data);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_bufpool_destroy(struct doca_bufpool *bufpool)
{
    return call({bufpool}, [&] {
        const doca_error_t status = bufpool->check_unused();
        if (status == DOCA_SUCCESS)
            delete bufpool;
        return status;
    });
}

doca_error_t doca_bufpool_start(struct doca_bufpool *bufpool)
{
    return call({bufpool}, [&] { return bufpool->start(); });
}

doca_error_t doca_bufpool_stop(struct doca_bufpool *bufpool)
{
    return call({bufpool}, [&] { bufpool->stop(); });
}

doca_error_t doca_bufpool_buf_alloc(struct doca_bufpool *bufpool, struct doca_buf **buf)
{
    return call({bufpool, buf}, [&] { return bufpool->take(*buf); });
}

doca_error_t doca_bufpool_get_num_elements(const struct doca_bufpool *bufpool, uint32_t *num_of_elements)
{
    return call({bufpool, num_of_elements}, [&] { *num_of_elements = bufpool->store().num_elements(); });
}

doca_error_t doca_bufpool_get_num_free_elements(const struct doca_bufpool *bufpool, uint32_t *num_of_free_elements)
{
    return call({bufpool, num_of_free_elements}, [&] { *num_of_free_elements = bufpool->store().num_free(); });
}

doca_error_t doca_bufpool_get_user_data(const struct doca_bufpool *bufpool, union doca_data *user_data)
{
    return call({bufpool, user_data}, [&] { *user_data = bufpool->user_data; });
}
