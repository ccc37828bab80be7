// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions for programs that use libibverbs themselves, next to DOCA: protection domains and memory keys.
#include <doca_rdma_bridge.h>

#include "../checks/buffer_check.hpp"
#include "../log/log.hpp"
#include "../objects/buf.hpp"
#include "../objects/dev.hpp"
#include "../objects/mmap.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_BRIDGE);

using opendoca::v3::call;

doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd)
{
    return call({dev, pd}, [&] {
        // Programs may create verbs objects on the PD, and must destroy them before they close the device.
        ibv_pd *const found = dev->device().protection_domain();
        if (found == nullptr) {
            LOG_ERR("device %s has no protection domain: it is not a libibverbs device", dev->function().name.c_str());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        *pd = found;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev)
{
    // Each call creates a new doca_dev. The program must keep the PD until it has closed that device.
    return call({pd, dev}, [&] { return doca_dev::open_from_pd(*pd, *dev); });
}

doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf, struct doca_dev *dev, uint32_t *mkey)
{
    return call({buf, dev, mkey}, [&] {
        const opendoca::MemoryKey *const key = buf->mmap->key_for(dev->device());
        if (key == nullptr) {
            opendoca::explain_missing_key(*buf, dev->device());
            return DOCA_ERROR_INVALID_VALUE;
        }
        return key->mkey(*mkey);
    });
}

doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap, struct ibv_pd *pd, uint32_t *mkey)
{
    return call({mmap, pd, mkey}, [&] {
        const opendoca::MemoryKey *const key = mmap->key_on(*pd);
        if (key == nullptr) {
            LOG_ERR("the memory map is not started, or has no device on protection domain %p", static_cast<void *>(pd));
            return DOCA_ERROR_NOT_FOUND;
        }
        return key->mkey(*mkey);
    });
}
