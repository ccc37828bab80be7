// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "mmap.hpp"

#include <algorithm>
#include <cinttypes>

#include <doca_log.h>

#include "dev.hpp"
#include "guard.hpp"

DOCA_LOG_REGISTER(DOCA_MMAP);

using opendoca::ExportKind;
using opendoca::guarded;

namespace {

constexpr std::uint32_t dpu_access = DOCA_ACCESS_DPU_READ_ONLY | DOCA_ACCESS_DPU_READ_WRITE;
constexpr std::uint32_t rdma_access =
    DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;
constexpr std::uint32_t all_access = DOCA_ACCESS_LOCAL_READ_WRITE | rdma_access | dpu_access;

} // namespace

doca_mmap::~doca_mmap()
{
    exports_.clear();
    for (auto &member : members_) {
        member.key.reset(); // ends every import before the device and the memory can go
        member.dev->release_use();
    }
    if (free_cb_is_due_)
        free_cb_(range_.addr, range_.len, free_cb_cookie_);
}

opendoca::MemoryKey *doca_mmap::key_for(const opendoca::Device &device) const noexcept
{
    const auto member =
        std::ranges::find_if(members_, [&](const Member &m) { return &m.dev->device() == &device; });
    return member == members_.end() ? nullptr : member->key.get();
}

void doca_mmap::remember_first_key() noexcept
{
    first_ = {};
    if (members_.empty() || state_ != State::started)
        return;
    opendoca::MemoryKey &key = *members_.front().key;
    namespace use = opendoca::use;
    using opendoca::FirstKey;
    const auto bit_if = [&](std::uint32_t bit, std::uint32_t uses) { return key.can(uses) ? bit : 0; };
    const std::uint32_t rdma = bit_if(FirstKey::local, use::rdma_local) | bit_if(FirstKey::remote, use::rdma_remote);
    const auto dma = [&](std::uint32_t side) {
        return bit_if(FirstKey::by_dma, side) | bit_if(FirstKey::here, side | use::copied_here);
    };
    first_ = {&members_.front().dev->device(), &key, key.number, rdma | dma(use::dma_source),
              rdma | dma(use::dma_destination)};
}

doca_error_t doca_mmap::check_configurable(const char *what, doca_error_t when_started) const noexcept
{
    if (is_imported_) {
        DOCA_LOG_ERR("an imported memory map has no %s to change", what);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (state_ == State::started) {
        DOCA_LOG_ERR("the memory map is started: its %s can't be changed", what);
        return when_started;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::create_from_export(doca_data data, std::span<const std::byte> descriptor,
                                           doca_dev &dev, doca_mmap *&mmap)
{
    auto imported = std::make_unique<doca_mmap>(data);
    imported->members_.reserve(1);
    std::unique_ptr<opendoca::MemoryKey> key;
    const doca_error_t status = dev.device().import_memory(descriptor, imported->range_, key);
    if (status != DOCA_SUCCESS)
        return status;
    dev.take_use();
    imported->members_.push_back({&dev, std::move(key)});
    imported->is_imported_ = true;
    imported->state_ = State::started;
    imported->remember_first_key();
    mmap = imported.release();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::check_rangeless() const noexcept
{
    if (const doca_error_t status = check_configurable("memory range", DOCA_ERROR_BAD_STATE);
        status != DOCA_SUCCESS)
        return status;
    if (has_range()) {
        DOCA_LOG_ERR("the memory map has the range [%p, +%zu) already", static_cast<void *>(range_.addr),
                     range_.len);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_memrange(std::byte *addr, std::size_t len) noexcept
{
    if (const doca_error_t status = check_rangeless(); status != DOCA_SUCCESS)
        return status;
    if (len > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(addr)) {
        DOCA_LOG_ERR("the range [%p, +%zu) wraps around the address space", static_cast<void *>(addr), len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    range_ = {addr, len};
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_dmabuf_memrange(int fd, std::size_t offset, std::size_t len)
{
    if (const doca_error_t status = check_rangeless(); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = opendoca::Dmabuf::map(fd, offset, len, dmabuf_); status != DOCA_SUCCESS)
        return status;
    range_ = dmabuf_->range();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_permissions(std::uint32_t access) noexcept
{
    if (const doca_error_t status = check_configurable("permissions", DOCA_ERROR_BAD_STATE);
        status != DOCA_SUCCESS)
        return status;
    if ((access & ~all_access) != 0) {
        DOCA_LOG_ERR("access flags 0x%" PRIx32 ": the bits 0x%" PRIx32 " are not defined", access,
                     access & ~all_access);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if ((access & dpu_access) == dpu_access) {
        DOCA_LOG_ERR("access flags 0x%" PRIx32 ": DPU_READ_ONLY and DPU_READ_WRITE exclude each other",
                     access);
        return DOCA_ERROR_INVALID_VALUE;
    }
    access_ = access;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_free_cb(doca_mmap_memrange_free_cb_t *callback, void *cookie) noexcept
{
    if (const doca_error_t status = check_configurable("free callback", DOCA_ERROR_BAD_STATE);
        status != DOCA_SUCCESS)
        return status;
    if (callback != free_cb_ || cookie != free_cb_cookie_)
        free_cb_is_due_ = false;
    free_cb_ = callback;
    free_cb_cookie_ = cookie;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_max_num_devices(std::uint32_t count) noexcept
{
    if (const doca_error_t status = check_configurable("device limit", DOCA_ERROR_NOT_PERMITTED);
        status != DOCA_SUCCESS)
        return status;
    if (was_started_) {
        DOCA_LOG_ERR("the device limit is fixed by the first start of the memory map");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (count == 0 || count < members_.size()) {
        DOCA_LOG_ERR("a limit of %" PRIu32 " devices is too small: %zu were added, and 1 is the minimum",
                     count, members_.size());
        return DOCA_ERROR_INVALID_VALUE;
    }
    max_num_devices_ = count;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::dev_add(doca_dev &dev)
{
    if (const doca_error_t status = check_configurable("devices", DOCA_ERROR_NOT_PERMITTED);
        status != DOCA_SUCCESS)
        return status;
    if (std::ranges::find(members_, &dev, &Member::dev) != members_.end()) {
        DOCA_LOG_ERR("device %s was added to the memory map before", dev.description().c_str());
        return DOCA_ERROR_IN_USE;
    }
    if (members_.size() == max_num_devices_) {
        DOCA_LOG_ERR("the memory map has %" PRIu32 " devices, its limit", max_num_devices_);
        return DOCA_ERROR_NO_MEMORY;
    }
    members_.push_back({&dev, nullptr});
    dev.take_use();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::dev_rm(doca_dev &dev) noexcept
{
    if (const doca_error_t status = check_configurable("devices", DOCA_ERROR_NOT_PERMITTED);
        status != DOCA_SUCCESS)
        return status;
    const auto member = std::ranges::find(members_, &dev, &Member::dev);
    if (member == members_.end()) {
        DOCA_LOG_ERR("the device was not added to the memory map");
        return DOCA_ERROR_INVALID_VALUE;
    }
    members_.erase(member);
    dev.release_use();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::start()
{
    if (is_imported_) {
        DOCA_LOG_ERR("an imported memory map is in use from its creation, and needs no start");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (state_ == State::started) {
        DOCA_LOG_ERR("the memory map is started already");
        return is_exported() ? DOCA_ERROR_NOT_PERMITTED : DOCA_ERROR_BAD_STATE;
    }
    if (!has_range()) {
        DOCA_LOG_ERR("the memory map has no memory range yet");
        return DOCA_ERROR_INVALID_VALUE;
    }
    doca_error_t status = DOCA_SUCCESS;
    for (auto &member : members_) {
        opendoca::Device &device = member.dev->device();
        status = dmabuf_ != nullptr ? device.register_dmabuf(*dmabuf_, access_, member.key)
                                    : device.register_memory(range_, access_, member.key);
        if (status != DOCA_SUCCESS)
            break;
    }
    if (status != DOCA_SUCCESS) {
        for (auto &member : members_)
            member.key.reset();
        return status;
    }
    state_ = State::started;
    remember_first_key();
    was_started_ = true;
    free_cb_is_due_ = free_cb_ != nullptr;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::stop() noexcept
{
    if (state_ != State::started) {
        DOCA_LOG_ERR("the memory map is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    if (const std::uint32_t count = num_bufs(); count != 0) {
        DOCA_LOG_ERR("%" PRIu32 " buffers of the memory map still exist", count);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    exports_.clear();
    for (auto &member : members_)
        member.key.reset(); // returns when no importer touches the memory any more
    state_ = is_imported_ ? State::revoked : State::configurable;
    remember_first_key();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::export_to(ExportKind kind, const doca_dev &dev,
                                  std::span<const std::byte> &descriptor)
{
    const bool to_dpu = kind == ExportKind::dpu;
    if (to_dpu && !dev.function().can.export_dpu) {
        DOCA_LOG_ERR("device %s cannot export memory to a DPU", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!to_dpu && !dev.function().can.rdma.reliable_connection) {
        DOCA_LOG_ERR("device %s cannot export memory for RDMA", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (is_imported_ || state_ != State::started) {
        DOCA_LOG_ERR("only a started memory map of this process can be exported");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if ((access_ & (to_dpu ? dpu_access : rdma_access)) == 0) {
        DOCA_LOG_ERR("access flags 0x%" PRIx32 " of the memory map hold none of DOCA_ACCESS_%s_*", access_,
                     to_dpu ? "DPU" : "RDMA");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    const auto member = std::ranges::find(members_, &dev, &Member::dev);
    if (member == members_.end()) {
        DOCA_LOG_ERR("device %s was not added to the memory map", dev.description().c_str());
        return DOCA_ERROR_INVALID_VALUE;
    }
    auto known =
        std::ranges::find_if(exports_, [&](const Export &e) { return e.kind == kind && e.dev == &dev; });
    if (known == exports_.end()) {
        exports_.reserve(exports_.size() + 1);
        std::vector<std::byte> fresh;
        if (const doca_error_t status = member->key->export_to(kind, fresh); status != DOCA_SUCCESS)
            return status;
        known = exports_.insert(exports_.end(), {kind, &dev, std::move(fresh)});
    }
    descriptor = known->descriptor;
    return DOCA_SUCCESS;
}

// The C functions: null checks, then one call.

doca_error_t doca_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap)
{
    if (mmap == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] {
        *mmap = new doca_mmap(user_data != nullptr ? *user_data : doca_data{});
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_mmap_destroy(struct doca_mmap *mmap)
{
    if (mmap == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (const std::uint32_t count = mmap->num_bufs(); count != 0) {
        DOCA_LOG_ERR("%" PRIu32 " buffers of the memory map still exist", count);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    delete mmap;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap_start(struct doca_mmap *mmap)
{
    if (mmap == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] { return mmap->start(); });
}

doca_error_t doca_mmap_stop(struct doca_mmap *mmap)
{
    return mmap == nullptr ? DOCA_ERROR_INVALID_VALUE : mmap->stop();
}

doca_error_t doca_mmap_dev_add(struct doca_mmap *mmap, struct doca_dev *dev)
{
    if (mmap == nullptr || dev == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] { return mmap->dev_add(*dev); });
}

doca_error_t doca_mmap_dev_rm(struct doca_mmap *mmap, struct doca_dev *dev)
{
    if (mmap == nullptr || dev == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return mmap->dev_rm(*dev);
}

static doca_error_t export_mmap(ExportKind kind, struct doca_mmap *mmap, const struct doca_dev *dev,
                                const void **export_desc, size_t *export_desc_len)
{
    if (mmap == nullptr || dev == nullptr || export_desc == nullptr || export_desc_len == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] {
        std::span<const std::byte> descriptor;
        const doca_error_t status = mmap->export_to(kind, *dev, descriptor);
        if (status == DOCA_SUCCESS) {
            *export_desc = descriptor.data();
            *export_desc_len = descriptor.size();
        }
        return status;
    });
}

doca_error_t doca_mmap_export_dpu(struct doca_mmap *mmap, const struct doca_dev *dev,
                                  const void **export_desc, size_t *export_desc_len)
{
    return export_mmap(ExportKind::dpu, mmap, dev, export_desc, export_desc_len);
}

doca_error_t doca_mmap_export_rdma(struct doca_mmap *mmap, const struct doca_dev *dev,
                                   const void **export_desc, size_t *export_desc_len)
{
    return export_mmap(ExportKind::rdma, mmap, dev, export_desc, export_desc_len);
}

doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
                                          size_t export_desc_len, struct doca_dev *dev,
                                          struct doca_mmap **mmap)
{
    if (export_desc == nullptr || export_desc_len == 0 || dev == nullptr || mmap == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] {
        return doca_mmap::create_from_export(user_data != nullptr ? *user_data : doca_data{},
                                             {static_cast<const std::byte *>(export_desc), export_desc_len},
                                             *dev, *mmap);
    });
}

doca_error_t doca_mmap_set_memrange(struct doca_mmap *mmap, void *addr, size_t len)
{
    if (mmap == nullptr || addr == nullptr || len == 0)
        return DOCA_ERROR_INVALID_VALUE;
    return mmap->set_memrange(static_cast<std::byte *>(addr), len);
}

doca_error_t doca_mmap_set_dmabuf_memrange(struct doca_mmap *mmap, int dmabuf_fd, size_t offset, size_t len)
{
    if (mmap == nullptr || dmabuf_fd < 0 || len == 0 || offset > SIZE_MAX - len)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] { return mmap->set_dmabuf_memrange(dmabuf_fd, offset, len); });
}

doca_error_t doca_mmap_get_memrange(const struct doca_mmap *mmap, void **addr, size_t *len)
{
    if (mmap == nullptr || addr == nullptr || len == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (!mmap->has_range()) {
        DOCA_LOG_ERR("the memory map has no memory range yet");
        return DOCA_ERROR_BAD_STATE;
    }
    *addr = mmap->range().addr;
    *len = mmap->range().len;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_free_cb(struct doca_mmap *mmap, doca_mmap_memrange_free_cb_t *free_cb,
                                   void *opaque)
{
    return mmap == nullptr ? DOCA_ERROR_INVALID_VALUE : mmap->set_free_cb(free_cb, opaque);
}

doca_error_t doca_mmap_get_user_data(struct doca_mmap *mmap, union doca_data *user_data)
{
    if (mmap == nullptr || user_data == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *user_data = mmap->user_data;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_max_num_devices(struct doca_mmap *mmap, uint32_t *max_num_devices)
{
    if (mmap == nullptr || max_num_devices == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *max_num_devices = mmap->max_num_devices();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_num_bufs(struct doca_mmap *mmap, uint32_t *num_bufs)
{
    if (mmap == nullptr || num_bufs == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *num_bufs = mmap->num_bufs();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_exported(struct doca_mmap *mmap, uint8_t *exported)
{
    if (mmap == nullptr || exported == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *exported = mmap->is_exported();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap_get_from_export(struct doca_mmap *mmap, uint8_t *from_export)
{
    if (mmap == nullptr || from_export == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *from_export = mmap->is_imported();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap_set_max_num_devices(struct doca_mmap *mmap, uint32_t max_num_devices)
{
    return mmap == nullptr ? DOCA_ERROR_INVALID_VALUE : mmap->set_max_num_devices(max_num_devices);
}

doca_error_t doca_mmap_set_permissions(struct doca_mmap *mmap, uint32_t access_mask)
{
    return mmap == nullptr ? DOCA_ERROR_INVALID_VALUE : mmap->set_permissions(access_mask);
}
