// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A thin C++ layer over the public API: errors become exceptions, and destructors release objects. It names no function
// of one generation alone; <common/api.hpp> of v2/ or v3/ supplies those that are called differently.
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

/// Throws std::runtime_error with the action @p what and the text of @p status. Marked cold, so that must() costs one
/// compare and branch in the measured loops of doca_bench.
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

/// Deleter that calls @p destroy of the API. Its status is ignored: a destructor cannot report it.
template <auto destroy>
struct Destroy {
    void operator()(auto *object) const noexcept { (void)destroy(object); }
};

/// Unique owner of an object of the API. Members that depend on each other are declared in the order of creation, as
/// the library refuses to destroy an object that is still in use.
template <typename Object, auto destroy>
using Handle = std::unique_ptr<Object, Destroy<destroy>>;

using DeviceHandle = Handle<doca_dev, doca_dev_close>;

/// The devices that this process can use, as the library lists them at construction. Owns the list: an entry of infos()
/// is valid until the destructor, and an open device does not need it. Used by one thread.
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

/// The representors of an open device that match a filter. Owns the list: entries of infos() are valid until the
/// destructor. The device must stay open for as long. Used by one thread.
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

/// Opens the device of a list entry.
[[nodiscard]] inline DeviceHandle open_device(doca_devinfo &info)
{
    doca_dev *dev = nullptr;
    must(doca_dev_open(&info, &dev), "opening a device");
    return DeviceHandle(dev);
}

/// Returns the name of the device in libibverbs, such as "mlx5_0" or "soft_p0".
[[nodiscard]] inline std::string ibdev_of(const doca_devinfo &info)
{
    char name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
    must(doca_devinfo_get_ibdev_name(&info, name, sizeof(name)), "a device's name");
    return name;
}

/// Opens the device named @p ibdev. Throws if no device has this name.
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
