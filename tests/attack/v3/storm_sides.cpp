// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <cstddef>
#include <memory>
#include <span>

#include "../storm_sides.hpp"

#include "parts.hpp"

namespace attack {

struct Export::Objects {
    Objects(Walk &walk, doca_dev *dev, std::span<std::byte> memory)
        : map(walk, dev, memory, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE)
    {
    }

    Map map;
};

Export::Export(Walk &walk, doca_dev *dev, std::span<std::byte> memory)
    : walk_(walk),
      objects_(std::make_unique<Objects>(walk, dev, memory))
{
    const void *descriptor = nullptr;
    std::size_t length = 0;
    if (objects_->map.is_made() &&
        walk.call([&] { return doca_mmap_export_pci(objects_->map, dev, &descriptor, &length); }))
        descriptor_ = {static_cast<const std::byte *>(descriptor), length};
}

Export::~Export() = default;

doca_error_t Export::stop()
{
    return walk_.enter([&] { return doca_mmap_stop(objects_->map); });
}

struct Import::Objects {
    Objects(Walk &walk, doca_dev *dev, std::span<std::byte> own)
        : own_map(walk, dev, own, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE),
          imported(walk, doca_mmap_destroy),
          inventory(walk, 2),
          engine(walk),
          dma(walk, engine, dev)
    {
    }

    Map own_map;
    Owned<doca_mmap> imported;
    Inventory inventory;
    Engine engine;
    Dma dma;
};

Import::Import(Walk &walk, doca_dev *dev, std::span<const std::byte> descriptor, std::span<std::byte> own)
    : walk_(walk),
      objects_(std::make_unique<Objects>(walk, dev, own)),
      own_(own)
{
    void *start = nullptr;
    std::size_t length = 0;
    is_made_ = objects_->own_map.is_made() && objects_->inventory.is_made() && objects_->dma.is_made() &&
               walk.call([&] {
                   return doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev,
                                                       objects_->imported.out());
               }) &&
               walk.call([&] { return doca_mmap_get_memrange(objects_->imported, &start, &length); });
    there_ = static_cast<std::byte *>(start);
}

Import::~Import() = default;

doca_error_t Import::copy(bool is_write, std::size_t bytes)
{
    const AtEnd release([&] { objects_->inventory.release_all(); });
    doca_buf *const far = objects_->inventory.make(objects_->imported, there_, bytes, !is_write);
    doca_buf *const near = objects_->inventory.make(objects_->own_map, own_.data(), bytes, is_write);
    if (far == nullptr || near == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    return is_write ? objects_->dma.copy(near, far) : objects_->dma.copy(far, near);
}

} // namespace attack
