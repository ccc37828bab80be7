// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "mmap.hpp"

#include <algorithm>
#include <cinttypes>

#include "log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MMAP);

using opendoca::Access;
using opendoca::BufCount;
using opendoca::ExportKind;
using opendoca::KeyUse;
using opendoca::MemoryKey;
using opendoca::Reason;
using opendoca::Status;
using opendoca::use;

namespace {

constexpr std::uint32_t dpu_access = Access::dpu_read_only | Access::dpu_read_write;
constexpr std::uint32_t rdma_access =
    Access::rdma_read | Access::rdma_write | Access::rdma_atomic;
constexpr std::uint32_t all_access = Access::local_read_write | rdma_access | dpu_access;

} // namespace

doca_mmap::~doca_mmap() = default;

const doca_mmap &doca_mmap::with_range(std::byte *, std::size_t) const noexcept
{
    return *this;
}

doca_error_t doca_mmap::destroy()
{
    if (const doca_error_t status = check_unused(); status != DOCA_SUCCESS)
        return status;
    state_ = State::configurable; // for pools of the map that are still there
    first_ = {};
    exports_.clear();
    members_.clear(); // ends every import before the device and the memory can go
    if (free_cb_is_due_)
        free_cb_(range_.addr, range_.len, free_cb_cookie_);
    if (!counts_bufs_)
        outlive_buffers();
    else
        take_from_program();
    return DOCA_SUCCESS;
}

/// The buffers of a map that did not look for them may come home later, and look at the map. Its memory is given back
/// once they have, when another such map goes.
void doca_mmap::outlive_buffers()
{
    static std::mutex lock;
    static auto &maps = *new std::vector<doca_mmap *>; // never destroyed: exit handlers may destroy maps
    const std::lock_guard guard(lock);
    maps.push_back(this);
    std::erase_if(maps, [](doca_mmap *map) {
        const bool is_unused = map->num_bufs() == 0;
        if (is_unused)
            map->take_from_program();
        return is_unused;
    });
}

doca_error_t doca_mmap::check_unused() const noexcept
{
    const std::uint32_t count = counts_bufs_ ? num_bufs() : 0;
    if (count == 0)
        return DOCA_SUCCESS;
    LOG_ERR("%" PRIu32 " buffers of the memory map still exist", count);
    return DOCA_ERROR_NOT_PERMITTED;
}

std::uint32_t doca_mmap::num_bufs() const noexcept
{
    const std::lock_guard guard(counts_lock_);
    std::uint32_t sum = 0;
    for (const auto &count : counts_)
        sum += count->value.load(std::memory_order_acquire); // pairs with BufCount::decrease()
    return sum;
}

void doca_mmap::add_count(std::shared_ptr<const BufCount> count) const
{
    const std::lock_guard guard(counts_lock_);
    if (counts_.size() == counts_.capacity()) {
        // Without those of inventories that are gone.
        std::erase_if(counts_, [](const auto &known) { return known.use_count() == 1; });
        counts_.reserve(2 * counts_.size() + 4);
    }
    counts_.push_back(std::move(count));
}

std::vector<doca_mmap::Member>::iterator doca_mmap::find(const doca_dev &dev) noexcept
{
    return std::ranges::find(members_, &dev, [](const Member &member) { return member.dev.get(); });
}

MemoryKey *doca_mmap::key_for(const opendoca::Device &device) const noexcept
{
    for (const auto &member : members_) {
        if (&member.dev->device() == &device)
            return member.key.get();
    }
    return nullptr;
}

MemoryKey *doca_mmap::key_on(const ibv_pd &pd) const noexcept
{
    for (const auto &member : members_) {
        if (member.dev->device().protection_domain() == &pd)
            return member.key.get();
    }
    return nullptr;
}

/// The keys are there: from now on the map can be used.
void doca_mmap::started() noexcept
{
    state_ = State::started;
    first_ = {};
    if (members_.empty() || !has_range())
        return;
    const auto &[dev, key] = members_.front();
    first_ = {&dev->device(), key.get(), key->number, KeyUse::by_plain_buffer | key->uses};
    const bool is_small = range_.len <= dev->function().can.dma_max_size;
    if (is_small && key->can(KeyUse::copied_here | KeyUse::dma_source))
        first_.copied_from = first_.device;
    if (is_small && key->can(KeyUse::copied_here | KeyUse::dma_destination))
        first_.copied_to = first_.device;
}

doca_error_t doca_mmap::check_configurable(const char *what, doca_error_t when_started) const noexcept
{
    if (is_imported_) {
        LOG_ERR("an imported memory map has no %s to change", what);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (state_ == State::started) {
        LOG_ERR("the memory map is started: its %s can't be changed", what);
        return when_started;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::create_from_export(doca_data data, std::span<const std::byte> descriptor,
                                           doca_dev &dev, doca_mmap *&mmap, Import from)
{
    auto imported = std::make_shared<doca_mmap>(data);
    imported->members_.reserve(1);
    std::unique_ptr<MemoryKey> key;
    const doca_error_t status = from == Import::across
                                    ? dev.device().import_across(descriptor, imported->range_, key)
                                    : dev.device().import_memory(descriptor, imported->range_, key);
    if (status != DOCA_SUCCESS)
        return status;
    imported->members_.push_back({use(dev), std::move(key)});
    imported->is_imported_ = true;
    imported->started();
    mmap = give_to_program(std::move(imported));
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::check_rangeless() const noexcept
{
    if (const doca_error_t status = check_configurable("memory range", DOCA_ERROR_BAD_STATE);
        status != DOCA_SUCCESS)
        return status;
    if (has_range()) {
        LOG_ERR("the memory map has the range [%p, +%zu) already", static_cast<void *>(range_.addr),
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
        LOG_ERR("the range [%p, +%zu) wraps around the address space", static_cast<void *>(addr), len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    range_ = {addr, len};
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_dmabuf_memrange(int fd, std::byte *addr, std::size_t offset, std::size_t len)
{
    if (const doca_error_t status = check_rangeless(); status != DOCA_SUCCESS)
        return status;
    const doca_error_t status = addr == nullptr ? opendoca::Dmabuf::map(fd, offset, len, dmabuf_)
                                                : opendoca::Dmabuf::adopt(fd, addr, offset, len, dmabuf_);
    if (status != DOCA_SUCCESS)
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
        LOG_ERR("access flags 0x%" PRIx32 ": the bits 0x%" PRIx32 " are not defined", access,
                access & ~all_access);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if ((access & dpu_access) == dpu_access) {
        LOG_ERR("access flags 0x%" PRIx32 ": read only and read and write across the PCIe exclude each other",
                access);
        return DOCA_ERROR_INVALID_VALUE;
    }
    access_ = access;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_free_cb(opendoca::FreeCallback *callback, void *cookie) noexcept
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

doca_error_t doca_mmap::set_user_data(doca_data data) noexcept
{
    if (state_ == State::started && !is_imported_) {
        LOG_ERR("the memory map is started: its user data can't be changed");
        return DOCA_ERROR_BAD_STATE;
    }
    user_data_ = data;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::enable_thread_safety() noexcept
{
    if (state_ == State::started || num_bufs() != 0) {
        LOG_ERR("the memory map is started or has buffers: thread safety can't be enabled");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    counts_bufs_ = false;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_max_num_devices(std::uint32_t count) noexcept
{
    if (const doca_error_t status = check_configurable("device limit", DOCA_ERROR_NOT_PERMITTED);
        status != DOCA_SUCCESS)
        return status;
    if (was_started_) {
        LOG_ERR("the device limit is fixed by the first start of the memory map");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (count == 0 || count < members_.size()) {
        LOG_ERR("a limit of %" PRIu32 " devices is too small: %zu were added, and 1 is the minimum", count,
                members_.size());
        return DOCA_ERROR_INVALID_VALUE;
    }
    max_num_devices_ = count;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::check_devices_changeable() const noexcept
{
    return devices_ == Devices::any_time ? DOCA_SUCCESS : check_configurable("devices", DOCA_ERROR_NOT_PERMITTED);
}

Status doca_mmap::dev_add(doca_dev &dev)
{
    if (const doca_error_t status = check_devices_changeable(); status != DOCA_SUCCESS)
        return status;
    if (find(dev) != members_.end()) {
        LOG_ERR("device %s was added to the memory map before", dev.description().c_str());
        return Reason::already_added;
    }
    if (members_.size() == max_num_devices_) {
        LOG_ERR("the memory map has %" PRIu32 " devices, its limit", max_num_devices_);
        return DOCA_ERROR_NO_MEMORY;
    }
    Member member{use(dev), nullptr};
    if (state_ == State::started) {
        if (const doca_error_t status = register_with(member); status != DOCA_SUCCESS)
            return status;
    }
    members_.push_back(std::move(member));
    if (state_ == State::started)
        started();
    return DOCA_SUCCESS;
}

Status doca_mmap::dev_rm(doca_dev &dev) noexcept
{
    if (const doca_error_t status = check_devices_changeable(); status != DOCA_SUCCESS)
        return status;
    const auto member = find(dev);
    if (member == members_.end()) {
        LOG_ERR("the device was not added to the memory map");
        return Reason::not_added;
    }
    if (state_ != State::started) {
        members_.erase(member);
        return DOCA_SUCCESS;
    }
    if (const doca_error_t status = check_unused(); status != DOCA_SUCCESS)
        return status;
    std::erase_if(exports_, [&](const Export &e) { return e.dev == &dev; });
    members_.erase(member);
    started();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::start()
{
    if (is_imported_) {
        LOG_ERR("an imported memory map is in use from its creation, and needs no start");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (state_ == State::started) {
        LOG_ERR("the memory map is started already");
        return is_exported() ? DOCA_ERROR_NOT_PERMITTED : DOCA_ERROR_BAD_STATE;
    }
    if (!has_range() && devices_ == Devices::before_start) {
        LOG_ERR("the memory map has no memory range yet");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = register_members(); status != DOCA_SUCCESS) {
        for (auto &member : members_)
            member.key.reset();
        return status;
    }
    started();
    was_started_ = true;
    free_cb_is_due_ = free_cb_ != nullptr;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::register_with(Member &member)
{
    if (!has_range())
        return DOCA_SUCCESS;
    opendoca::Device &device = member.dev->device();
    return dmabuf_ != nullptr ? device.register_dmabuf(*dmabuf_, access_, member.key)
                              : device.register_memory(range_, access_, member.key);
}

doca_error_t doca_mmap::register_members()
{
    for (Member &member : members_) {
        if (const doca_error_t status = register_with(member); status != DOCA_SUCCESS)
            return status;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::stop() noexcept
{
    if (state_ != State::started) {
        LOG_ERR("the memory map is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    if (const doca_error_t status = check_unused(); status != DOCA_SUCCESS)
        return status;
    exports_.clear();
    for (auto &member : members_)
        member.key.reset(); // returns when no importer touches the memory any more
    state_ = is_imported_ ? State::revoked : State::configurable;
    first_ = {};
    return DOCA_SUCCESS;
}

Status doca_mmap::export_to(ExportKind kind, const doca_dev &dev, const void *&descriptor, std::size_t &size)
{
    const auto &can = dev.function().can;
    const bool to_dpu = kind != ExportKind::rdma;
    if (to_dpu && !(kind == ExportKind::host ? can.export_host : dev.function().can_export_dpu())) {
        LOG_ERR("device %s cannot export memory to the other side of the PCIe", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!to_dpu && !can.rdma.reliable_connection) {
        LOG_ERR("device %s cannot export memory for RDMA", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (is_imported_ || state_ != State::started) {
        LOG_ERR("only a started memory map of this process can be exported");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if ((access_ & (to_dpu ? dpu_access : rdma_access)) == 0) {
        LOG_ERR("access flags 0x%" PRIx32 " of the memory map let nobody reach it %s", access_,
                to_dpu ? "across the PCIe" : "by RDMA");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    const auto member = find(dev);
    if (member == members_.end()) {
        LOG_ERR("device %s was not added to the memory map", dev.description().c_str());
        return Reason::not_added;
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
    descriptor = known->descriptor.data();
    size = known->descriptor.size();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::check_range() const noexcept
{
    if (has_range())
        return DOCA_SUCCESS;
    LOG_ERR("the memory map has no memory range yet");
    return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_mmap::get_range(void *&addr, std::size_t &len) const noexcept
{
    const doca_error_t status = check_range();
    if (status == DOCA_SUCCESS) {
        addr = range_.addr;
        len = range_.len;
    }
    return status;
}
