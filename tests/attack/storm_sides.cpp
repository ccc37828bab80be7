// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "storm_sides.hpp"

#include <cstddef>
#include <optional>
#include <span>

#include <doca_buf.h>

#include "parts.hpp"

namespace attack {

struct Export::Objects {
    Objects(Walk &walk, doca_dev *dev, std::span<std::byte> memory)
        : map(walk, dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE)
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
        walk.call([&] { return doca_mmap_export_dpu(objects_->map, dev, &descriptor, &length); }))
        descriptor_ = {static_cast<const std::byte *>(descriptor), length};
}

Export::~Export() = default;

doca_error_t Export::stop()
{
    return walk_.enter([&] { return doca_mmap_stop(objects_->map); });
}

struct Import::Objects {
    Objects(Walk &walk, doca_dev *dev, std::span<std::byte> own)
        : own_map(walk, dev, own, DOCA_ACCESS_LOCAL_READ_WRITE),
          imported(walk, doca_mmap_destroy),
          inventory(walk, 2),
          dma(walk, doca_dma_destroy)
    {
    }

    Map own_map;
    Owned<doca_mmap> imported;
    Inventory inventory;
    Owned<doca_dma> dma;
    doca_ctx *ctx = nullptr;
    std::optional<Queue> queue;
};

Import::Import(Walk &walk, doca_dev *dev, std::span<const std::byte> descriptor, std::span<std::byte> own)
    : walk_(walk),
      objects_(std::make_unique<Objects>(walk, dev, own)),
      own_(own)
{
    void *start = nullptr;
    std::size_t length = 0;
    if (!objects_->own_map.is_made() || !objects_->inventory.is_made() || !walk.call([&] {
            return doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev,
                                                objects_->imported.out());
        }) ||
        !walk.call([&] { return doca_mmap_get_memrange(objects_->imported, &start, &length); }) ||
        !walk.call([&] { return doca_dma_create(objects_->dma.out()); }))
        return;
    there_ = static_cast<std::byte *>(start);
    objects_->ctx = doca_dma_as_ctx(objects_->dma);
    objects_->queue.emplace(walk, objects_->ctx, dev, false);
    is_made_ = objects_->queue->is_made();
}

Import::~Import() = default;

doca_error_t Import::copy(bool is_write, std::size_t bytes)
{
    const auto release = [](doca_buf *buf) { return doca_buf_refcount_rm(buf, nullptr); };
    Owned<doca_buf> far(walk_, release), near(walk_, release);
    *far.out() = objects_->inventory.make(objects_->imported, there_, bytes, !is_write);
    *near.out() = objects_->inventory.make(objects_->own_map, own_.data(), bytes, is_write);
    if (far.get() == nullptr || near.get() == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    const doca_dma_job_memcpy job = is_write ? copy_job(objects_->ctx, far, near) : copy_job(objects_->ctx, near, far);
    return objects_->queue->run(job.base);
}

} // namespace attack
