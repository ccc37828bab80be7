// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Opening and closing devices and representors. Lists are in dev_list.cpp, properties in devinfo.cpp.
#include "dev.hpp"

#include <map>
#include <mutex>

#include <doca_log.h>

#include "device/verbs/provider.hpp"
#include "guard.hpp"

DOCA_LOG_REGISTER(DOCA_DEV);

using opendoca::guarded;

namespace {

constexpr std::size_t max_open_devices = 256;

/// The devices that this process has open, by provider and name. Never destroyed: exit handlers may close
/// devices.
struct Registry {
    std::mutex lock;
    std::map<std::string, std::unique_ptr<doca_dev>> open_devices;
};

Registry &registry()
{
    static auto *const instance = new Registry;
    return *instance;
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
           (is_from_pd ? " of doca_dev_open_from_pd()" : "");
}

doca_error_t doca_dev::open(const std::shared_ptr<const opendoca::DeviceFunction> &function, doca_dev *&dev)
{
    auto &[lock, open_devices] = registry();
    const std::lock_guard guard(lock);
    const auto known = open_devices.find(key_of(*function));
    if (known != open_devices.end()) {
        ++known->second->opened_;
        dev = known->second.get();
        return DOCA_SUCCESS;
    }
    if (open_devices.size() == max_open_devices) {
        DOCA_LOG_ERR("%zu devices are open, which is the limit", open_devices.size());
        return DOCA_ERROR_INITIALIZATION;
    }
    std::unique_ptr<opendoca::Device> device;
    if (const doca_error_t status = function->open(device); status != DOCA_SUCCESS)
        return status;
    auto opened = std::make_unique<doca_dev>(function, std::move(device));
    dev = open_devices.emplace(key_of(*function), std::move(opened)).first->second.get();
    return DOCA_SUCCESS;
}

doca_error_t doca_dev::open_from_pd(ibv_pd &pd, doca_dev *&dev)
{
    {
        auto &[lock, open_devices] = registry();
        const std::lock_guard guard(lock);
        for (const auto &[key, known] : open_devices) {
            if (known->device().protection_domain() == &pd) {
                DOCA_LOG_ERR("the protection domain is the one of device %s, which is open",
                             known->description().c_str());
                return DOCA_ERROR_INVALID_VALUE;
            }
        }
    }
    std::shared_ptr<const opendoca::DeviceFunction> function;
    std::unique_ptr<opendoca::Device> device;
    if (const doca_error_t status = opendoca::verbs::open_from_pd(pd, function, device);
        status != DOCA_SUCCESS)
        return status;
    dev = new doca_dev(std::move(function), std::move(device), true);
    return DOCA_SUCCESS;
}

doca_error_t doca_dev::close(doca_dev &dev)
{
    auto &[lock, open_devices] = registry();
    const std::lock_guard guard(lock);
    if (dev.opened_ == 1) {
        if (const std::uint32_t uses = dev.uses_.load(std::memory_order_acquire); uses != 0) {
            DOCA_LOG_ERR("device %s is used by %u memory maps, contexts or representors",
                         dev.description().c_str(), uses);
            return DOCA_ERROR_IN_USE;
        }
        if (dev.is_from_pd)
            delete &dev;
        else
            open_devices.erase(key_of(dev.function()));
        return DOCA_SUCCESS;
    }
    --dev.opened_;
    return DOCA_SUCCESS;
}

doca_error_t doca_dev_open(struct doca_devinfo *devinfo, struct doca_dev **dev)
{
    if (devinfo == nullptr || dev == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] { return doca_dev::open(devinfo->function, *dev); });
}

doca_error_t doca_dev_close(struct doca_dev *dev)
{
    if (dev == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] { return doca_dev::close(*dev); });
}

doca_error_t doca_dev_rep_open(struct doca_devinfo_rep *devinfo, struct doca_dev_rep **dev_rep)
{
    if (devinfo == nullptr || dev_rep == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return guarded([&] {
        *dev_rep = new doca_dev_rep{*devinfo};
        devinfo->dev->take_use();
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_dev_rep_close(struct doca_dev_rep *dev)
{
    if (dev == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    dev->info.dev->release_use();
    delete dev;
    return DOCA_SUCCESS;
}

struct doca_devinfo *doca_dev_as_devinfo(const struct doca_dev *dev)
{
    return dev == nullptr || dev->is_from_pd ? nullptr : const_cast<doca_devinfo *>(&dev->info());
}

struct doca_devinfo_rep *doca_dev_rep_as_devinfo(struct doca_dev_rep *dev_rep)
{
    return dev_rep == nullptr ? nullptr : &dev_rep->info;
}
