// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "../base/address_search.hpp"
#include "../base/shareable.hpp"
#include "../device/device.hpp"

/// An element of a list of devices, or the description of an open one. Owned by the list or the doca_dev; constant, so
/// that any thread may read it.
struct doca_devinfo {
    std::shared_ptr<const opendoca::DeviceFunction> function;
    std::shared_ptr<opendoca::AddressSearch> search = {}; ///< shared by the elements of a list; null for an open device
    std::size_t number = 0;  ///< the address that this element shows: 0 for the main one, from 1 on for further ones
    bool is_from_pd = false; ///< describes a device on the program's protection domain, which cannot be opened by it

    [[nodiscard]] const std::string &pci_address() const
    {
        return number == 0 ? function->pci_address : function->also[number - 1];
    }
    /// Returns whether @p pci_address, in normal form, is any of the function's addresses.
    [[nodiscard]] bool has_address(const std::string &pci_address) const;
};

/// An open device. There is one instance per process and function, however often it is opened, and one more for each
/// open_from_pd(). The program owns it from open() until as many close() calls; representors share it for longer.
/// Thread-safe, except for its destruction.
struct OPENDOCA_INTERNAL doca_dev : opendoca::Shareable<doca_dev> {
    doca_dev(std::shared_ptr<const opendoca::DeviceFunction> function, std::unique_ptr<opendoca::Device> device,
             bool from_pd = false)
        : info_{.function = std::move(function), .is_from_pd = from_pd},
          device_(std::move(device))
    {
    }

    /// Opens @p function, or returns the open instance. INITIALIZATION if too many devices are open.
    [[nodiscard]] static doca_error_t open(const std::shared_ptr<const opendoca::DeviceFunction> &function,
                                           doca_dev *&dev);
    /// Creates a separate instance on @p pd, a protection domain of the program. INVALID_VALUE if it is one of ours.
    [[nodiscard]] static doca_error_t open_from_pd(ibv_pd &pd, doca_dev *&dev);
    /// Undoes one open(). IN_USE if it is the last one and the device is in use.
    [[nodiscard]] doca_error_t close();

    [[nodiscard]] const opendoca::DeviceFunction &function() const noexcept { return *info_.function; }
    [[nodiscard]] opendoca::Device &device() const noexcept { return *device_; }
    [[nodiscard]] const doca_devinfo &info() const noexcept { return info_; }
    /// Returns the function with the queue pairs for messages across the PCIe: this one, or another one of its card.
    [[nodiscard]] const std::shared_ptr<const opendoca::DeviceFunction> &messages_by() const noexcept
    {
        return function().messages_by != nullptr ? function().messages_by : info_.function;
    }
    /// Returns whether both instances are of one function. They may differ, as one may have been closed before the
    /// other was opened.
    [[nodiscard]] bool is_same_function(const doca_dev &other) const noexcept
    {
        return function().provider == other.function().provider && function().name == other.function().name;
    }
    /// Returns the name and the address for log messages, such as "p0 (0000:03:00.0)".
    [[nodiscard]] std::string description() const;

    /// Counts the memory maps, contexts and representors that use the device: it cannot be closed meanwhile. Release:
    /// pairs with the acquire load in close(), so that the last use has ended before the device is destroyed.
    void take_use() noexcept { uses_.fetch_add(1, std::memory_order_relaxed); }
    void release_use() noexcept { uses_.fetch_sub(1, std::memory_order_release); }

private:
    doca_devinfo info_;
    std::unique_ptr<opendoca::Device> device_;
    std::atomic<std::uint32_t> uses_{0};
    std::uint32_t opened_ = 1; ///< the number of open() calls without a close(); guarded by the registry's lock
};

namespace opendoca {

struct ReleaseUse {
    void operator()(doca_dev *dev) const noexcept { dev->release_use(); }
};

/// A counted use of a device (see doca_dev::take_use()), or null.
using DeviceUse = std::unique_ptr<doca_dev, ReleaseUse>;

[[nodiscard]] inline DeviceUse use(doca_dev &dev) noexcept
{
    dev.take_use();
    return DeviceUse(&dev);
}

struct CloseDevice {
    void operator()(doca_dev *dev) const noexcept { (void)dev->close(); }
};

/// A device that a library has opened for its own use, independently of the program.
using OwnDevice = std::unique_ptr<doca_dev, CloseDevice>;

} // namespace opendoca

/// An element of a list of representors, or the description of an open one. Constant. Keeps the object of its device
/// alive, which the program may have closed.
struct doca_devinfo_rep {
    opendoca::RepresentorInfo info;
    std::shared_ptr<doca_dev> dev;                        ///< the device that has listed it
    std::shared_ptr<opendoca::AddressSearch> search = {}; ///< shared by the elements of a list
    std::size_t number = 0;                               ///< see doca_devinfo::number

    [[nodiscard]] const std::string &pci_address() const
    {
        return number == 0 ? info.pci_address : info.also[number - 1];
    }
    [[nodiscard]] bool has_address(const std::string &pci_address) const;
};

/// An open representor. Owned by the program; a use of its device.
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
