// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Commands about memory regions, memory windows and registered user memory.
#include <cerrno>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "access.hpp"
#include "command.hpp"

namespace opendoca::card {

namespace {

bool is_allowed(std::uint32_t access)
{
    return (access & (right::remote_write | right::remote_atomic)) == 0 || (access & right::local_write) != 0;
}

/// An errno, or 0: is there memory? A card pins all of it; here the ends and pages between are looked at.
int check_memory(const Process &process, std::uint64_t start, std::uint64_t length)
{
    constexpr std::uint64_t most_looks = 64;
    if (start + length < start)
        return EINVAL;
    if (length == 0)
        return 0;
    const std::uint64_t step = length / most_looks + 1;
    std::uint8_t byte = 0;
    for (std::uint64_t at = 0; at < length; at += step) {
        if (process.read(start + at, &byte, 1) != Access::done)
            return EFAULT;
    }
    return process.read(start + length - 1, &byte, 1) == Access::done ? 0 : EFAULT;
}

} // namespace

int reg_mr(Command &command)
{
    ib_uverbs_reg_mr request;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)))
        return EINVAL;
    auto *pd = command.object_of<ProtectionDomain>(request.pd_handle);
    if (pd == nullptr || !is_allowed(request.access_flags))
        return EINVAL;
    if ((request.access_flags & right::on_demand) != 0)
        return EOPNOTSUPP;
    if (const int error = check_memory(*command.process, request.start, request.length))
        return error;
    ObjectTable &objects = command.file.card.objects;
    auto *mr = objects.create<MemoryKey>(command.file);
    if (mr == nullptr)
        return ENOMEM;
    if (!command.file.card.keys.add(*mr)) {
        objects.destroy(*mr);
        return ENOMEM;
    }
    mr->process = command.process;
    mr->pd = Use(pd);
    mr->pd_number = pd->number();
    mr->access = request.access_flags;
    mr->start = request.start;
    mr->iova = request.hca_va;
    mr->length = request.length;
    ib_uverbs_reg_mr_resp response{};
    response.mr_handle = mr->handle;
    response.lkey = response.rkey = mr->key;
    const int error = command.put(UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    if (error != 0)
        objects.destroy(*mr);
    return error;
}

int rereg_mr(Command &command)
{
    constexpr std::uint32_t new_range = 1, new_pd = 2, new_access = 4; // ibv_rereg_mr_flags
    ib_uverbs_rereg_mr request;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)))
        return EINVAL;
    auto *mr = command.object_of<MemoryKey>(request.mr_handle);
    const bool gives_pd = (request.flags & new_pd) != 0;
    auto *pd = gives_pd ? command.object_of<ProtectionDomain>(request.pd_handle) : nullptr;
    if (mr == nullptr || request.flags == 0 || (request.flags & ~(new_range | new_pd | new_access)) != 0 ||
        (gives_pd && pd == nullptr) ||
        ((request.flags & new_access) != 0 && !is_allowed(request.access_flags)))
        return EINVAL;
    if ((request.flags & new_range) != 0) {
        if (const int error = check_memory(*command.process, request.start, request.length))
            return error;
        mr->process = command.process;
        mr->start = request.start;
        mr->iova = request.hca_va;
        mr->length = request.length;
    }
    if (gives_pd) {
        mr->pd = Use(pd);
        mr->pd_number = pd->number();
    }
    if ((request.flags & new_access) != 0)
        mr->access = request.access_flags;
    ib_uverbs_rereg_mr_resp response{};
    response.lkey = response.rkey = mr->key;
    return command.put(UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
}

int query_mr(Command &command)
{
    const auto *mr = command.object<MemoryKey>(UVERBS_ATTR_QUERY_MR_HANDLE);
    if (mr == nullptr)
        return EINVAL;
    command.put(UVERBS_ATTR_QUERY_MR_RESP_LKEY, mr->key);
    command.put(UVERBS_ATTR_QUERY_MR_RESP_RKEY, mr->key);
    command.put(UVERBS_ATTR_QUERY_MR_RESP_IOVA, mr->iova);
    return command.put(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, mr->length);
}

int dereg_mr(Command &command)
{
    auto *mr = command.object<MemoryKey>(UVERBS_ATTR_DESTROY_MR_HANDLE);
    if (mr == nullptr)
        return EINVAL;
    command.file.card.objects.destroy(*mr);
    return 0;
}

int alloc_mw(Command &command)
{
    constexpr std::uint8_t type_1 = 1, type_2 = 2;
    ib_uverbs_alloc_mw request;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)))
        return EINVAL;
    auto *pd = command.object_of<ProtectionDomain>(request.pd_handle);
    if (pd == nullptr || (request.mw_type != type_1 && request.mw_type != type_2))
        return EINVAL;
    ObjectTable &objects = command.file.card.objects;
    auto *window = objects.create<MemoryWindow>(command.file);
    if (window == nullptr)
        return ENOMEM;
    if (!command.file.card.keys.add(*window)) {
        objects.destroy(*window);
        return ENOMEM;
    }
    window->process = command.process;
    window->pd = Use(pd);
    window->pd_number = pd->number();
    window->is_indirect = true;
    window->is_free = true;
    ib_uverbs_alloc_mw_resp response{};
    response.mw_handle = window->handle;
    response.rkey = window->key;
    const int error = command.put(UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    if (error != 0)
        objects.destroy(*window);
    return error;
}

int dealloc_mw(Command &command)
{
    auto *window = command.object<MemoryWindow>(UVERBS_ATTR_DESTROY_MW_HANDLE);
    if (window == nullptr)
        return EINVAL;
    command.file.card.objects.destroy(*window);
    return 0;
}

int register_user_memory(Command &command)
{
    const std::uint64_t start = command.number(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR);
    const std::uint64_t length = command.number(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN);
    const std::uint32_t access = command.number32(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS);
    if (length == 0 || !is_allowed(access))
        return EINVAL;
    if (command.has(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD))
        return EOPNOTSUPP;
    if (const int error = check_memory(*command.process, start, length))
        return error;
    auto *memory = command.file.card.objects.create<UserMemory>(command.file);
    if (memory == nullptr)
        return ENOMEM;
    memory->process = command.process;
    memory->start = start;
    memory->length = length;
    memory->is_writable = (access & right::local_write) != 0;
    command.put(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, memory->handle);
    return command.put_handle(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, *memory);
}

int deregister_user_memory(Command &command)
{
    auto *memory = command.object<UserMemory>(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE);
    if (memory == nullptr)
        return EINVAL;
    if (memory->users != 0)
        return EBUSY;
    command.file.card.objects.destroy(*memory);
    return 0;
}

} // namespace opendoca::card
