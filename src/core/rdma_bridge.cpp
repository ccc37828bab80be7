// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <doca_log.h>
#include <doca_rdma_bridge.h>

#include "buf.hpp"
#include "dev.hpp"
#include "guard.hpp"
#include "mmap.hpp"

DOCA_LOG_REGISTER(DOCA_RDMA_BRIDGE);

using opendoca::guarded;

doca_error_t doca_dev_get_pd(const struct doca_dev *dev, struct ibv_pd **pd)
{
    if (dev == nullptr || pd == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    ibv_pd *const found = dev->device().protection_domain();
    if (found == nullptr) {
        DOCA_LOG_ERR("device %s has no protection domain: it is not one of libibverbs",
                     dev->function().name.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    *pd = found;
    return DOCA_SUCCESS;
}

doca_error_t doca_dev_open_from_pd(struct ibv_pd *pd, struct doca_dev **dev)
{
    if (pd == nullptr || dev == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] { return doca_dev::open_from_pd(*pd, *dev); });
}

doca_error_t doca_buf_get_mkey(const struct doca_buf *buf, struct doca_dev *dev, uint32_t *mkey)
{
    if (buf == nullptr || dev == nullptr || mkey == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    const opendoca::MemoryKey *const key = buf->mmap->key_for(dev->device());
    if (key == nullptr) {
        DOCA_LOG_ERR("device %s was not added to the memory map of buffer %p", dev->function().name.c_str(),
                     static_cast<const void *>(buf));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return key->mkey(*mkey);
}
