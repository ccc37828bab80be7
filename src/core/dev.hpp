// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "address_search.hpp"
#include "device/device.hpp"
#include "shareable.hpp"

/// An element of a list of devices, or the description of an open one.
struct doca_devinfo {
    std::shared_ptr<const opendoca::DeviceFunction> function;
    std::shared_ptr<opendoca::AddressSearch> search = {}; ///< of its list; null for an open device's
    std::size_t number = 0;  ///< of the function's address that it shows: the first, or the further ones from 1 on
    bool is_from_pd = false; ///< of a device on a protection domain of the program, which can't be opened by it

    [[nodiscard]] const std::string &pci_address() const
    {
        return number == 0 ? function->pci_address : function->also[number - 1];
    }
    [[nodiscard]] bool answers_to(const std::string &pci_address) const;
};

/// An open device; one instance a process and function, however often it is opened, besides those on
/// protection domains of the program.
struct OPENDOCA_INTERNAL doca_dev : opendoca::Shareable<doca_dev> {
    doca_dev(std::shared_ptr<const opendoca::DeviceFunction> function, std::unique_ptr<opendoca::Device> device,
             bool from_pd = false)
        : info_{.function = std::move(function), .is_from_pd = from_pd},
          device_(std::move(device))
    {
    }

    [[nodiscard]] static doca_error_t open(const std::shared_ptr<const opendoca::DeviceFunction> &function,
                                           doca_dev *&dev);
    /// On a protection domain of the program: an instance of its own each time.
    [[nodiscard]] static doca_error_t open_from_pd(ibv_pd &pd, doca_dev *&dev);
    [[nodiscard]] doca_error_t close();

    [[nodiscard]] const opendoca::DeviceFunction &function() const noexcept { return *info_.function; }
    [[nodiscard]] opendoca::Device &device() const noexcept { return *device_; }
    [[nodiscard]] const doca_devinfo &info() const noexcept { return info_; }
    /// The function with the queue pairs for messages across the PCIe: its own function's, or another one's of its
    /// card.
    [[nodiscard]] const std::shared_ptr<const opendoca::DeviceFunction> &messages_by() const noexcept
    {
        return function().messages_by != nullptr ? function().messages_by : info_.function;
    }
    /// Of two instances: one may have been closed, and the other opened since.
    [[nodiscard]] bool is_same_function(const doca_dev &other) const noexcept
    {
        return function().provider == other.function().provider && function().name == other.function().name;
    }
    /// "p0 (0000:03:00.0)", for messages.
    [[nodiscard]] std::string description() const;

    /// Held by memory maps, contexts and representors: closing the device is IN_USE meanwhile.
    void take_use() noexcept { uses_.fetch_add(1, std::memory_order_relaxed); }
    void release_use() noexcept { uses_.fetch_sub(1, std::memory_order_release); }

private:
    doca_devinfo info_;
    std::unique_ptr<opendoca::Device> device_;
    std::atomic<std::uint32_t> uses_{0};
    std::uint32_t opened_ = 1; ///< guarded by the registry's lock
};

namespace opendoca {

struct ReleaseUse {
    void operator()(doca_dev *dev) const noexcept { dev->release_use(); }
};

/// A use of a device, or of none.
using DeviceUse = std::unique_ptr<doca_dev, ReleaseUse>;

[[nodiscard]] inline DeviceUse use(doca_dev &dev) noexcept
{
    dev.take_use();
    return DeviceUse(&dev);
}

struct CloseDevice {
    void operator()(doca_dev *dev) const noexcept { (void)dev->close(); }
};

/// A device that a library has opened for itself, besides the program.
using OwnDevice = std::unique_ptr<doca_dev, CloseDevice>;

} // namespace opendoca

/// An element of a list of representors, or the description of an open one. Its device may have been closed.
struct doca_devinfo_rep {
    opendoca::RepresentorInfo info;
    std::shared_ptr<doca_dev> dev;                        ///< under which it was found
    std::shared_ptr<opendoca::AddressSearch> search = {}; ///< of its list
    std::size_t number = 0;                               ///< as that of doca_devinfo

    [[nodiscard]] const std::string &pci_address() const
    {
        return number == 0 ? info.pci_address : info.also[number - 1];
    }
    [[nodiscard]] bool answers_to(const std::string &pci_address) const;
};

/// An open representor.
struct doca_dev_rep {
    explicit doca_dev_rep(const doca_devinfo_rep &of)
        : info(std::make_shared<doca_devinfo_rep>(of)),
          use_(opendoca::use(*info->dev))
    {
    }

    /// Shared with endpoints, which may outlive the representor.
    const std::shared_ptr<doca_devinfo_rep> info;

private:
    const opendoca::DeviceUse use_;
};
