// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Commands about the memory of the device itself. Programs map it by an offset of the uverbs file: map_device_memory().
#include <cerrno>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <unistd.h>

#include "access.hpp"
#include "command.hpp"
#include "limits.hpp"

namespace opendoca::card {

namespace {

/// Rights that a registration of device memory may have, besides the optional ones. All are zero based.
constexpr std::uint32_t allowed_rights = right::local_write | right::remote_write | right::remote_read |
                                         right::remote_atomic | right::zero_based | right::optional;

/// Returns the number of pages that an allocation takes.
std::size_t pages_of(std::uint64_t length)
{
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return static_cast<std::size_t>((length + page - 1) / page);
}

/// Gives an object its pages: their numbers, and the memory. Returns false if there are none, and then page_count is 0,
/// or if the system refuses the memory, with errno.
bool take_pages(DeviceMemory &memory)
{
    const std::size_t count = pages_of(memory.length);
    const auto first = memory.file.function.memory.take(memory, count);
    if (!first)
        return false;
    memory.first_page = *first;
    memory.page_count = count;
    auto created = DevicePages::create(count * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
    if (created)
        memory.pages = std::move(*created);
    return created.has_value();
}

} // namespace

int alloc_dm(Command &command)
{
    const std::uint64_t length = command.number(UVERBS_ATTR_ALLOC_DM_LENGTH);
    // Memory for steering rules (SW ICM) is not modelled.
    if (command.number(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE) != MLX5_IB_UAPI_DM_TYPE_MEMIC)
        return EOPNOTSUPP;
    // Every allocation begins with a page, so it has every alignment up to that of the limit.
    if (length == 0 || command.number32(UVERBS_ATTR_ALLOC_DM_ALIGNMENT) > log_max_device_memory_alignment)
        return EINVAL;
    if (length > max_device_memory)
        return ENOMEM;
    ObjectTable &objects = command.file.card.objects;
    auto *memory = objects.create<DeviceMemory>(command.file);
    if (memory == nullptr)
        return ENOMEM;
    memory->length = length;
    int error = take_pages(*memory) ? 0 : ENOMEM;
    if (error != 0)
        std::fprintf(stderr, "process %d: refused %" PRIu64 " bytes of device memory: %s\n", command.process->pid(),
                     length, memory->page_count == 0 ? "the function has no such free pages" : std::strerror(errno));
    if (error == 0)
        error = command.put_number(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, 0);
    if (error == 0)
        error = command.put(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, memory->first_page);
    if (error != 0) {
        objects.destroy(*memory);
        return error;
    }
    return command.put_handle(UVERBS_ATTR_ALLOC_DM_HANDLE, *memory);
}

int free_dm(Command &command)
{
    auto *memory = command.object<DeviceMemory>(UVERBS_ATTR_FREE_DM_HANDLE);
    if (memory == nullptr)
        return EINVAL;
    if (memory->users != 0)
        return EBUSY;
    command.file.card.objects.destroy(*memory);
    return 0;
}

/// Answers with what alloc_dm() has answered, for a program that imports the memory.
int query_dm(Command &command)
{
    const auto *memory = command.object<DeviceMemory>(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE);
    if (memory == nullptr)
        return EINVAL;
    command.put_number(MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, 0);
    command.put(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, memory->first_page);
    return command.put_number(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, memory->length);
}

/// Refuses an address at which a store is an operation, such as an increment: a page of memory has no such effect. The
/// capabilities report no operation.
int map_dm_operation(Command &command)
{
    return command.object<DeviceMemory>(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE) == nullptr ? EINVAL : EOPNOTSUPP;
}

int reg_dm_mr(Command &command)
{
    auto *memory = command.object<DeviceMemory>(UVERBS_ATTR_REG_DM_MR_DM_HANDLE);
    auto *pd = command.object<ProtectionDomain>(UVERBS_ATTR_REG_DM_MR_PD_HANDLE);
    const std::uint64_t offset = command.number(UVERBS_ATTR_REG_DM_MR_OFFSET);
    const std::uint64_t length = command.number(UVERBS_ATTR_REG_DM_MR_LENGTH);
    const std::uint32_t access = command.number32(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS);
    if (memory == nullptr || pd == nullptr || (access & right::zero_based) == 0 || (access & ~allowed_rights) != 0 ||
        !right::is_consistent(access) || offset > memory->length || length > memory->length - offset)
        return EINVAL;
    ObjectTable &objects = command.file.card.objects;
    auto *mr = objects.create_key<MemoryKey>(command.file, command.file.card.keys);
    if (mr == nullptr)
        return ENOMEM;
    mr->process = command.process;
    mr->pd = Use(pd);
    mr->pd_number = pd->number();
    mr->access = access;
    mr->device_memory = Use(memory);
    mr->start = offset;
    mr->iova = 0;
    mr->length = length;
    int error = command.put(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, mr->key);
    if (error == 0)
        error = command.put(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, mr->key);
    if (error != 0) {
        objects.destroy(*mr);
        return error;
    }
    return command.put_handle(UVERBS_ATTR_REG_DM_MR_HANDLE, *mr);
}

int map_device_memory(const OpenFile &file, std::size_t page, std::uint64_t length, UniqueFd &pages)
{
    const DeviceMemory *memory = file.function.memory.owner(page);
    if (memory == nullptr || &memory->file != &file || memory->first_page != page ||
        length > memory->pages.bytes().size())
        return EINVAL;
    pages = memory->pages.share();
    return pages.is_open() ? 0 : EMFILE;
}

} // namespace opendoca::card
