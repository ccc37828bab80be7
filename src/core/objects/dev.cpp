// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Opening and closing devices. Lists of them are in dev_list.cpp.
#include "dev.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "../log/log.hpp"
#include "../process/fork.hpp"

OPENDOCA_LOG_SOURCE(DOCA_DEV);

namespace {

constexpr std::size_t max_open_devices = 256;

/// The devices that this process has open, by provider and name, except those of open_from_pd(). Guarded by
/// registry_lock. Never destroyed: exit handlers may close devices.
struct Registry {
    std::map<std::string, doca_dev *> open_devices;
    opendoca::CreatorProcess creator;
};

constinit opendoca::ForkSafeMutex registry_lock;
const opendoca::ForkRegistration registry_registration(registry_lock, opendoca::LockRank::devices);
Registry *const registry = new Registry;

/// Returns the open devices; the caller holds the lock. Empty in a forked child at first: the provider's objects belong
/// to the parent, so the child opens devices anew.
std::map<std::string, doca_dev *> &open_devices_here()
{
    if (!registry->creator.is_current())
        *registry = {};
    return registry->open_devices;
}

std::string key_of(const opendoca::DeviceFunction &function)
{
    return function.provider + '/' + function.name;
}

} // namespace

std::string doca_dev::description() const
{
    const auto &f = function();
    return f.name + (f.pci_address.empty() ? "" : " (" + f.pci_address + ")") +
           (info_.is_from_pd ? " of doca_dev_open_from_pd()" : "");
}

doca_error_t doca_dev::open(const std::shared_ptr<const opendoca::DeviceFunction> &function, doca_dev *&dev)
{
    const std::lock_guard guard(registry_lock);
    auto &open_devices = open_devices_here();
    const auto found = open_devices.find(key_of(*function));
    if (found != open_devices.end()) {
        ++found->second->opened_;
        dev = found->second;
        return DOCA_SUCCESS;
    }
    // A limit of this project, against programs that open devices and never close them.
    if (open_devices.size() == max_open_devices) {
        LOG_ERR("%zu devices are open, which is the limit", open_devices.size());
        return DOCA_ERROR_INITIALIZATION;
    }
    // Opened under the lock, so that two threads cannot open a function twice.
    std::unique_ptr<opendoca::Device> device;
    if (const doca_error_t status = function->open(device); status != DOCA_SUCCESS)
        return status;
    auto opened = std::make_shared<doca_dev>(function, std::move(device));
    // The last step that may fail: its failure destroys the device.
    open_devices.emplace(key_of(*function), opened.get());
    dev = add_program_reference(std::move(opened));
    return DOCA_SUCCESS;
}

/// Rejects the protection domain of a device that is open: that device owns it, and may be closed first.
doca_error_t doca_dev::open_from_pd(ibv_pd &pd, doca_dev *&dev)
{
    {
        const std::lock_guard guard(registry_lock);
        for (const auto &[key, found] : open_devices_here()) {
            if (found->device().protection_domain() == &pd) {
                LOG_ERR("the protection domain is the one of device %s, which is open", found->description().c_str());
                return DOCA_ERROR_INVALID_VALUE;
            }
        }
    }
    std::shared_ptr<const opendoca::DeviceFunction> function;
    std::unique_ptr<opendoca::Device> device;
    if (const doca_error_t status = opendoca::open_from_pd(pd, function, device); status != DOCA_SUCCESS)
        return status;
    dev = add_program_reference(std::make_shared<doca_dev>(std::move(function), std::move(device), true));
    return DOCA_SUCCESS;
}

doca_error_t doca_dev::close()
{
    const std::lock_guard guard(registry_lock);
    // Only the last close() ends the device, and only that one requires that nothing uses it.
    if (opened_ > 1) {
        --opened_;
        return DOCA_SUCCESS;
    }
    if (const std::uint32_t uses = uses_.load(std::memory_order_acquire); uses != 0) {
        LOG_ERR("device %s is used by %u memory maps, contexts or representors", description().c_str(), uses);
        return DOCA_ERROR_IN_USE;
    }
    auto &open_devices = open_devices_here();
    if (const auto found = open_devices.find(key_of(function())); found != open_devices.end() && found->second == this)
        open_devices.erase(found); // not found if doca_dev_open_from_pd() or the parent process has opened it
    drop_program_reference();
    return DOCA_SUCCESS;
}

namespace {

/// Returns whether @p wanted is @p address or one of the further addresses @p also.
bool is_among(const std::string &wanted, const std::string &address, const std::vector<std::string> &also)
{
    return wanted == address || std::ranges::find(also, wanted) != also.end();
}

} // namespace

bool doca_devinfo::has_address(const std::string &pci_address) const
{
    return is_among(pci_address, function->pci_address, function->also);
}

bool doca_devinfo_rep::has_address(const std::string &pci_address) const
{
    return is_among(pci_address, info.pci_address, info.also);
}
