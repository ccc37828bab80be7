// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// User memory (doca_umem) and doorbell pages (doca_uar), for programs that create queues of a device themselves. Those
// of a GPU or a DPA are not supported.
#include "../device/user_access.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <doca_mmap.h>
#include <doca_uar.h>
#include <doca_umem.h>

#include "../log/log.hpp"
#include "../objects/dev.hpp"
#include "call.hpp"

OPENDOCA_LOG_SOURCE(DOCA_USER_ACCESS);

using opendoca::Access;
using opendoca::DoorbellAccess;
using opendoca::v3::call;

/// Registered memory of the program: the opaque type of the C API. Owned by the program.
struct doca_umem {
    opendoca::DeviceUse dev; ///< keeps the device open until the memory is deregistered
    void *address;
    size_t size; ///< bytes
    std::unique_ptr<opendoca::UserMemory> memory;
};

/// A page of doorbell registers: the opaque type of the C API. Owned by the program.
struct doca_uar {
    opendoca::DeviceUse dev;
    std::unique_ptr<opendoca::DoorbellPage> page;
};

namespace {

/// The C API passes a const device. Creating objects of a device does not change what the program sees of it.
doca_dev &mutable_of(const doca_dev *dev) noexcept
{
    return const_cast<doca_dev &>(*dev);
}

doca_error_t check_access(std::uint32_t flags)
{
    if ((flags & ~Access::all) != 0) {
        LOG_ERR("access_flags 0x%" PRIx32 ": the bits 0x%" PRIx32 " are not defined", flags, flags & ~Access::all);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if ((flags & Access::any_dpu) == Access::any_dpu) {
        LOG_ERR("access_flags 0x%" PRIx32 ": PCI_READ_ONLY and PCI_READ_WRITE exclude each other", flags);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

/// Registers memory. Sets @p made only on success.
doca_error_t create_umem(doca_dev &dev, void *address, std::size_t size, std::uint32_t access_flags, doca_umem *&made)
{
    const std::uint32_t access = access_flags & ~std::uint32_t{DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING};
    if (const doca_error_t status = check_access(access); status != DOCA_SUCCESS)
        return status;
    auto umem = std::make_unique<doca_umem>(doca_umem{opendoca::use(dev), address, size, nullptr});
    const opendoca::MemoryRange range = {static_cast<std::byte *>(address), size};
    if (const doca_error_t status = dev.device().create_user_memory(range, access, umem->memory);
        status != DOCA_SUCCESS)
        return status;
    made = umem.release();
    return DOCA_SUCCESS;
}

doca_error_t create_uar(doca_dev &dev, DoorbellAccess access, doca_uar *&made)
{
    auto uar = std::make_unique<doca_uar>(doca_uar{opendoca::use(dev), nullptr});
    if (const doca_error_t status = dev.device().create_doorbell_page(access, uar->page); status != DOCA_SUCCESS)
        return status;
    made = uar.release();
    return DOCA_SUCCESS;
}

doca_error_t refuse(const char *what)
{
    LOG_ERR("no device here has a %s", what);
    return DOCA_ERROR_NOT_SUPPORTED;
}

} // namespace

doca_error_t doca_umem_create(const struct doca_dev *dev, void *address, size_t size, uint32_t access_flags,
                              struct doca_umem **umem_obj)
{
    return size == 0 ? opendoca::refuse_value("a size of 0") : call({dev, address, umem_obj}, [&] {
        return create_umem(mutable_of(dev), address, size, access_flags, *umem_obj);
    });
}

doca_error_t doca_umem_dpa_create(struct doca_dpa *dpa, uint64_t, size_t size, uint32_t, struct doca_umem **umem_obj)
{
    return size == 0 ? opendoca::refuse_value("a size of 0") : call({dpa, umem_obj}, [] { return refuse("DPA"); });
}

doca_error_t doca_umem_gpu_create(struct doca_gpu *gpu, struct doca_dev *dev, void *address, size_t size, uint32_t,
                                  struct doca_umem **umem_obj)
{
    return size == 0 ? opendoca::refuse_value("a size of 0")
                     : call({gpu, dev, address, umem_obj}, [] { return refuse("GPU"); });
}

doca_error_t doca_umem_destroy(struct doca_umem *umem_obj)
{
    return call({umem_obj}, [&] {
        // If a queue of the device still uses the memory, the object stays as it is.
        const doca_error_t status = umem_obj->memory->release();
        if (status == DOCA_SUCCESS)
            delete umem_obj;
        return status;
    });
}

doca_error_t doca_umem_get_id(const struct doca_umem *umem_obj, uint32_t *umem_id)
{
    return call({umem_obj, umem_id}, [&] { *umem_id = umem_obj->memory->id; });
}

doca_error_t doca_umem_get_size(const struct doca_umem *umem_obj, uint32_t *umem_size)
{
    return call({umem_obj, umem_size}, [&]() -> doca_error_t {
        // The result has 32 bits, unlike the size at creation.
        if (umem_obj->size > UINT32_MAX) {
            LOG_ERR("the user memory at %p has %zu bytes, and the answer has 32 bits", umem_obj->address,
                    umem_obj->size);
            return DOCA_ERROR_TOO_BIG;
        }
        *umem_size = static_cast<uint32_t>(umem_obj->size);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_umem_get_address(const struct doca_umem *umem_obj, void **umem_addr)
{
    return call({umem_obj, umem_addr}, [&] { *umem_addr = umem_obj->address; });
}

doca_error_t doca_uar_create(const struct doca_dev *dev, enum doca_uar_allocation_type allocation_type,
                             struct doca_uar **uar_obj)
{
    return call({dev, uar_obj}, [&]() -> doca_error_t {
        switch (allocation_type) {
        case DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME:
            return create_uar(mutable_of(dev), DoorbellAccess::write_combining, *uar_obj);
        case DOCA_UAR_ALLOCATION_TYPE_NONCACHE:
            return create_uar(mutable_of(dev), DoorbellAccess::uncached, *uar_obj);
        case DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED:
            return create_uar(mutable_of(dev), DoorbellAccess::uncached_dedicated, *uar_obj);
        }
        LOG_ERR("allocation_type %u is none of enum doca_uar_allocation_type", static_cast<unsigned>(allocation_type));
        return DOCA_ERROR_INVALID_VALUE;
    });
}

doca_error_t doca_uar_dpa_create(struct doca_dpa *dpa, struct doca_uar **uar_obj)
{
    return call({dpa, uar_obj}, [] { return refuse("DPA"); });
}

doca_error_t doca_uar_destroy(struct doca_uar *uar_obj)
{
    return call({uar_obj}, [&] { delete uar_obj; });
}

doca_error_t doca_uar_id_get(const struct doca_uar *uar_obj, uint32_t *id)
{
    return call({uar_obj, id}, [&] { *id = uar_obj->page->id; });
}

doca_error_t doca_uar_page_get(const struct doca_uar *uar_obj, void **page)
{
    return call({uar_obj, page}, [&] { *page = uar_obj->page->first; });
}

doca_error_t doca_uar_reg_addr_get(const struct doca_uar *uar_obj, void **reg)
{
    return call({uar_obj, reg}, [&] { *reg = uar_obj->page->reg; });
}
