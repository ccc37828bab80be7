// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of memory maps. The object is the same in both generations; the assertion below pins its flags to
// those of 2.2.
#include <cstddef>
#include <memory>

#include "../objects/mmap.hpp"

#include <doca_mmap.h>

#include "../log/log.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MMAP_API);

using opendoca::ExportKind;
using opendoca::value_of;
using opendoca::v2::call;

static_assert(DOCA_ACCESS_LOCAL_READ_WRITE == opendoca::Access::local_read_write &&
              DOCA_ACCESS_RDMA_READ == opendoca::Access::rdma_read &&
              DOCA_ACCESS_RDMA_WRITE == opendoca::Access::rdma_write &&
              DOCA_ACCESS_RDMA_ATOMIC == opendoca::Access::rdma_atomic &&
              DOCA_ACCESS_DPU_READ_ONLY == opendoca::Access::dpu_read_only &&
              DOCA_ACCESS_DPU_READ_WRITE == opendoca::Access::dpu_read_write);

doca_error_t doca_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap)
{
    // The program holds one share of the map; buffers and contexts that use it hold others.
    return call({mmap},
                [&] { *mmap = doca_mmap::add_program_reference(std::make_shared<doca_mmap>(value_of(user_data))); });
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
    return call({mmap}, [&] { return mmap->destroy(); });
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
    // Registers the memory with all devices; buffers can be made from now on.
    return call({mmap}, [&] { return mmap->start(); });
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
    // Ends every import of the memory: returns when no importer accesses it any more.
    return call({mmap}, [&] { return mmap->stop(); });
}

doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev)
{
    return call({mmap, dev}, [&] { return mmap->dev_add(*dev); });
}

doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev)
{
    return call({mmap, dev}, [&] { return mmap->dev_rm(*dev); });
}

doca_error_t doca_mmap_export_dpu(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
                                  size_t *export_desc_len)
{
    // The descriptor is memory of the map, and valid until the map is stopped.
    return call({mmap, dev, export_desc, export_desc_len},
                [&] { return mmap->export_to(ExportKind::dpu, *dev, *export_desc, *export_desc_len); });
}

doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
                                   size_t *export_desc_len)
{
    return call({mmap, dev, export_desc, export_desc_len},
                [&] { return mmap->export_to(ExportKind::rdma, *dev, *export_desc, *export_desc_len); });
}

doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
                                          size_t export_desc_len, struct doca_dev *dev, struct doca_mmap **mmap)
{
    return call({export_desc, dev, mmap}, [&] {
        // Checked after the pointers, as all values are.
        if (export_desc_len == 0) {
            LOG_ERR("an export descriptor of 0 bytes is none");
            return DOCA_ERROR_INVALID_VALUE;
        }
        // An imported map is usable at once. It has the importing device only, and cannot be configured.
        return doca_mmap::create_from_export(
            value_of(user_data), {static_cast<const std::byte *>(export_desc), export_desc_len}, *dev, *mmap);
    });
}

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
    return call({mmap, addr}, [&] {
        if (len == 0) {
            LOG_ERR("a memory range of 0 bytes is none");
            return DOCA_ERROR_INVALID_VALUE;
        }
        return mmap->set_memrange(static_cast<std::byte *>(addr), len);
    });
}

doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, size_t offset, size_t len)
{
    return call({mmap}, [&] {
        if (dmabuf_fd < 0 || len == 0 || offset > SIZE_MAX - len) {
            LOG_ERR("[%zu, +%zu) of dmabuf %d is no memory range", offset, len, dmabuf_fd);
            return DOCA_ERROR_INVALID_VALUE;
        }
        // 2.2 has no parameter for an address, so the memory map maps the dmabuf itself.
        return mmap->set_dmabuf_memrange(dmabuf_fd, nullptr, offset, len);
    });
}

doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len)
{
    return call({mmap, addr, len}, [&] { return mmap->get_range(*addr, *len); });
}

doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
    // The callback is called when the map is destroyed: the memory belongs to the program again.
    return call({mmap}, [&] { return mmap->set_free_cb(free_cb, opaque); });
}

doca_error_t doca_mmap_get_user_data(struct doca_mmap *mmap, union doca_data *user_data)
{
    return call({mmap, user_data}, [&] { *user_data = mmap->user_data(); });
}

doca_error_t doca_mmap_get_max_num_devices(struct doca_mmap *mmap, uint32_t *max_num_devices)
{
    return call({mmap, max_num_devices}, [&] { *max_num_devices = mmap->max_num_devices(); });
}

doca_error_t doca_mmap_get_num_bufs(struct doca_mmap *mmap, uint32_t *num_bufs)
{
    return call({mmap, num_bufs}, [&] { *num_bufs = mmap->num_bufs(); });
}

doca_error_t doca_mmap_get_exported(struct doca_mmap *mmap, uint8_t *exported)
{
    return call({mmap, exported}, [&] { *exported = mmap->is_exported(); });
}

doca_error_t doca_mmap_get_from_export(struct doca_mmap *mmap, uint8_t *from_export)
{
    return call({mmap, from_export}, [&] { *from_export = mmap->is_imported(); });
}

doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices)
{
    return call({mmap}, [&] { return mmap->set_max_num_devices(max_num_devices); });
}

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
    return call({mmap}, [&] { return mmap->set_permissions(access_mask); });
}
