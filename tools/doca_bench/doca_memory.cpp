// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "doca_memory.hpp"

#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace opendoca::tools {

MmapHandle start_map(doca_dev *dev, std::span<std::byte> memory, std::uint32_t rights)
{
    doca_mmap *map = nullptr;
    must(api::create_map(&map), "creating a memory map");
    MmapHandle handle(map);
    must(doca_mmap_set_memrange(map, memory.data(), memory.size()), "setting a memory range");
    must(doca_mmap_set_permissions(map, rights), "setting permissions");
    must(api::add_dev_to_map(map, dev), "adding a device");
    must(doca_mmap_start(map), "starting a memory map");
    return handle;
}

InventoryHandle start_inventory(std::size_t size)
{
    doca_buf_inventory *inventory = nullptr;
    must(api::create_inventory(size, &inventory), "creating an inventory");
    InventoryHandle handle(inventory);
    must(doca_buf_inventory_start(inventory), "starting an inventory");
    return handle;
}

// The same zeroed pages from a memfd or from anonymous memory; memset touches each page.
OwnMemory::OwnMemory(MemoryKind kind, std::size_t size)
{
    if (kind == MemoryKind::shared) {
        memfd_ = UniqueFd(memfd_create("doca_bench", MFD_CLOEXEC));
        if (!memfd_.is_open() || ftruncate(memfd_.get(), static_cast<off_t>(size)) != 0)
            fail("creating a memfd");
    }
    void *const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              memfd_.is_open() ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, memfd_.get(), 0);
    if (mapped == MAP_FAILED)
        fail("mapping memory");
    bytes_ = {static_cast<std::byte *>(mapped), size};
    std::memset(mapped, 0, size);
}

OwnMemory::~OwnMemory()
{
    munmap(bytes_.data(), bytes_.size());
}

} // namespace opendoca::tools
