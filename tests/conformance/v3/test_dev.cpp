// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Devices and representors of DOCA 3.0: lists, opening and closing, and all that they tell about themselves.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "objects.hpp"

using namespace doca_test;

namespace {

using RepHandle = Handle<doca_dev_rep, doca_dev_rep_close>;

/// What no list, device or representor is.
template <typename T>
T *untouched()
{
    return reinterpret_cast<T *>(std::uintptr_t{0x5a5a});
}

/// A list of representors that frees itself.
class RepList {
public:
    RepList(doca_dev *dev, int filter) { must(doca_devinfo_rep_create_list(dev, filter, &list_, &size_)); }
    RepList(const RepList &) = delete;
    RepList &operator=(const RepList &) = delete;
    ~RepList() { EXPECT_EQ(doca_devinfo_rep_destroy_list(list_), DOCA_SUCCESS); }

    [[nodiscard]] doca_devinfo_rep *const *begin() const { return list_; }
    [[nodiscard]] doca_devinfo_rep *const *end() const { return list_ + size_; }
    [[nodiscard]] std::uint32_t size() const { return size_; }

private:
    doca_devinfo_rep **list_ = nullptr;
    std::uint32_t size_ = 0;
};

/// The one answer of a getter for text, or nothing.
template <std::size_t size, typename Info>
std::optional<std::string> text_of(doca_error_t (*get)(const Info *, char *, std::uint32_t), const Info *info)
{
    char text[size] = {};
    if (get(info, text, size) != DOCA_SUCCESS)
        return std::nullopt;
    return text;
}

template <typename Info>
std::string pci_of(doca_error_t (*get)(const Info *, char *), const Info *info)
{
    char text[DOCA_DEVINFO_PCI_ADDR_SIZE] = {};
    return get(info, text) == DOCA_SUCCESS ? text : "";
}

/// A getter of a number or a flag: what it says of NULL, and that it writes on success alone. Its answer, or nothing
/// where it gives @p if_none.
template <typename Info, typename Number>
std::optional<Number> check_number(doca_error_t (*get)(const Info *, Number *), const Info *info,
                                   doca_error_t if_none = DOCA_ERROR_NOT_SUPPORTED)
{
    constexpr auto pattern = static_cast<Number>(0x5a);
    auto value = pattern;
    EXPECT_EQ(get(nullptr, &value), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(get(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(value, pattern);
    const doca_error_t status = get(info, &value);
    if (status == DOCA_SUCCESS)
        return value;
    EXPECT_EQ(status, if_none);
    EXPECT_EQ(value, pattern);
    return std::nullopt;
}

/// A getter with a buffer of @p needed elements.
template <typename T, typename Info>
void check_sized(doca_error_t (*get)(const Info *, T *, std::uint32_t), const Info *info, std::uint32_t needed,
                 doca_error_t if_none)
{
    constexpr auto pattern = static_cast<T>(0x5a);
    std::vector<T> out(needed + 1, pattern);
    EXPECT_EQ(get(nullptr, out.data(), needed), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(get(info, nullptr, needed), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(get(info, out.data(), needed - 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(out, std::vector<T>(needed + 1, pattern));
    const doca_error_t status = get(info, out.data(), needed);
    EXPECT_EQ(out.back(), pattern);
    if (status != DOCA_SUCCESS) {
        EXPECT_EQ(status, if_none);
        EXPECT_EQ(out, std::vector<T>(needed + 1, pattern));
    } else if constexpr (std::is_same_v<T, char>) {
        EXPECT_LT(strnlen(out.data(), needed), needed) << "it is terminated";
    }
}

/// The first words of a file of sysfs.
std::string read(const std::string &path)
{
    std::string line;
    std::ifstream file(path);
    std::getline(file, line);
    return line;
}

bool has_representors(const doca_devinfo *info)
{
    std::uint8_t net = 0;
    return doca_devinfo_rep_cap_is_filter_net_supported(info, &net) == DOCA_SUCCESS && net == 1;
}

template <typename IsMeant>
std::vector<std::string> devices_that(IsMeant is_meant)
{
    std::vector<std::string> names;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        std::string name = ibdev_of(info);
        if (is_meant(info) && std::ranges::find(names, name) == names.end())
            names.push_back(std::move(name));
    }
    return names;
}

// Lists

TEST(DeviceLists, need_a_place_to_be_told_at)
{
    doca_devinfo **list = untouched<doca_devinfo *>();
    std::uint32_t count = 77;
    EXPECT_EQ(doca_devinfo_create_list(nullptr, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_create_list(&list, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(list, untouched<doca_devinfo *>());
    EXPECT_EQ(count, 77u);
}

TEST(DeviceLists, are_destroyed_once_and_nothing_else_is)
{
    doca_devinfo *own[] = {nullptr, nullptr};
    doca_devinfo_rep *own_rep[] = {nullptr, nullptr};
    EXPECT_EQ(doca_devinfo_destroy_list(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_destroy_list(own), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_rep_destroy_list(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_rep_destroy_list(own_rep), DOCA_ERROR_INVALID_VALUE);
    doca_devinfo **list = nullptr;
    std::uint32_t count = 0;
    ASSERT_EQ(doca_devinfo_create_list(&list, &count), DOCA_SUCCESS);
    EXPECT_GT(count, 0u);
    EXPECT_EQ(doca_devinfo_rep_destroy_list(reinterpret_cast<doca_devinfo_rep **>(list)), DOCA_ERROR_INVALID_VALUE)
        << "it is one of devices";
    EXPECT_EQ(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
    EXPECT_EQ(doca_devinfo_destroy_list(list), DOCA_ERROR_INVALID_VALUE);
}

TEST(DeviceLists, agree_and_live_for_themselves)
{
    const DevinfoList first;
    std::vector<std::string> names;
    for (doca_devinfo *info : first)
        names.push_back(ibdev_of(info));
    {
        const DevinfoList second;
        ASSERT_EQ(second.end() - second.begin(), first.end() - first.begin());
        for (std::size_t i = 0; i != names.size(); ++i) {
            EXPECT_NE(second.begin()[i], first.begin()[i]);
            EXPECT_EQ(ibdev_of(second.begin()[i]), names[i]);
        }
    }
    for (std::size_t i = 0; i != names.size(); ++i)
        EXPECT_EQ(ibdev_of(first.begin()[i]), names[i]);
}

// Devices

class DeviceV3 : public testing::TestWithParam<std::string> {
protected:
    [[nodiscard]] bool is_software() const { return is_soft(GetParam()); }
    /// What the kernel, or the card made of software, says of the port; empty for a software device.
    [[nodiscard]] std::string of_port(const char *file) const
    {
        return read("/sys/class/infiniband/" + GetParam() + "/ports/1/" + file);
    }
    DevHandle dev = open_device(GetParam());
    const doca_devinfo *info = doca_dev_as_devinfo(dev);
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceV3);
INSTANTIATE_TEST_SUITE_P(device, DeviceV3, testing::ValuesIn(devices_that([](const doca_devinfo *) { return true; })),
                         name_of_device);

TEST_P(DeviceV3, counts_how_often_it_is_open)
{
    doca_dev *none = untouched<doca_dev>();
    EXPECT_EQ(doca_dev_open(nullptr, &none), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dev_open(doca_dev_as_devinfo(dev), nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(none, untouched<doca_dev>());
    EXPECT_EQ(doca_dev_close(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dev_as_devinfo(nullptr), nullptr);
    EXPECT_EQ(ibdev_of(info), GetParam()) << "its description outlives the list that it was opened from";

    DevHandle again = open_device(GetParam()), third;
    EXPECT_EQ(static_cast<doca_dev *>(again), static_cast<doca_dev *>(dev));
    ASSERT_EQ(doca_dev_open(doca_dev_as_devinfo(dev), third.out()), DOCA_SUCCESS) << "by its own description, too";
    EXPECT_EQ(static_cast<doca_dev *>(third), static_cast<doca_dev *>(dev));
    again.reset();
    third.reset();
    std::vector<std::byte> memory(64);
    MmapHandle map = map_of(dev, memory);
    EXPECT_EQ(ibdev_of(doca_dev_as_devinfo(dev)), GetParam()) << "one close of three is left";
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE) << "the map has it";
    EXPECT_EQ(ibdev_of(doca_dev_as_devinfo(dev)), GetParam());
    map.reset();
    dev.reset();
    dev = open_device(GetParam());
    EXPECT_EQ(ibdev_of(doca_dev_as_devinfo(dev)), GetParam()) << "it is opened anew";
}

TEST_P(DeviceV3, has_an_address_on_the_bus)
{
    char address[DOCA_DEVINFO_PCI_ADDR_SIZE];
    std::uint8_t is_equal = 99;
    EXPECT_EQ(doca_devinfo_get_pci_addr_str(nullptr, address), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_get_pci_addr_str(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_is_equal_pci_addr(nullptr, "03:00.0", &is_equal), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_is_equal_pci_addr(info, nullptr, &is_equal), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_is_equal_pci_addr(info, "03:00.0", nullptr), DOCA_ERROR_INVALID_VALUE);
    for (const char *const text : {"", "3:00.0", "03:00", "03:00.8", "03:20.0", "0000-03:00.0", "0000:03:00.0 ", "p0"})
        EXPECT_EQ(doca_devinfo_is_equal_pci_addr(info, text, &is_equal), DOCA_ERROR_INVALID_VALUE) << text;
    EXPECT_EQ(is_equal, 99);
    const doca_error_t status = doca_devinfo_get_pci_addr_str(info, address);
    if (status == DOCA_ERROR_OPERATING_SYSTEM)
        GTEST_SKIP() << "it is on no PCI bus";
    ASSERT_EQ(status, DOCA_SUCCESS);
    const std::string own = address;
    ASSERT_EQ(own.size(), DOCA_DEVINFO_PCI_ADDR_SIZE - 1u);
    EXPECT_EQ(doca_devinfo_is_equal_pci_addr(info, own.c_str(), &is_equal), DOCA_SUCCESS);
    EXPECT_EQ(is_equal, 1);
    if (own.starts_with("0000:")) {
        EXPECT_EQ(doca_devinfo_is_equal_pci_addr(info, own.c_str() + 5, &is_equal), DOCA_SUCCESS);
        EXPECT_EQ(is_equal, 1);
    }
    EXPECT_EQ(doca_devinfo_is_equal_pci_addr(info, "fffe:ff:1f.7", &is_equal), DOCA_SUCCESS);
    EXPECT_EQ(is_equal, 0);
}

TEST_P(DeviceV3, has_names_and_addresses)
{
    check_sized(doca_devinfo_get_ipv4_addr, info, DOCA_DEVINFO_IPV4_ADDR_SIZE, DOCA_ERROR_NOT_FOUND);
    check_sized(doca_devinfo_get_ipv6_addr, info, DOCA_DEVINFO_IPV6_ADDR_SIZE, DOCA_ERROR_OPERATING_SYSTEM);
    check_sized(doca_devinfo_get_mac_addr, info, DOCA_DEVINFO_MAC_ADDR_SIZE, DOCA_ERROR_NOT_SUPPORTED);
    check_sized(doca_devinfo_get_iface_name, info, DOCA_DEVINFO_IFACE_NAME_SIZE, DOCA_ERROR_OPERATING_SYSTEM);
    check_sized(doca_devinfo_get_ibdev_name, info, DOCA_DEVINFO_IBDEV_NAME_SIZE, DOCA_SUCCESS);
    EXPECT_EQ(text_of<DOCA_DEVINFO_IBDEV_NAME_SIZE>(doca_devinfo_get_ibdev_name, info), GetParam());
}

TEST_P(DeviceV3, tells_its_kind)
{
    auto type = no_value<doca_pci_func_type>(99);
    EXPECT_EQ(doca_devinfo_get_pci_func_type(nullptr, &type), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_get_pci_func_type(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(type, no_value<doca_pci_func_type>(99));
    EXPECT_EQ(doca_devinfo_get_pci_func_type(info, &type), DOCA_SUCCESS);
    EXPECT_TRUE(type == DOCA_PCI_FUNC_TYPE_PF || type == DOCA_PCI_FUNC_TYPE_VF || type == DOCA_PCI_FUNC_TYPE_SF);
    const auto number = check_number(doca_devinfo_get_sf_index, info);
    const std::string told = read("/sys/class/infiniband/" + GetParam() + "/device/sfnum");
    if (!is_software()) {
        EXPECT_EQ(number ? std::to_string(*number) : "", told);
    } else {
        EXPECT_EQ(number.has_value(), type == DOCA_PCI_FUNC_TYPE_SF);
    }
    if (number) {
        EXPECT_EQ(type, DOCA_PCI_FUNC_TYPE_SF);
    }
}

TEST_P(DeviceV3, tells_its_local_identifier_on_infiniband)
{
    const auto lid = check_number(doca_devinfo_get_lid, info);
    EXPECT_EQ(lid.has_value(), of_port("link_layer") == "InfiniBand");
    if (lid) {
        EXPECT_EQ(*lid, std::stoul(of_port("lid"), nullptr, 0));
    }
}

/// As the kernel tells it, "100 Gb/sec (4X EDR)".
TEST_P(DeviceV3, tells_its_rate)
{
    const auto rate = check_number(doca_devinfo_get_active_rate, info);
    if (is_software()) {
        EXPECT_EQ(rate, std::optional(std::uint64_t{100'000'000'000})) << "the default of a topology";
    } else if (of_port("state").find("ACTIVE") != std::string::npos) {
        ASSERT_TRUE(rate);
        EXPECT_EQ(static_cast<double>(*rate), std::stod(of_port("rate")) * 1e9);
    } else {
        EXPECT_FALSE(rate) << "the port is down";
    }
}

TEST_P(DeviceV3, is_known_to_its_card)
{
    const auto vhca_id = check_number(doca_devinfo_get_vhca_id, info);
    if (is_software()) {
        EXPECT_TRUE(vhca_id);
    }
    // Of the card made of software it is known: docs/card.md.
    if (const char *const side = std::getenv("OPENDOCA_CARD_SIDE"); side != nullptr) {
        const bool is_dpu = std::string_view(side).ends_with("/dpu"), is_first = GetParam() == "mlx5_0";
        ASSERT_TRUE(vhca_id);
        EXPECT_EQ(*vhca_id, is_dpu ? (is_first ? 5 : 6) : (is_first ? 1 : 2));
        EXPECT_EQ(check_number(doca_devinfo_get_sf_index, info),
                  is_dpu && !is_first ? std::optional(std::uint32_t{4}) : std::nullopt);
    }
}

TEST_P(DeviceV3, answers_for_what_it_can_do)
{
    const auto hotplug = check_number(doca_devinfo_cap_is_hotplug_manager_supported, info);
    const auto moderation = check_number(doca_devinfo_cap_is_notification_moderation_supported, info);
    const auto reclaim = check_number(doca_devinfo_cap_is_accelerate_resource_reclaim_supported, info);
    ASSERT_TRUE(hotplug && moderation && reclaim);
    EXPECT_EQ(*hotplug, 0);
    EXPECT_EQ(*moderation, 0);
    EXPECT_EQ(*reclaim, 0);
    EXPECT_EQ(doca_dev_accelerate_resource_reclaim(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dev_accelerate_resource_reclaim(dev), DOCA_ERROR_NOT_SUPPORTED);
}

/// Filters that a device has representors for are 1, others 0; one that has none at all says so.
TEST_P(DeviceV3, lists_representors_as_it_says)
{
    struct Filter {
        int bits;
        std::optional<std::uint8_t> answer;
    };
    const Filter filters[] = {
        {DOCA_DEVINFO_REP_FILTER_ALL, check_number(doca_devinfo_rep_cap_is_filter_all_supported, info)},
        {DOCA_DEVINFO_REP_FILTER_NET, check_number(doca_devinfo_rep_cap_is_filter_net_supported, info)},
        {DOCA_DEVINFO_REP_FILTER_EMULATED, check_number(doca_devinfo_rep_cap_is_filter_emulated_supported, info)},
    };
    const bool has_any = filters[0].answer.has_value();
    EXPECT_EQ(filters[0].answer.value_or(1), 1) << "or NOT_SUPPORTED";
    for (const Filter &filter : filters) {
        EXPECT_EQ(filter.answer.has_value(), has_any) << filter.bits;
        doca_devinfo_rep **list = untouched<doca_devinfo_rep *>();
        std::uint32_t count = 77;
        EXPECT_EQ(doca_devinfo_rep_create_list(nullptr, filter.bits, &list, &count), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_create_list(dev, filter.bits, nullptr, &count), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_create_list(dev, filter.bits, &list, nullptr), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_create_list(dev, filter.bits | 1, &list, &count), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(list, untouched<doca_devinfo_rep *>());
        const doca_error_t status = doca_devinfo_rep_create_list(dev, filter.bits, &list, &count);
        EXPECT_EQ(status, filter.answer.value_or(0) == 1 ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED) << filter.bits;
        if (status == DOCA_SUCCESS) {
            EXPECT_EQ(doca_devinfo_rep_destroy_list(list), DOCA_SUCCESS);
            EXPECT_EQ(doca_devinfo_rep_destroy_list(list), DOCA_ERROR_INVALID_VALUE);
        } else {
            EXPECT_EQ(list, untouched<doca_devinfo_rep *>());
            EXPECT_EQ(count, 77u);
        }
    }
}

// Representors

class RepresentorsV3 : public DeviceV3 {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RepresentorsV3);
INSTANTIATE_TEST_SUITE_P(device, RepresentorsV3, testing::ValuesIn(devices_that(has_representors)), name_of_device);

TEST_P(RepresentorsV3, tell_what_they_stand_for)
{
    const RepList reps(dev, DOCA_DEVINFO_REP_FILTER_NET);
    const RepList all(dev, DOCA_DEVINFO_REP_FILTER_ALL);
    EXPECT_EQ(all.size(), reps.size());
    for (const doca_devinfo_rep *const rep : reps) {
        char address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = {};
        auto type = no_value<doca_pci_func_type>(99);
        std::uint8_t is_equal = 99;
        check_sized(doca_devinfo_rep_get_vuid, rep, DOCA_DEVINFO_REP_VUID_SIZE, DOCA_ERROR_NOT_SUPPORTED);
        check_sized(doca_devinfo_rep_get_iface_name, rep, DOCA_DEVINFO_IFACE_NAME_SIZE, DOCA_ERROR_NOT_SUPPORTED);
        EXPECT_EQ(doca_devinfo_rep_get_pci_addr_str(nullptr, address), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_get_pci_addr_str(rep, nullptr), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_get_pci_func_type(nullptr, &type), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_get_pci_func_type(rep, nullptr), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(type, no_value<doca_pci_func_type>(99));
        EXPECT_EQ(doca_devinfo_rep_get_pci_func_type(rep, &type), DOCA_SUCCESS);
        EXPECT_TRUE(type == DOCA_PCI_FUNC_TYPE_PF || type == DOCA_PCI_FUNC_TYPE_VF || type == DOCA_PCI_FUNC_TYPE_SF);
        EXPECT_EQ(check_number(doca_devinfo_rep_get_is_hotplug, rep), std::optional(std::uint8_t{0}));
        EXPECT_TRUE(check_number(doca_devinfo_rep_get_vhca_id, rep));
        EXPECT_EQ(doca_devinfo_rep_is_equal_pci_addr(nullptr, "03:00.0", &is_equal), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_is_equal_pci_addr(rep, nullptr, &is_equal), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_is_equal_pci_addr(rep, "03:00.0", nullptr), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_is_equal_pci_addr(rep, "nowhere", &is_equal), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(is_equal, 99);
        if (doca_devinfo_rep_get_pci_addr_str(rep, address) == DOCA_SUCCESS) {
            EXPECT_EQ(doca_devinfo_rep_is_equal_pci_addr(rep, address, &is_equal), DOCA_SUCCESS);
            EXPECT_EQ(is_equal, 1);
        }
    }
}

TEST_P(RepresentorsV3, keep_their_device_and_are_kept)
{
    RepHandle open;
    std::optional<std::string> vuid;
    {
        const RepList reps(dev, DOCA_DEVINFO_REP_FILTER_NET);
        ASSERT_GT(reps.size(), 0u);
        doca_dev_rep *none = untouched<doca_dev_rep>();
        EXPECT_EQ(doca_dev_rep_open(nullptr, &none), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_dev_rep_open(*reps.begin(), nullptr), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(none, untouched<doca_dev_rep>());
        EXPECT_EQ(doca_dev_rep_close(nullptr), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_dev_rep_as_devinfo(nullptr), nullptr);
        vuid = text_of<DOCA_DEVINFO_REP_VUID_SIZE>(doca_devinfo_rep_get_vuid, *reps.begin());
        ASSERT_EQ(doca_dev_rep_open(*reps.begin(), open.out()), DOCA_SUCCESS);
    }
    const doca_devinfo_rep *const own = doca_dev_rep_as_devinfo(open);
    ASSERT_NE(own, nullptr);
    EXPECT_EQ(text_of<DOCA_DEVINFO_REP_VUID_SIZE>(doca_devinfo_rep_get_vuid, own), vuid) << "it outlives its list";
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE) << "a representor is open";
    open.reset();
    const RepList reps(dev, DOCA_DEVINFO_REP_FILTER_NET);
    dev.reset();
    EXPECT_EQ(text_of<DOCA_DEVINFO_REP_VUID_SIZE>(doca_devinfo_rep_get_vuid, *reps.begin()), vuid)
        << "a list outlives its device";
}

/// What the card made of software has behind its DPU: docs/card.md.
TEST(CardV3, tells_of_its_representors)
{
    const char *const side = std::getenv("OPENDOCA_CARD_SIDE");
    if (side == nullptr || !std::string_view(side).ends_with("/dpu"))
        GTEST_SKIP() << "it takes a card made of software, and its DPU's side";
    const DevHandle dev = open_device("mlx5_0");
    const RepList reps(dev, DOCA_DEVINFO_REP_FILTER_NET);
    std::vector<std::tuple<std::string, std::string, unsigned>> found;
    for (const doca_devinfo_rep *const rep : reps) {
        found.emplace_back(pci_of(doca_devinfo_rep_get_pci_addr_str, rep),
                           text_of<DOCA_DEVINFO_IFACE_NAME_SIZE>(doca_devinfo_rep_get_iface_name, rep).value_or("none"),
                           check_number(doca_devinfo_rep_get_vhca_id, rep).value_or(0));
    }
    const decltype(found) expected = {
        {"0000:3b:00.0", "pf0hpf", 1}, {"0000:3b:00.2", "pf0vf0", 2}, {"0000:03:00.0", "en3f0pf0sf4", 6}};
    EXPECT_EQ(found, expected);
}

// The software device

struct Described {
    std::string ibdev, pci, iface, ipv4;
    doca_pci_func_type type;
    bool has_representors;
    bool operator==(const Described &) const = default;
};

std::ostream &operator<<(std::ostream &out, const Described &function)
{
    return out << function.ibdev << ' ' << function.pci << ' ' << function.iface << ' ' << function.ipv4 << ' '
               << function.type << ' ' << function.has_representors;
}

class DefaultTopology : public testing::Test {
protected:
    void SetUp() override
    {
        if (!has_device("soft_p0") || std::getenv("DOCA_SOFT_TOPOLOGY") != nullptr)
            GTEST_SKIP() << "there is another one, or none";
    }
    [[nodiscard]] static std::vector<std::string> representors_of(const char *ibdev)
    {
        const DevHandle dev = open_device(ibdev);
        const RepList reps(dev, DOCA_DEVINFO_REP_FILTER_ALL);
        std::vector<std::string> addresses;
        for (const doca_devinfo_rep *const rep : reps)
            addresses.push_back(pci_of(doca_devinfo_rep_get_pci_addr_str, rep));
        return addresses;
    }
};

TEST_F(DefaultTopology, is_a_dpu_with_two_ports_and_the_functions_behind_them)
{
    std::vector<Described> found;
    std::vector<std::array<std::uint8_t, DOCA_DEVINFO_MAC_ADDR_SIZE>> macs;
    const DevinfoList list;
    for (const doca_devinfo *const info : list) {
        if (!is_soft(ibdev_of(info)))
            continue;
        std::array<std::uint8_t, DOCA_DEVINFO_MAC_ADDR_SIZE> mac{};
        std::uint8_t ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE] = {};
        EXPECT_EQ(doca_devinfo_get_mac_addr(info, mac.data(), mac.size()), DOCA_SUCCESS);
        EXPECT_EQ(std::ranges::find(macs, mac), macs.end()) << "each has its own";
        macs.push_back(mac);
        EXPECT_EQ(doca_devinfo_get_ipv4_addr(info, ipv4, sizeof(ipv4)), DOCA_SUCCESS);
        char text[16];
        std::snprintf(text, sizeof(text), "%u.%u.%u.%u", ipv4[0], ipv4[1], ipv4[2], ipv4[3]);
        doca_pci_func_type type{};
        EXPECT_EQ(doca_devinfo_get_pci_func_type(info, &type), DOCA_SUCCESS);
        found.push_back({ibdev_of(info), pci_of(doca_devinfo_get_pci_addr_str, info),
                         text_of<DOCA_DEVINFO_IFACE_NAME_SIZE>(doca_devinfo_get_iface_name, info).value_or("none"),
                         text, type, has_representors(info)});
    }
    constexpr auto pf = DOCA_PCI_FUNC_TYPE_PF;
    constexpr auto vf = DOCA_PCI_FUNC_TYPE_VF;
    constexpr auto sf = DOCA_PCI_FUNC_TYPE_SF;
    const std::vector<Described> expected = {
        {"soft_p0", "0000:03:00.0", "p0", "198.18.0.1", pf, true},
        {"soft_p1", "0000:03:00.1", "p1", "198.18.0.2", pf, true},
        {"soft_p0s0", "0000:03:00.0", "p0s0", "198.18.0.3", sf, false},
        {"soft_p1s0", "0000:03:00.1", "p1s0", "198.18.0.4", sf, false},
        {"soft_pf0", "0000:0b:00.0", "pf0", "198.18.0.5", pf, false},
        {"soft_pf1", "0000:0b:00.1", "pf1", "198.18.0.6", pf, false},
        {"soft_pf0vf0", "0000:0b:00.2", "pf0vf0", "198.18.0.7", vf, false},
        {"soft_pf0vf1", "0000:0b:00.3", "pf0vf1", "198.18.0.8", vf, false},
        {"soft_pf1vf0", "0000:0b:00.4", "pf1vf0", "198.18.0.9", vf, false},
    };
    EXPECT_EQ(found, expected);
}

TEST_F(DefaultTopology, has_the_functions_behind_a_port_as_its_representors)
{
    EXPECT_EQ(representors_of("soft_p0"),
              (std::vector<std::string>{"0000:0b:00.0", "0000:0b:00.2", "0000:0b:00.3", "0000:03:00.0"}));
    EXPECT_EQ(representors_of("soft_p1"), (std::vector<std::string>{"0000:0b:00.1", "0000:0b:00.4", "0000:03:00.1"}));
}

/// As programs choose a representor by its interface, or a function by its number.
TEST_F(DefaultTopology, names_the_interfaces_of_representors_as_a_bluefield_does)
{
    std::vector<std::pair<std::string, unsigned>> found;
    for (const char *const port : {"soft_p0", "soft_p1"}) {
        const DevHandle dev = open_device(port);
        const RepList reps(dev, DOCA_DEVINFO_REP_FILTER_NET);
        for (const doca_devinfo_rep *const rep : reps) {
            found.emplace_back(
                text_of<DOCA_DEVINFO_IFACE_NAME_SIZE>(doca_devinfo_rep_get_iface_name, rep).value_or("none"),
                check_number(doca_devinfo_rep_get_vhca_id, rep).value_or(0));
        }
    }
    const decltype(found) expected = {{"pf0hpf", 5}, {"pf0vf0", 7}, {"pf0vf1", 8}, {"pf0sf0", 3},
                                      {"pf1hpf", 6}, {"pf1vf0", 9}, {"pf1sf0", 4}};
    EXPECT_EQ(found, expected);
}

/// Guides and shipped samples name further addresses of the host's first function.
TEST_F(DefaultTopology, answers_to_the_addresses_that_guides_name)
{
    const DevHandle dev = open_device("soft_p0");
    const RepList reps(dev, DOCA_DEVINFO_REP_FILTER_NET);
    const DevinfoList list;
    for (const char *const address : {"01:00.0", "3b:00.0", "0000:b1:00.0"}) {
        int num_devices = 0, num_representors = 0;
        std::uint8_t is_equal = 0;
        for (const doca_devinfo *const info : list) {
            EXPECT_EQ(doca_devinfo_is_equal_pci_addr(info, address, &is_equal), DOCA_SUCCESS);
            num_devices += is_equal;
        }
        for (const doca_devinfo_rep *const rep : reps) {
            EXPECT_EQ(doca_devinfo_rep_is_equal_pci_addr(rep, address, &is_equal), DOCA_SUCCESS);
            num_representors += is_equal;
        }
        EXPECT_EQ(num_devices, 1) << address;
        EXPECT_EQ(num_representors, 1) << address;
    }
}

} // namespace
