// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of memory maps. The object is the same as that of DOCA 2.2; flags have other names and the same
// values.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "../objects/mmap.hpp"

#include <doca_mmap.h>

#include "../log/log.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MMAP);

using opendoca::ExportKind;
using opendoca::value_of;
using opendoca::v3::call;

static_assert(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE == opendoca::Access::local_read_write &&
              DOCA_ACCESS_FLAG_RDMA_READ == opendoca::Access::rdma_read &&
              DOCA_ACCESS_FLAG_RDMA_WRITE == opendoca::Access::rdma_write &&
              DOCA_ACCESS_FLAG_RDMA_ATOMIC == opendoca::Access::rdma_atomic &&
              DOCA_ACCESS_FLAG_PCI_READ_ONLY == opendoca::Access::dpu_read_only &&
              DOCA_ACCESS_FLAG_PCI_READ_WRITE == opendoca::Access::dpu_read_write);

doca_error_t doca_mmap_create(struct doca_mmap **mmap)
{
    // The program holds one share of the map; buffers and contexts that use it hold others.
    return call({mmap}, [&] { *mmap = doca_mmap::add_program_reference(std::make_shared<doca_mmap>(doca_data{})); });
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

doca_error_t doca_mmap_add_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
    return call({mmap, dev}, [&] { return mmap->dev_add(*dev); });
}

doca_error_t doca_mmap_rm_dev(struct doca_mmap *mmap, struct doca_dev *dev)
{
    return call({mmap, dev}, [&] { return mmap->dev_rm(*dev); });
}

doca_error_t doca_mmap_export_pci(struct doca_mmap *mmap, const struct doca_dev *dev, const void **export_desc,
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
    if (export_desc_len == 0)
        return opendoca::refuse_value("a descriptor of 0 bytes");
    return call({export_desc, dev, mmap}, [&] {
        // An imported map is usable at once. It has the importing device only, and cannot be configured.
        return doca_mmap::create_from_export(
            value_of(user_data), {static_cast<const std::byte *>(export_desc), export_desc_len}, *dev, *mmap);
    });
}

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
    if (len == 0)
        return opendoca::refuse_value("a range of 0 bytes");
    return call({mmap, addr}, [&] { return mmap->set_memrange(static_cast<std::byte *>(addr), len); });
}

doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, void *addr, size_t dmabuf_offset,
                                           size_t len)
{
    if (dmabuf_fd < 0 || len == 0 || dmabuf_offset > SIZE_MAX - len ||
        reinterpret_cast<uintptr_t>(addr) > UINTPTR_MAX - len)
        return opendoca::refuse_value("a range of 0 bytes, one that wraps around, or no descriptor of a file");
    return call({mmap}, [&] {
        return mmap->set_dmabuf_memrange(dmabuf_fd, static_cast<std::byte *>(addr), dmabuf_offset, len);
    });
}

doca_error_t doca_mmap_set_dpa_memrange(struct doca_mmap *mmap, struct doca_dpa *dpa, uint64_t, size_t len)
{
    if (len == 0)
        return opendoca::refuse_value("a range of 0 bytes");
    // The arguments are still checked, so that programs see the same errors as with a DPA.
    return call({mmap, dpa}, [] { return DOCA_ERROR_NOT_SUPPORTED; });
}

doca_error_t doca_mmap_dev_get_dpa_handle(struct doca_mmap *mmap, const struct doca_dev *dev,
                                          doca_dpa_dev_mmap_t *dpa_mmap_handle)
{
    return call({mmap, dev, dpa_mmap_handle}, [] { return DOCA_ERROR_NOT_SUPPORTED; });
}

doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len)
{
    return call({mmap, addr, len},
                // DOCA's code for a map without a range, in place of that of core.
                [&] { return mmap->get_range(*addr, *len) == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE; });
}

doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
{
    // The callback is called when the map is destroyed: the memory belongs to the program again.
    return call({mmap}, [&] { return mmap->set_free_cb(free_cb, opaque); });
}

doca_error_t doca_mmap_get_user_data(const struct doca_mmap *mmap, union doca_data *user_data)
{
    return call({mmap, user_data}, [&] { *user_data = mmap->user_data(); });
}

doca_error_t doca_mmap_get_max_num_devices(const struct doca_mmap *mmap, uint32_t *max_num_devices)
{
    return call({mmap, max_num_devices}, [&] { *max_num_devices = mmap->max_num_devices(); });
}

doca_error_t doca_mmap_get_num_bufs(const struct doca_mmap *mmap, uint32_t *num_bufs)
{
    return call({mmap, num_bufs}, [&] {
        if (!mmap->counts_bufs()) {
            LOG_ERR("a memory map with thread safety does not count its buffers");
            return DOCA_ERROR_NOT_PERMITTED;
        }
        *num_bufs = mmap->num_bufs();
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_mmap_get_exported(const struct doca_mmap *mmap, uint8_t *exported)
{
    return call({mmap, exported}, [&] { *exported = mmap->is_exported(); });
}

doca_error_t doca_mmap_get_from_export(const struct doca_mmap *mmap, uint8_t *from_export)
{
    return call({mmap, from_export}, [&] { *from_export = mmap->is_imported(); });
}

doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices)
{
    return call({mmap}, [&] { return mmap->set_max_num_devices(max_num_devices); });
}

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
    return call({mmap}, [&] {
        // No device here relaxes the order of writes across the PCIe, so the flag is accepted and has no effect.
        std::uint32_t access = access_mask & ~std::uint32_t{DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING};
        // PCI_READ_WRITE includes local write access, which programs that set only this flag expect to have.
        if ((access & DOCA_ACCESS_FLAG_PCI_READ_WRITE) != 0)
            access |= DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;
        return mmap->set_permissions(access);
    });
}

doca_error_t doca_mmap_set_user_data(struct doca_mmap *mmap, union doca_data user_data)
{
    return call({mmap}, [&] { return mmap->set_user_data(user_data); });
}

doca_error_t doca_mmap_enable_thread_safety(struct doca_mmap *mmap)
{
    return call({mmap}, [&] { return mmap->enable_thread_safety(); });
}

doca_error_t doca_mmap_get_mkey(struct doca_mmap *mmap, struct doca_dev *dev, uint32_t *mkey)
{
    return call({mmap, dev, mkey}, [&] {
        // Keys exist from start to stop.
        if (!mmap->is_usable()) {
            LOG_ERR("the memory map is not started");
            return DOCA_ERROR_NOT_PERMITTED;
        }
        const opendoca::MemoryKey *const key = mmap->key_for(dev->device());
        if (key == nullptr) {
            if (mmap->is_imported())
                LOG_ERR("the memory map was imported by device %s, and not by device %s",
                        mmap->importer().function().name.c_str(), dev->function().name.c_str());
            else
                LOG_ERR("device %s was not added to the memory map", dev->description().c_str());
            return DOCA_ERROR_NOT_FOUND;
        }
        return key->mkey(*mkey);
    });
}

doca_error_t doca_mmap_cap_is_export_pci_supported(const struct doca_devinfo *devinfo, uint8_t *mmap_export)
{
    // A virtual function: mlx5 devices find out by a trial.
    return call({devinfo, mmap_export}, [&] { *mmap_export = devinfo->function->can_export_dpu(); });
}

doca_error_t doca_mmap_cap_is_create_from_export_pci_supported(const struct doca_devinfo *devinfo, uint8_t *from_export)
{
    return call({devinfo, from_export}, [&] { *from_export = devinfo->function->can_import_dpu(); });
}
