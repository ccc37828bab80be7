// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The devices of this machine, as parameters of tests.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "handle.hpp"

namespace doca_test {

/// What one listing said about a device: enough to find it in the next one, or in another process.
struct DeviceParam {
    std::string ibdev;
    std::string pci;

    [[nodiscard]] bool is_soft() const { return ibdev.starts_with("soft_"); }
};

inline std::ostream &operator<<(std::ostream &stream, const DeviceParam &device)
{
    return stream << device.ibdev << " (" << device.pci << ")";
}

/// Memory exported through the one can be imported through the other.
struct DevicePair {
    DeviceParam exporter;
    DeviceParam importer;
};

inline std::ostream &operator<<(std::ostream &stream, const DevicePair &pair)
{
    return stream << pair.exporter << " to " << pair.importer;
}

/// A list of devices that frees itself.
class DevinfoList {
public:
    DevinfoList() { must(doca_devinfo_list_create(&list_, &size_)); }
    DevinfoList(const DevinfoList &) = delete;
    DevinfoList &operator=(const DevinfoList &) = delete;
    ~DevinfoList() { EXPECT_EQ(doca_devinfo_list_destroy(list_), DOCA_SUCCESS); }

    [[nodiscard]] doca_devinfo *operator[](std::size_t i) const { return list_[i]; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] doca_devinfo *const *begin() const { return list_; }
    [[nodiscard]] doca_devinfo *const *end() const { return list_ + size_; }

private:
    doca_devinfo **list_ = nullptr;
    std::uint32_t size_ = 0;
};

inline std::string ibdev_of(const doca_devinfo *info)
{
    char name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
    must(doca_devinfo_get_ibdev_name(info, name, sizeof(name)));
    return name;
}

inline std::string pci_of(const doca_devinfo *info)
{
    char address[DOCA_DEVINFO_PCI_ADDR_SIZE] = {};
    return doca_devinfo_get_pci_addr_str(info, address) == DOCA_SUCCESS ? address : "";
}

/// A list of an open device's representors that frees itself.
class RepList {
public:
    explicit RepList(doca_dev *dev, int filter = DOCA_DEV_REP_FILTER_ALL)
    {
        must(doca_devinfo_rep_list_create(dev, filter, &list_, &size_));
    }
    RepList(const RepList &) = delete;
    RepList &operator=(const RepList &) = delete;
    ~RepList() { EXPECT_EQ(doca_devinfo_rep_list_destroy(list_), DOCA_SUCCESS); }

    [[nodiscard]] doca_devinfo_rep *operator[](std::size_t i) const { return list_[i]; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] doca_devinfo_rep *const *begin() const { return list_; }
    [[nodiscard]] doca_devinfo_rep *const *end() const { return list_ + size_; }

private:
    doca_devinfo_rep **list_ = nullptr;
    std::uint32_t size_ = 0;
};

inline std::string pci_of(const doca_devinfo_rep *info)
{
    char address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = {};
    return doca_devinfo_rep_get_pci_addr_str(info, address) == DOCA_SUCCESS ? address : "";
}

/// Opens a device by its name.
inline DevHandle open_device(const std::string &ibdev)
{
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (ibdev_of(info) != ibdev)
            continue;
        DevHandle dev;
        must(doca_dev_open(info, dev.out()));
        return dev;
    }
    throw std::runtime_error("no device " + ibdev);
}

inline DevHandle open_device(const DeviceParam &device)
{
    return open_device(device.ibdev);
}

// Predicates for devices_that().

inline bool exists(doca_devinfo *)
{
    return true;
}

inline bool is_soft(doca_devinfo *info)
{
    return ibdev_of(info).starts_with("soft_");
}

inline bool can_copy(doca_devinfo *info)
{
    return doca_dma_job_get_supported(info, DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS;
}

inline bool can_export(doca_devinfo *info)
{
    std::uint8_t can = 0;
    return doca_devinfo_get_is_mmap_export_dpu_supported(info, &can) == DOCA_SUCCESS && can == 1;
}

inline bool can_import(doca_devinfo *info)
{
    std::uint8_t can = 0;
    return doca_devinfo_get_is_mmap_from_export_dpu_supported(info, &can) == DOCA_SUCCESS && can == 1;
}

inline bool has_representors(doca_devinfo *info)
{
    std::uint8_t can = 0;
    return doca_devinfo_rep_get_is_list_all_supported(info, &can) == DOCA_SUCCESS && can == 1;
}

/// Every device of this machine that suits a test.
inline std::vector<DeviceParam> devices_that(const std::function<bool(doca_devinfo *)> &suits)
{
    std::vector<DeviceParam> devices;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (suits(info))
            devices.push_back({ibdev_of(info), pci_of(info)});
    }
    return devices;
}

/// Returns on how many software devices, or pairs of them, a suite runs at most. They share their code, so the build
/// limits them to 2, and with a sanitizer to 1; without the variable there is no limit.
inline std::size_t max_soft_devices()
{
    const char *const value = std::getenv("OPENDOCA_TEST_SOFT_DEVICES");
    return value == nullptr ? SIZE_MAX : std::max<std::size_t>(std::strtoul(value, nullptr, 10), 1);
}

/// Keeps @p most of the software devices, or pairs of them: the first ones, and if there is more than one, the last.
template <typename Item>
std::vector<Item> limit_soft(std::vector<Item> items, std::size_t most,
                             const std::function<bool(const Item &)> &is_of_software)
{
    const auto num_soft = static_cast<std::size_t>(std::ranges::count_if(items, is_of_software));
    const std::size_t last_kept = most == 1 ? 1 : num_soft;
    std::size_t number = 0;
    std::erase_if(items,
                  [&](const Item &item) { return is_of_software(item) && ++number >= most && number != last_kept; });
    return items;
}

/// For suites that take long: the first software device stands for all of them.
inline std::vector<DeviceParam> few_devices_that(const std::function<bool(doca_devinfo *)> &suits)
{
    return limit_soft<DeviceParam>(devices_that(suits), 1, &DeviceParam::is_soft);
}

/// The devices that a suite runs on.
inline std::vector<DeviceParam> suite_devices_that(const std::function<bool(doca_devinfo *)> &suits)
{
    return limit_soft<DeviceParam>(devices_that(suits), max_soft_devices(), &DeviceParam::is_soft);
}

/// Functions of the host and ports of the DPU that belong together, or with @p same_port false, that do not. A port
/// that acts as one of those functions is left to the tests of that.
inline std::vector<DevicePair> device_pairs(bool same_port = true)
{
    std::vector<DevicePair> pairs;
    const std::vector<DeviceParam> exporters = devices_that([](doca_devinfo *info) {
        return can_export(info) && (is_soft(info) ? !has_representors(info) : !can_import(info)) && can_copy(info);
    });
    for (const DeviceParam &importer : devices_that(
             [](doca_devinfo *info) { return can_import(info) && can_copy(info) && has_representors(info); })) {
        const DevHandle dev = open_device(importer);
        const RepList reps(dev);
        for (const DeviceParam &exporter : exporters) {
            bool is_behind = false;
            for (doca_devinfo_rep *rep : reps)
                is_behind = is_behind || pci_of(rep) == exporter.pci;
            if (is_behind == same_port)
                pairs.push_back({exporter, importer});
        }
    }
    return pairs;
}

/// The pairs that a suite runs on, of @p pairs.
inline std::vector<DevicePair> suite_pairs(std::vector<DevicePair> pairs)
{
    return limit_soft<DevicePair>(std::move(pairs), max_soft_devices(),
                                  [](const DevicePair &pair) { return pair.importer.is_soft(); });
}

/// One pair for each importer, for suites that take long.
inline std::vector<DevicePair> few_device_pairs()
{
    std::vector<DevicePair> pairs;
    for (const DevicePair &pair : device_pairs()) {
        if (pairs.empty() || pairs.back().importer.ibdev != pair.importer.ibdev)
            pairs.push_back(pair);
    }
    return suite_pairs(std::move(pairs));
}

/// The first pair, for what depends on processes and memory only.
inline std::vector<DevicePair> one_device_pair()
{
    std::vector<DevicePair> pairs = few_device_pairs();
    if (pairs.size() > 1)
        pairs.erase(pairs.begin() + 1, pairs.end());
    return pairs;
}

inline std::string as_test_name(std::string name)
{
    for (char &c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0)
            c = '_';
    }
    return name;
}

inline std::string device_name(const testing::TestParamInfo<DeviceParam> &info)
{
    return as_test_name(info.param.ibdev);
}

inline std::string pair_name(const testing::TestParamInfo<DevicePair> &info)
{
    return as_test_name(info.param.exporter.ibdev + "_to_" + info.param.importer.ibdev);
}

/// A test on one device, which is open.
class DeviceTest : public testing::TestWithParam<DeviceParam> {
protected:
    DevHandle dev{open_device(GetParam())};
    doca_devinfo *info = doca_dev_as_devinfo(dev);
};

} // namespace doca_test

/// Instantiates a suite of DeviceTest for the devices that suite_devices_that() gives.
#define INSTANTIATE_FOR_DEVICES(suite, suits)                                                                          \
    GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                                              \
    INSTANTIATE_TEST_SUITE_P(device, suite, testing::ValuesIn(doca_test::suite_devices_that(suits)),                   \
                             doca_test::device_name)

/// The same, for every device of this machine that suits it: for suites of what differs between software devices.
#define INSTANTIATE_FOR_EVERY_DEVICE(suite, suits)                                                                     \
    GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                                              \
    INSTANTIATE_TEST_SUITE_P(device, suite, testing::ValuesIn(doca_test::devices_that(suits)), doca_test::device_name)

/// The same, for the devices that few_devices_that() gives.
#define INSTANTIATE_FOR_FEW_DEVICES(suite, suits)                                                                      \
    GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                                              \
    INSTANTIATE_TEST_SUITE_P(device, suite, testing::ValuesIn(doca_test::few_devices_that(suits)),                     \
                             doca_test::device_name)
