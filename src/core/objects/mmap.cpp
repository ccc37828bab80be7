// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "mmap.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../log/log.hpp"
#include "../process/fork.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MMAP);

using opendoca::Ability;
using opendoca::Access;
using opendoca::BufCount;
using opendoca::ExportKind;
using opendoca::KeyUse;
using opendoca::MemoryKey;
using opendoca::Reason;
using opendoca::Status;
using opendoca::use;

doca_mmap::~doca_mmap() = default;

// A map of several ranges overrides this; here there is one range, which the caller checks.
const doca_mmap &doca_mmap::with_range(std::byte *, std::size_t) const noexcept
{
    return *this;
}

doca_error_t doca_mmap::destroy() noexcept
{
    if (const doca_error_t status = check_unused(); status != DOCA_SUCCESS)
        return status;
    state_ = State::configurable; // pools may still share this object: they find it unusable
    first_ = {};
    exports_.clear();
    members_.clear(); // blocks until no importer accesses the memory, which the callback may free
    // Only memory that was started is passed to the callback: before that, the program has not handed it over.
    if (free_cb_is_due_)
        free_cb_(range_.addr, range_.len, free_cb_cookie_);
    counts_bufs_ ? drop_program_reference() : free_after_buffers();
    return DOCA_SUCCESS;
}

// Guards the list of retired maps.
static constinit opendoca::ForkSafeMutex retired_lock;
static const opendoca::ForkRegistration retired_registration(retired_lock, opendoca::LockRank::maps);

/// Buffers of a map that does not count them may be released after its destruction, and then access it. So the map is
/// added to a list of retired maps. Each call frees those without buffers.
void doca_mmap::free_after_buffers() noexcept
{
    static constinit doca_mmap *first = nullptr;
    const std::lock_guard guard(retired_lock);
    next_retired_ = std::exchange(first, this);
    for (doca_mmap **place = &first; *place != nullptr;) {
        doca_mmap &map = **place;
        if (map.num_bufs() != 0) {
            place = &map.next_retired_;
        } else {
            *place = map.next_retired_;
            map.drop_program_reference();
        }
    }
}

/// Checks that no buffer of the map is in use, so that the memory may be unregistered.
doca_error_t doca_mmap::check_unused() const noexcept
{
    const std::uint32_t count = counts_bufs_ ? num_bufs() : 0; // see enable_thread_safety()
    if (count == 0)
        return DOCA_SUCCESS;
    LOG_ERR("%" PRIu32 " buffers of the memory map still exist", count);
    return DOCA_ERROR_NOT_PERMITTED;
}

std::uint32_t doca_mmap::num_bufs() const noexcept
{
    // Guards the vector only: inventories change the values meanwhile.
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
        // Drops the counts of destroyed inventories first. Twice the rest, so that this runs rarely.
        std::erase_if(counts_, [](const auto &found) { return found.use_count() == 1; });
        counts_.reserve(2 * counts_.size() + 4);
    }
    counts_.push_back(std::move(count));
}

std::vector<doca_mmap::Member>::iterator doca_mmap::find(const doca_dev &dev) noexcept
{
    // Linear searches, here and below: a map rarely has more than two devices.
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

const opendoca::Device &doca_mmap::importer() const noexcept
{
    return members_.front().dev->device();
}

MemoryKey *doca_mmap::key_on(const ibv_pd &pd) const noexcept
{
    for (const auto &member : members_) {
        if (member.dev->device().protection_domain() == &pd)
            return member.key.get();
    }
    return nullptr;
}

/// Makes the map usable. Called once the keys exist, and again after each later change of the members.
void doca_mmap::started() noexcept
{
    state_ = State::started;
    ++num_starts_;
    first_ = {};
    // Without a key, no buffer of the map is on a fast path.
    if (members_.empty() || !has_range())
        return;
    const auto &[dev, key] = members_.front();
    first_ = {&dev->device(), key.get(), key->number, KeyUse::by_fast_path | key->uses};
    // No part of the range can exceed the limit of one operation, so jobs need not check their length.
    const bool is_small = range_.len <= dev->function().can.dma_max_size;
    if (is_small && key->can(KeyUse::copied_here | KeyUse::dma_source))
        first_.copied_from = first_.device;
    if (is_small && key->can(KeyUse::copied_here | KeyUse::dma_destination))
        first_.copied_to = first_.device;
}

doca_error_t doca_mmap::create_from_export(doca_data data, std::span<const std::byte> descriptor, doca_dev &dev,
                                           doca_mmap *&mmap)
{
    auto imported = std::make_shared<doca_mmap>(data);
    // Reserved first: an allocation that failed after the import would have to undo it.
    imported->members_.reserve(1);
    std::unique_ptr<MemoryKey> key;
    const doca_error_t status = dev.device().import_memory(descriptor, imported->range_, key);
    if (status != DOCA_SUCCESS)
        return status;
    imported->members_.push_back({use(dev), std::move(key)});
    imported->is_imported_ = true;
    imported->started();
    mmap = add_program_reference(std::move(imported));
    return DOCA_SUCCESS;
}

// The settings. Each setter checks the state first, then its arguments, and changes nothing on failure.

/// Checks that the setting named @p what may change: not that of an imported map (NOT_PERMITTED), nor that of a started
/// one (@p when_started, as DOCA's error depends on the setting).
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

/// Checks that the range may be set. It is fixed once set: keys, pools and layouts rely on it.
doca_error_t doca_mmap::check_rangeless() const noexcept
{
    if (const doca_error_t status = check_configurable("memory range", DOCA_ERROR_BAD_STATE); status != DOCA_SUCCESS)
        return status;
    if (has_range()) {
        LOG_ERR("the memory map has the range [%p, +%zu) already", static_cast<void *>(range_.addr), range_.len);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_memrange(std::byte *addr, std::size_t len) noexcept
{
    if (const doca_error_t status = check_rangeless(); status != DOCA_SUCCESS)
        return status;
    // The end of the range must be computable; whether the memory is accessible is checked by the devices at the start.
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
    // Mapped here if the program has not done it: the CPU has to access the memory, too.
    const doca_error_t status = addr == nullptr ? opendoca::Dmabuf::map(fd, offset, len, dmabuf_)
                                                : opendoca::Dmabuf::adopt(fd, addr, offset, len, dmabuf_);
    if (status != DOCA_SUCCESS)
        return status;
    range_ = dmabuf_->range();
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_permissions(std::uint32_t access) noexcept
{
    if (const doca_error_t status = check_configurable("permissions", DOCA_ERROR_BAD_STATE); status != DOCA_SUCCESS)
        return status;
    if ((access & ~Access::all) != 0) {
        LOG_ERR("access flags 0x%" PRIx32 ": the bits 0x%" PRIx32 " are not defined", access, access & ~Access::all);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // A set of bits, of which these two are alternatives.
    if ((access & Access::any_dpu) == Access::any_dpu) {
        LOG_ERR("access flags 0x%" PRIx32
                ": the flags for read only and for read and write across the PCIe exclude each other",
                access);
        return DOCA_ERROR_INVALID_VALUE;
    }
    access_ = access;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_free_cb(opendoca::FreeCallback *callback, void *cookie) noexcept
{
    if (const doca_error_t status = check_configurable("free callback", DOCA_ERROR_BAD_STATE); status != DOCA_SUCCESS)
        return status;
    // A new callback is called only for memory of a later start. Setting the same one again changes nothing.
    if (callback != free_cb_ || cookie != free_cb_cookie_)
        free_cb_is_due_ = false;
    free_cb_ = callback;
    free_cb_cookie_ = cookie;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::set_user_data(doca_data data) noexcept
{
    // An imported map is always started, so its user data can be set at any time.
    if (state_ == State::started && !is_imported_) {
        LOG_ERR("the memory map is started: its user data can't be changed");
        return DOCA_ERROR_BAD_STATE;
    }
    user_data_ = data;
    return DOCA_SUCCESS;
}

doca_error_t doca_mmap::enable_thread_safety() noexcept
{
    // The counts of existing buffers would be wrong afterwards.
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
    // Stricter than the other settings, which can change between a stop and the next start.
    if (was_started_) {
        LOG_ERR("the device limit is fixed by the first start of the memory map");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    // Not below the number of devices that were added, which stay.
    if (count == 0 || count < members_.size()) {
        LOG_ERR("a limit of %" PRIu32 " devices is too small: %zu were added, and 1 is the minimum", count,
                members_.size());
        return DOCA_ERROR_INVALID_VALUE;
    }
    max_num_devices_ = count;
    return DOCA_SUCCESS;
}

/// Checks that devices may be added or removed: for most maps only before the start.
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
    // The program can raise the limit before the first start.
    if (members_.size() == max_num_devices_) {
        LOG_ERR("the memory map has %" PRIu32 " devices, its limit", max_num_devices_);
        return DOCA_ERROR_NO_MEMORY;
    }
    // Registered before it is added: a failure leaves the map as it was, and releases the device.
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
    // Without a key there is nothing to revoke.
    if (state_ != State::started) {
        members_.erase(member);
        return DOCA_SUCCESS;
    }
    // Jobs of any device of the map may be using the buffers, also of this one.
    if (const doca_error_t status = check_unused(); status != DOCA_SUCCESS)
        return status;
    // The key revokes its exports when it is destroyed. The first key may have been this device's.
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
        // DOCA defines NOT_PERMITTED for an exported map; the other error is a choice of this project.
        LOG_ERR("the memory map is started already");
        return is_exported() ? DOCA_ERROR_NOT_PERMITTED : DOCA_ERROR_BAD_STATE;
    }
    // Maps of older programs (Devices::any_time) can get their first range after the start.
    if (!has_range() && devices_ == Devices::before_start) {
        LOG_ERR("the memory map has no memory range yet");
        return DOCA_ERROR_INVALID_VALUE;
    }
    // All or none: a map without one of its keys must not be used.
    if (const doca_error_t status = register_members(); status != DOCA_SUCCESS) {
        for (auto &member : members_)
            member.key.reset();
        return status;
    }
    started();
    // Also after a later stop: some settings are fixed by the first start.
    was_started_ = true;
    free_cb_is_due_ = free_cb_ != nullptr;
    return DOCA_SUCCESS;
}

/// Creates the key of @p member, unless there is no range yet.
doca_error_t doca_mmap::register_with(Member &member)
{
    if (!has_range())
        return DOCA_SUCCESS;
    opendoca::Device &device = member.dev->device();
    // By the dmabuf itself where there is one: its memory may have no pages that the device could pin by an address.
    return dmabuf_ != nullptr ? device.register_dmabuf(*dmabuf_, access_, member.key)
                              : device.register_memory(range_, access_, member.key);
}

/// Creates the keys of all members. Stops at the first failure; the caller removes the keys created before.
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
    // The descriptors first: the program must not use them any more once the keys are gone.
    exports_.clear();
    for (auto &member : members_)
        member.key.reset(); // blocks until no importer accesses the memory
    // An imported map cannot be started again: its key is gone, and there is nothing to configure.
    state_ = is_imported_ ? State::revoked : State::configurable;
    first_ = {};
    return DOCA_SUCCESS;
}

Status doca_mmap::export_to(ExportKind kind, const doca_dev &dev, const void *&descriptor, std::size_t &size)
{
    const auto &can = dev.function().can;
    // The abilities of the device come first, which no change of the map can replace.
    const bool to_dpu = kind != ExportKind::rdma;
    if (to_dpu && !dev.function().can_export_dpu()) {
        LOG_ERR("device %s cannot export memory across the PCIe: %s", dev.description().c_str(),
                dev.function().reason_against(Ability::export_memory).c_str());
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
    // An export that allows no access would fail only in the importing process.
    if ((access_ & (to_dpu ? Access::any_dpu : Access::any_rdma)) == 0) {
        LOG_ERR("access flags 0x%" PRIx32 " of the memory map allow no access %s", access_,
                to_dpu ? "across the PCIe" : "by RDMA");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    const auto member = find(dev);
    if (member == members_.end()) {
        LOG_ERR("device %s was not added to the memory map", dev.description().c_str());
        return Reason::not_added;
    }
    // Repeated calls return the same descriptor, as earlier pointers to it stay valid.
    auto found = std::ranges::find_if(exports_, [&](const Export &e) { return e.kind == kind && e.dev == &dev; });
    if (found == exports_.end()) {
        // Reserved first: once the memory is exported, the descriptor must not be lost.
        exports_.reserve(exports_.size() + 1);
        std::vector<std::byte> fresh;
        if (const doca_error_t status = member->key->export_to(kind, fresh); status != DOCA_SUCCESS)
            return status;
        found = exports_.insert(exports_.end(), {kind, &dev, std::move(fresh)});
    }
    descriptor = found->descriptor.data();
    size = found->descriptor.size();
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

doca_error_t opendoca::map_for_library(doca_dev &dev, const MemoryRange &range, std::uint32_t access,
                                       std::shared_ptr<const doca_mmap> &map)
{
    // Built by the same steps as a map of the program, so that the same checks apply.
    auto made = std::make_shared<doca_mmap>(doca_data{});
    doca_error_t status = made->set_memrange(range.addr, range.len);
    if (status == DOCA_SUCCESS)
        status = made->set_permissions(access);
    if (status == DOCA_SUCCESS)
        status = made->dev_add(dev).code(); // the first device: no Reason
    if (status == DOCA_SUCCESS)
        status = made->start();
    if (status == DOCA_SUCCESS)
        map = std::move(made);
    return status;
}
