// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A thin C++ layer over the public API: errors become exceptions, and objects are destroyed by destructors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include <api.hpp> // of the tool's generation

namespace opendoca::tools {

/// Returns "DOCA_ERROR_NOT_FOUND (its explanation)".
[[nodiscard]] inline std::string explain(doca_error_t error)
{
    return std::string(api::name_of_error(error)) + " (" + api::text_of_error(error) + ")";
}

[[noreturn, gnu::cold]] inline void throw_error(doca_error_t status, const char *what)
{
    throw std::runtime_error(std::string(what) + ": " + explain(status));
}

/// Throws if @p status, the result of @p what, is an error.
inline void must(doca_error_t status, const char *what)
{
    if (status != DOCA_SUCCESS) [[unlikely]]
        throw_error(status, what);
}

template <auto destroy>
struct Destroy {
    void operator()(auto *object) const noexcept { (void)destroy(object); }
};

template <typename Object, auto destroy>
using Handle = std::unique_ptr<Object, Destroy<destroy>>;

using DeviceHandle = Handle<doca_dev, doca_dev_close>;

/// The list of the devices that this process can use.
class DeviceList {
public:
    DeviceList() { must(api::create_list(&list_, &count_), "listing the devices"); }
    DeviceList(const DeviceList &) = delete;
    DeviceList &operator=(const DeviceList &) = delete;
    ~DeviceList() { (void)api::destroy_list(list_); }

    [[nodiscard]] std::span<doca_devinfo *const> infos() const noexcept { return {list_, count_}; }

private:
    doca_devinfo **list_ = nullptr;
    std::uint32_t count_ = 0;
};

/// The representors of a device that match a filter.
class RepresentorList {
public:
    RepresentorList(doca_dev &dev, api::RepFilter filter)
    {
        must(api::create_rep_list(&dev, filter, &list_, &count_), "listing the representors");
    }
    RepresentorList(const RepresentorList &) = delete;
    RepresentorList &operator=(const RepresentorList &) = delete;
    ~RepresentorList() { (void)api::destroy_rep_list(list_); }

    [[nodiscard]] std::span<doca_devinfo_rep *const> infos() const noexcept { return {list_, count_}; }

private:
    doca_devinfo_rep **list_ = nullptr;
    std::uint32_t count_ = 0;
};

[[nodiscard]] inline DeviceHandle open_device(doca_devinfo &info)
{
    doca_dev *dev = nullptr;
    must(doca_dev_open(&info, &dev), "opening a device");
    return DeviceHandle(dev);
}

[[nodiscard]] inline std::string ibdev_of(const doca_devinfo &info)
{
    char name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
    must(doca_devinfo_get_ibdev_name(&info, name, sizeof(name)), "a device's name");
    return name;
}

[[nodiscard]] inline DeviceHandle open_by_name(const std::string &ibdev)
{
    const DeviceList devices;
    for (doca_devinfo *const info : devices.infos()) {
        if (ibdev_of(*info) == ibdev)
            return open_device(*info);
    }
    throw std::runtime_error("no device '" + ibdev + "'");
}

} // namespace opendoca::tools
