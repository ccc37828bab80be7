// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "user_access.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "../../log/log.hpp"
#include "device.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MLX5_USER_ACCESS);

namespace opendoca::mlx5 {

namespace {

/// Returns the rights of the pages of a UMEM. The device checks each access by the queue that makes it, so atomics
/// count as reads and writes here; the kernel has no finer rights.
std::uint32_t page_rights(std::uint32_t access) noexcept
{
    constexpr std::uint32_t reads_for_peers =
        Access::rdma_read | Access::rdma_atomic | Access::dpu_read_only | Access::dpu_read_write;
    constexpr std::uint32_t writes_for_peers = Access::rdma_write | Access::rdma_atomic | Access::dpu_read_write;
    const bool writes = (access & (Access::local_read_write | writes_for_peers)) != 0;
    return (writes ? std::uint32_t{IBV_ACCESS_LOCAL_WRITE} : 0) |
           ((access & reads_for_peers) != 0 ? std::uint32_t{IBV_ACCESS_REMOTE_READ} : 0) |
           ((access & writes_for_peers) != 0 ? std::uint32_t{IBV_ACCESS_REMOTE_WRITE} : 0);
}

/// A UMEM that was registered by DEVX. The destructor deregisters it, unless release() has succeeded.
class DevxMemory final : public UserMemory {
public:
    DevxMemory(const Mlx5Device &device, Owned<mlx5dv_devx_umem> memory) noexcept
        : UserMemory(memory->umem_id),
          device_(device),
          memory_(std::move(memory))
    {
    }

    [[nodiscard]] doca_error_t release() override
    {
        // If the memory cannot be deregistered, memory_ keeps it.
        mlx5dv_devx_umem *const memory = memory_.get();
        if (const int error = device_.mlx5_function().library().deregister_umem(memory); error != 0) {
            LOG_ERR("device %s cannot deregister user memory 0x%x: %s%s", device_.mlx5_function().name.c_str(), id,
                    std::strerror(error), error == EBUSY ? "; an object of the device uses it" : "");
            return DOCA_ERROR_DRIVER;
        }
        (void)memory_.release();
        return DOCA_SUCCESS;
    }

private:
    const Mlx5Device &device_;
    Owned<mlx5dv_devx_umem> memory_;
};

/// A UAR that was allocated by DEVX. The mapping ends with this object.
class DevxPage final : public DoorbellPage {
public:
    DevxPage(const Library &library, mlx5dv_devx_uar &uar) noexcept
        : DoorbellPage(uar.page_id, uar.base_addr, uar.reg_addr),
          library_(library),
          uar_(uar)
    {
    }
    ~DevxPage() override { library_.free_uar(&uar_); }

private:
    const Library &library_;
    mlx5dv_devx_uar &uar_;
};

/// Returns libmlx5's constant for @p access; nothing if the rdma-core headers of this build have none.
std::optional<std::uint32_t> uar_type(DoorbellAccess access) noexcept
{
    switch (access) {
    case DoorbellAccess::write_combining:
        return MLX5DV_UAR_ALLOC_TYPE_BF;
    case DoorbellAccess::uncached:
        return MLX5DV_UAR_ALLOC_TYPE_NC;
    case DoorbellAccess::uncached_dedicated:
#ifdef MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED
        return MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED;
#else
        break;
#endif
    }
    return std::nullopt;
}

} // namespace

doca_error_t create_user_memory(const Mlx5Device &device, const MemoryRange &range, std::uint32_t access,
                                std::unique_ptr<UserMemory> &memory)
{
    const Library &library = device.mlx5_function().library();
    errno = 0;
    Owned<mlx5dv_devx_umem> made(library.register_umem(&device.context(), range.addr, range.len, page_rights(access)),
                                 Release{&library});
    if (made == nullptr)
        return verbs::explain_registration(errno != 0 ? errno : EIO, range, device.mlx5_function().name);
    memory = std::make_unique<DevxMemory>(device, std::move(made));
    return DOCA_SUCCESS;
}

doca_error_t create_doorbell_page(const Mlx5Device &device, DoorbellAccess access, std::unique_ptr<DoorbellPage> &page)
{
    const std::string &name = device.mlx5_function().name;
    const std::optional<std::uint32_t> type = uar_type(access);
    if (!type) {
        LOG_ERR("device %s: this libmlx5 cannot allocate a doorbell page for a single queue", name.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    const Library &library = device.mlx5_function().library();
    errno = 0;
    mlx5dv_devx_uar *const uar = library.alloc_uar(&device.context(), *type);
    if (uar == nullptr) {
        const int error = errno != 0 ? errno : EIO;
        LOG_ERR("device %s cannot allocate a doorbell page of type %u: %s", name.c_str(), *type, std::strerror(error));
        return error == EOPNOTSUPP ? DOCA_ERROR_NOT_SUPPORTED
               : error == ENOMEM   ? DOCA_ERROR_NO_MEMORY
                                   : DOCA_ERROR_DRIVER;
    }
    // The UAR is not owned by an object yet.
    try {
        page = std::make_unique<DevxPage>(library, *uar);
    } catch (...) {
        library.free_uar(uar);
        throw;
    }
    return DOCA_SUCCESS;
}

} // namespace opendoca::mlx5
