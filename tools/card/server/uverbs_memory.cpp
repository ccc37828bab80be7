// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Commands about memory regions, memory windows and registered user memory.
#include <cerrno>
#include <cstdint>
#include <memory>
#include <vector>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <unistd.h>

#include "access.hpp"
#include "command.hpp"

namespace opendoca::card {

namespace {

/// Returns whether a registration may have these rights.
bool is_allowed(std::uint32_t access)
{
    return (access & ~right::all) == 0 && right::is_consistent(access);
}

/// Returns whether the pages must be writable for these rights. Binding counts, since a window may grant write access.
bool is_written(std::uint32_t access)
{
    return (access & (right::local_write | right::remote_write | right::remote_atomic | right::bind_window)) != 0;
}

/// Returns whether the device can address memory at `start` by addresses from `named` on: the offset in a page must
/// match.
bool has_offset_of(std::uint64_t named, std::uint64_t start)
{
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return named % page == start % page;
}

/// Returns whether a range is the whole address space: an implicit on-demand region, in which every address is itself.
bool is_whole_space(std::uint64_t start, std::uint64_t named, std::uint64_t length)
{
    return start == 0 && named == 0 && length == ~0ull;
}

/// Prepares memory for a registration with these rights: pins its pages, or, of an on-demand region, checks the range
/// alone, since its pages are read and written when they are used. Returns an errno, or 0.
int prepare_memory(const Profile &profile, const std::shared_ptr<Process> &process, std::uint64_t start,
                   std::uint64_t named, std::uint64_t length, std::uint32_t access, PinnedMemory &pinned)
{
    if ((access & right::on_demand) == 0)
        return pin_memory(process, start, length, is_written(access), pinned);
    pinned = {};
    if (is_whole_space(start, named, length))
        return profile.has_implicit_regions ? 0 : EINVAL;
    return length != 0 && start + length >= start ? 0 : EINVAL;
}

/// Checks one range of advise_mr(), as the kernel's driver does. Returns an errno, or 0.
int check_advice(const Command &command, const ProtectionDomain &pd, const ib_uverbs_sge &range, bool is_for_writing)
{
    const MemoryKey *key = command.file.card.keys.find(range.lkey);
    if (key == nullptr || &key->file != &command.file || (key->access & right::on_demand) == 0)
        return ENOENT;
    if (key->pd_number != pd.number() || (is_for_writing && !is_written(key->access)))
        return EPERM;
    const std::uint64_t offset = range.addr - key->iova;
    return range.addr >= key->iova && offset <= key->length && range.length <= key->length - offset ? 0 : EFAULT;
}

} // namespace

int reg_mr(Command &command)
{
    ib_uverbs_reg_mr request;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)))
        return EINVAL;
    auto *pd = command.object_of<ProtectionDomain>(request.pd_handle);
    if (pd == nullptr || !is_allowed(request.access_flags) || !has_offset_of(request.hca_va, request.start))
        return EINVAL;
    PinnedMemory pinned;
    if (const int error = prepare_memory(command.file.card.profile, command.process, request.start, request.hca_va,
                                         request.length, request.access_flags, pinned))
        return error;
    ObjectTable &objects = command.file.card.objects;
    // The pages are pinned before the key exists, so a failure up to here leaves nothing to undo. From here on
    // destroying the object undoes everything, the pin included.
    auto *mr = objects.create_key<MemoryKey>(command.file, command.file.card.keys);
    if (mr == nullptr)
        return ENOMEM;
    mr->process = command.process;
    mr->pinned = std::move(pinned);
    mr->pd = Use(pd);
    mr->pd_number = pd->number();
    mr->access = request.access_flags;
    mr->start = request.start;
    mr->iova = request.hca_va;
    mr->length = request.length;
    ib_uverbs_reg_mr_resp response{};
    response.mr_handle = mr->handle;
    // mlx5 devices have one key for local and for remote accesses.
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
    if (mr == nullptr || mr->device_memory || request.flags == 0 ||
        (request.flags & ~(new_range | new_pd | new_access)) != 0 || (gives_pd && pd == nullptr) ||
        ((request.flags & new_access) != 0 && !is_allowed(request.access_flags)) ||
        ((request.flags & new_range) != 0 && !has_offset_of(request.hca_va, request.start)))
        return EINVAL;
    // From here on values are computed first and applied at the end, so a refused call leaves the region unchanged.
    const bool moves = (request.flags & new_range) != 0;
    const std::uint32_t access = (request.flags & new_access) != 0 ? request.access_flags : mr->access;
    // Pages that were pinned for reading must be pinned again for writing, and those of an on-demand region were not
    // pinned.
    if (moves || (is_written(access) && !is_written(mr->access)) || ((access ^ mr->access) & right::on_demand) != 0) {
        PinnedMemory pinned;
        if (const int error = prepare_memory(command.file.card.profile, moves ? command.process : mr->process,
                                             moves ? request.start : mr->start, moves ? request.hca_va : mr->iova,
                                             moves ? request.length : mr->length, access, pinned))
            return error;
        mr->pinned = std::move(pinned);
    }
    if (moves) {
        mr->process = command.process;
        mr->start = request.start;
        mr->iova = request.hca_va;
        mr->length = request.length;
    }
    if (gives_pd) {
        mr->pd = Use(pd);
        mr->pd_number = pd->number();
    }
    mr->access = access;
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

/// Accepts advice to prefetch ranges of on-demand regions. Nothing is left to do: the card reads and writes a program's
/// pages when it needs them, and has no translations of its own to prepare.
int advise_mr(Command &command)
{
    constexpr std::uint32_t flush = 1; // ib_uverbs_advise_mr_flag: complete before the call returns
    const auto *pd = command.object<ProtectionDomain>(UVERBS_ATTR_ADVISE_MR_PD_HANDLE);
    const std::uint64_t advice = command.number(UVERBS_ATTR_ADVISE_MR_ADVICE);
    const std::uint64_t flags = command.number(UVERBS_ATTR_ADVISE_MR_FLAGS);
    std::vector<ib_uverbs_sge> ranges(command.length(UVERBS_ATTR_ADVISE_MR_SGE_LIST) / sizeof(ib_uverbs_sge));
    if (pd == nullptr || ranges.empty() || (flags & ~std::uint64_t{flush}) != 0)
        return EINVAL;
    if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
        return EOPNOTSUPP;
    if (!command.get(UVERBS_ATTR_ADVISE_MR_SGE_LIST, ranges.data(), ranges.size() * sizeof(ib_uverbs_sge)))
        return EFAULT;
    for (const ib_uverbs_sge &range : ranges) {
        const int error = check_advice(command, *pd, range, advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE);
        // Without the flag the kernel prefetches later, when no error reaches the program any more.
        if (error != 0 && (error != EFAULT || (flags & flush) != 0))
            return error;
    }
    return 0;
}

int dereg_mr(Command &command)
{
    auto *mr = command.object<MemoryKey>(UVERBS_ATTR_DESTROY_MR_HANDLE);
    if (mr == nullptr)
        return EINVAL;
    // Requests in flight that name the key fail at their next part.
    command.file.card.objects.destroy(*mr);
    return 0;
}

int alloc_mw(Command &command)
{
    constexpr std::uint8_t type_1 = 1, type_2 = 2; // ibv_mw_type
    ib_uverbs_alloc_mw request;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)))
        return EINVAL;
    auto *pd = command.object_of<ProtectionDomain>(request.pd_handle);
    if (pd == nullptr || (request.mw_type != type_1 && request.mw_type != type_2))
        return EINVAL;
    ObjectTable &objects = command.file.card.objects;
    auto *window = objects.create_key<MemoryWindow>(command.file, command.file.card.keys);
    if (window == nullptr)
        return ENOMEM;
    window->process = command.process;
    window->pd = Use(pd);
    window->pd_number = pd->number();
    // A window has no range until a UMR request binds it.
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
    if (!is_allowed(access))
        return EINVAL;
    if (command.has(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD))
        return EOPNOTSUPP;
    PinnedMemory pinned;
    if (const int error = pin_memory(command.process, start, length, is_written(access), pinned))
        return error;
    auto *memory = command.file.card.objects.create<UserMemory>(command.file);
    if (memory == nullptr)
        return ENOMEM;
    memory->process = command.process;
    memory->start = start;
    memory->length = length;
    memory->pinned = std::move(pinned);
    memory->is_writable = (access & right::local_write) != 0;
    // Mailboxes name the memory by the same number as the handle.
    command.put(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, memory->handle);
    return command.put_handle(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, *memory);
}

int deregister_user_memory(Command &command)
{
    auto *memory = command.object<UserMemory>(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE);
    if (memory == nullptr)
        return EINVAL;
    // A DEVX object still uses the memory.
    if (memory->users != 0)
        return EBUSY;
    command.file.card.objects.destroy(*memory);
    return 0;
}

} // namespace opendoca::card
