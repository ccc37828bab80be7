// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Lists of devices, opening and closing, and what a device says about itself.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/environment.hpp"
#include "support/log_capture.hpp"

using namespace doca_test;

// Lists

TEST(DevList, create_refuses_null)
{
    doca_devinfo **list = untouched<doca_devinfo *>();
    std::uint32_t count = 77;
    EXPECT_EQ(doca_devinfo_list_create(nullptr, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_list_create(&list, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_list_create(nullptr, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(list, untouched<doca_devinfo *>());
    EXPECT_EQ(count, 77u);
}

TEST(DevList, destroy_refuses_what_is_not_a_list)
{
    doca_devinfo *own[] = {nullptr, nullptr};
    EXPECT_EQ(doca_devinfo_list_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_list_destroy(own), DOCA_ERROR_INVALID_VALUE);
}

TEST(DevList, cannot_be_destroyed_twice)
{
    doca_devinfo **list = nullptr;
    std::uint32_t count = 0;
    ASSERT_EQ(doca_devinfo_list_create(&list, &count), DOCA_SUCCESS);
    EXPECT_EQ(doca_devinfo_list_destroy(list), DOCA_SUCCESS);
    EXPECT_EQ(doca_devinfo_list_destroy(list), DOCA_ERROR_INVALID_VALUE);
}

TEST(DevList, lists_are_independent_and_agree)
{
    const DevinfoList first;
    ASSERT_GT(first.size(), 0u);
    std::vector<std::string> names;
    for (doca_devinfo *info : first)
        names.push_back(ibdev_of(info));
    {
        const DevinfoList second;
        ASSERT_EQ(second.size(), first.size());
        for (std::size_t i = 0; i < first.size(); ++i) {
            EXPECT_NE(second[i], first[i]);
            EXPECT_EQ(ibdev_of(second[i]), names[i]);
        }
    }
    for (std::size_t i = 0; i < first.size(); ++i) // the second list's end did the first one no harm
        EXPECT_EQ(ibdev_of(first[i]), names[i]);
}

// Opening and closing

class DevTest : public DeviceTest {};
INSTANTIATE_FOR_EVERY_DEVICE(DevTest, exists);

TEST_P(DevTest, open_refuses_null)
{
    doca_dev *out = untouched<doca_dev>();
    EXPECT_EQ(doca_dev_open(nullptr, &out), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dev_open(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(out, untouched<doca_dev>());
}

TEST_P(DevTest, close_refuses_null)
{
    EXPECT_EQ(doca_dev_close(nullptr), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(DevTest, null_has_no_devinfo)
{
    EXPECT_EQ(doca_dev_as_devinfo(nullptr), nullptr);
}

TEST_P(DevTest, opened_again_it_is_the_same_instance)
{
    {
        const DevHandle again = open_device(GetParam()); // from another list
        EXPECT_EQ(again.get(), dev.get());
    }
    // One close of two: still open, with its devinfo.
    EXPECT_EQ(doca_dev_as_devinfo(dev), info);
    EXPECT_EQ(ibdev_of(info), GetParam().ibdev);
    MmapHandle mmap;
    must(doca_mmap_create(nullptr, mmap.out()));
    EXPECT_EQ(doca_mmap_dev_add(mmap, dev), DOCA_SUCCESS);
}

TEST_P(DevTest, opens_from_the_devinfo_of_the_open_device)
{
    DevHandle again;
    EXPECT_EQ(doca_dev_open(info, again.out()), DOCA_SUCCESS);
    EXPECT_EQ(again.get(), dev.get());
}

TEST_P(DevTest, opens_anew_after_the_last_close)
{
    dev.reset();
    dev = open_device(GetParam());
    info = doca_dev_as_devinfo(dev);
    ASSERT_NE(info, nullptr);
    EXPECT_EQ(ibdev_of(info), GetParam().ibdev);
}

TEST_P(DevTest, devinfo_outlives_the_list)
{
    // open_device() has destroyed its list.
    EXPECT_EQ(ibdev_of(info), GetParam().ibdev);
    EXPECT_EQ(pci_of(info), GetParam().pci);
}

TEST_P(DevTest, last_close_waits_for_memory_maps)
{
    MmapHandle mmap;
    must(doca_mmap_create(nullptr, mmap.out()));
    must(doca_mmap_dev_add(mmap, dev));
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
    EXPECT_EQ(ibdev_of(info), GetParam().ibdev); // it stays open
    EXPECT_EQ(doca_mmap_dev_rm(mmap, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(dev.release()), DOCA_SUCCESS);
}

TEST_P(DevTest, last_close_waits_for_the_destruction_of_memory_maps)
{
    MmapHandle mmap;
    must(doca_mmap_create(nullptr, mmap.out()));
    must(doca_mmap_dev_add(mmap, dev));
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
    mmap.reset();
    EXPECT_EQ(doca_dev_close(dev.release()), DOCA_SUCCESS);
}

TEST_P(DevTest, only_the_last_close_is_refused)
{
    MmapHandle mmap;
    must(doca_mmap_create(nullptr, mmap.out()));
    must(doca_mmap_dev_add(mmap, dev));
    DevHandle again = open_device(GetParam());
    EXPECT_EQ(doca_dev_close(again.release()), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
}

class DmaDevTest : public DeviceTest {};
INSTANTIATE_FOR_DEVICES(DmaDevTest, can_copy);

TEST_P(DmaDevTest, last_close_waits_for_contexts)
{
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    doca_ctx *const ctx = doca_dma_as_ctx(dma);
    must(doca_ctx_dev_add(ctx, dev));
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
    must(doca_ctx_start(ctx));
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
    must(doca_ctx_stop(ctx));
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_ctx_dev_rm(ctx, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(dev.release()), DOCA_SUCCESS);
}

TEST_P(DmaDevTest, last_close_waits_for_the_destruction_of_contexts)
{
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    must(doca_ctx_dev_add(doca_dma_as_ctx(dma), dev));
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
    dma.reset();
    EXPECT_EQ(doca_dev_close(dev.release()), DOCA_SUCCESS);
}

/// Opens every device of a topology of DPU ports named @p prefix and a number.
static doca_error_t open_all(const std::string &prefix, int count, std::vector<DevHandle> &opened)
{
    const std::string path = temporary_directory() + "/opendoca-" + prefix + std::to_string(getpid()) + ".json";
    {
        std::ofstream file(path);
        file << R"({"functions": [)";
        for (int i = 0; i < count; ++i) {
            char address[] = "00:00.0";
            std::snprintf(address, sizeof(address), "%02x:%02x.%x", (i >> 8) & 0xff, (i >> 3) & 0x1f, i & 7);
            file << (i == 0 ? "" : ",") << R"({"name": ")" << prefix << i
                 << R"(", "side": "dpu", "type": "pf", "pci": ")" << address << "\"}";
        }
        file << "]}";
    }
    const Environment soft("DOCA_SOFT", "1");
    const Environment topology("DOCA_SOFT_TOPOLOGY", path.c_str());
    const DevinfoList list;
    unlink(path.c_str());
    for (doca_devinfo *info : list) {
        if (!is_soft(info))
            continue;
        DevHandle dev;
        if (const doca_error_t status = doca_dev_open(info, dev.out()); status != DOCA_SUCCESS)
            return status;
        opened.push_back(std::move(dev));
    }
    return DOCA_SUCCESS;
}

TEST(DevLimit, at_most_256_devices_are_open)
{
    std::vector<DevHandle> opened;
    ASSERT_EQ(open_all("first", 200, opened), DOCA_SUCCESS);
    ASSERT_EQ(opened.size(), 200u);
    const LogCapture log;
    EXPECT_EQ(open_all("second", 57, opened), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(opened.size(), 256u);
    EXPECT_LOGGED(log, "256");
    // What is open can still be opened, and a closed one makes room.
    {
        DevHandle again;
        EXPECT_EQ(doca_dev_open(doca_dev_as_devinfo(opened[0]), again.out()), DOCA_SUCCESS);
    }
    opened.pop_back();
    EXPECT_EQ(open_all("third", 1, opened), DOCA_SUCCESS);
}

// Properties

TEST_P(DevTest, pci_address_refuses_null)
{
    char address[DOCA_DEVINFO_PCI_ADDR_SIZE];
    EXPECT_EQ(doca_devinfo_get_pci_addr_str(nullptr, address), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_get_pci_addr_str(info, nullptr), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(DevTest, pci_address_has_the_long_form)
{
    char address[DOCA_DEVINFO_PCI_ADDR_SIZE + 1];
    std::memset(address, 'X', sizeof(address));
    const doca_error_t status = doca_devinfo_get_pci_addr_str(info, address);
    if (status == DOCA_ERROR_OPERATING_SYSTEM)
        GTEST_SKIP() << "the device is on no PCI bus";
    ASSERT_EQ(status, DOCA_SUCCESS);
    ASSERT_EQ(strnlen(address, sizeof(address)), 12u);
    EXPECT_EQ(address[13], 'X'); // 13 bytes are written at most
    for (std::size_t i = 0; i < 12; ++i) {
        const char expected = i == 4 || i == 7 ? ':' : i == 10 ? '.' : '0';
        const bool is_digit = std::isxdigit(static_cast<unsigned char>(address[i])) != 0;
        EXPECT_EQ(is_digit ? '0' : address[i], expected) << address;
    }
}

TEST_P(DevTest, pci_address_equals_itself_in_both_forms)
{
    const std::string own = GetParam().pci;
    if (own.empty())
        GTEST_SKIP() << "the device is on no PCI bus";
    std::string upper = own;
    for (char &c : upper)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    std::string other_function = own;
    other_function.back() = own.back() == '7' ? '6' : '7';
    std::string other_domain = own;
    other_domain[3] = own[3] == '9' ? '8' : '9';

    const auto compare = [&](const std::string &text) {
        std::uint8_t is_equal = 99;
        EXPECT_EQ(doca_devinfo_get_is_pci_addr_equal(info, text.c_str(), &is_equal), DOCA_SUCCESS) << text;
        return is_equal;
    };
    EXPECT_EQ(compare(own), 1);
    EXPECT_EQ(compare(upper), 1);
    EXPECT_EQ(compare(other_function), 0);
    EXPECT_EQ(compare(other_function.substr(5)), 0);
    EXPECT_EQ(compare(other_domain), 0);
    if (own.starts_with("0000:")) {
        EXPECT_EQ(compare(own.substr(5)), 1);
    }
}

/// What is no PCI address in either form.
static const char *const bad_pci_addresses[] = {
    "",
    "0",
    "3:00.0",
    "03:00",
    "03:00.",
    "03:00.8",
    "03:20.0",
    "03:00.0 ",
    " 03:00.0",
    "03-00.0",
    "03:00:0",
    "0g:00.0",
    "03:0g.0",
    ":03:00.0",
    "000:03:00.0",
    "00000:03:00.0",
    "0000:03:00.0 ",
    "0000-03:00.0",
    "0000:03:00.9",
    "0000:03:00.00",
    "soft_p0",
};

TEST_P(DevTest, pci_comparison_refuses_what_is_no_address)
{
    std::uint8_t is_equal = 99;
    for (const char *text : bad_pci_addresses)
        EXPECT_EQ(doca_devinfo_get_is_pci_addr_equal(info, text, &is_equal), DOCA_ERROR_INVALID_VALUE) << text;
    const std::string long_text(5000, 'f');
    EXPECT_EQ(doca_devinfo_get_is_pci_addr_equal(info, long_text.c_str(), &is_equal), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_get_is_pci_addr_equal(nullptr, "03:00.0", &is_equal), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_get_is_pci_addr_equal(info, nullptr, &is_equal), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(is_equal, 99);
    EXPECT_EQ(doca_devinfo_get_is_pci_addr_equal(info, "03:00.0", nullptr), DOCA_ERROR_INVALID_VALUE);
}

/// The getters that take a buffer and its size: @p needed bytes, which is also what an address has.
template <typename T, typename Getter>
static void check_sized_getter(Getter get, const doca_devinfo *info, std::uint32_t needed, doca_error_t if_none)
{
    std::vector<T> out(needed + 16, static_cast<T>(0x5a));
    const auto is_untouched = [&] { return std::vector<T>(out.size(), static_cast<T>(0x5a)) == out; };
    EXPECT_EQ(get(nullptr, out.data(), needed), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(get(info, nullptr, needed), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(get(info, out.data(), needed - 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(get(info, out.data(), 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(is_untouched());

    const doca_error_t status = get(info, out.data(), needed);
    if (status == if_none) {
        EXPECT_TRUE(is_untouched());
        return;
    }
    ASSERT_EQ(status, DOCA_SUCCESS);
    for (std::size_t i = needed; i < out.size(); ++i)
        ASSERT_EQ(out[i], static_cast<T>(0x5a)) << "byte " << i << " was written";
    std::vector<T> larger(needed + 16, static_cast<T>(0x33));
    ASSERT_EQ(get(info, larger.data(), needed + 16), DOCA_SUCCESS);
    // Programs have given sizes that their buffers do not have.
    EXPECT_EQ(std::vector<T>(larger.begin() + needed, larger.end()), std::vector<T>(16, static_cast<T>(0x33)));
    if constexpr (std::is_same_v<T, char>) {
        EXPECT_LT(strnlen(out.data(), needed), needed); // terminated
        EXPECT_STREQ(larger.data(), out.data());
    } else {
        EXPECT_EQ(std::memcmp(larger.data(), out.data(), needed), 0);
    }
}

TEST_P(DevTest, ipv4_address)
{
    check_sized_getter<std::uint8_t>(doca_devinfo_get_ipv4_addr, info, DOCA_DEVINFO_IPV4_ADDR_SIZE,
                                     DOCA_ERROR_OPERATING_SYSTEM);
}

TEST_P(DevTest, ipv6_address)
{
    check_sized_getter<std::uint8_t>(doca_devinfo_get_ipv6_addr, info, DOCA_DEVINFO_IPV6_ADDR_SIZE,
                                     DOCA_ERROR_OPERATING_SYSTEM);
}

TEST_P(DevTest, mac_address)
{
    check_sized_getter<std::uint8_t>(doca_devinfo_get_mac_addr, info, DOCA_DEVINFO_MAC_ADDR_SIZE,
                                     DOCA_ERROR_NOT_SUPPORTED);
}

TEST_P(DevTest, interface_name)
{
    check_sized_getter<char>(doca_devinfo_get_iface_name, info, DOCA_DEVINFO_IFACE_NAME_SIZE,
                             DOCA_ERROR_OPERATING_SYSTEM);
}

TEST_P(DevTest, ibdev_name)
{
    check_sized_getter<char>(doca_devinfo_get_ibdev_name, info, DOCA_DEVINFO_IBDEV_NAME_SIZE, DOCA_ERROR_UNKNOWN);
}

TEST_P(DevTest, lid_exists_on_infiniband_only)
{
    std::uint16_t lid = 0x5a5a;
    std::uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE];
    EXPECT_EQ(doca_devinfo_get_lid(nullptr, &lid), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_get_lid(info, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(lid, 0x5a5a);
    const doca_error_t status = doca_devinfo_get_lid(info, &lid);
    if (doca_devinfo_get_mac_addr(info, mac, sizeof(mac)) == DOCA_SUCCESS) {
        EXPECT_EQ(status, DOCA_ERROR_NOT_SUPPORTED);
    }
    // An Ethernet port whose interface is not there has neither.
    EXPECT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(lid == 0x5a5a, status != DOCA_SUCCESS);
}

TEST_P(DevTest, capabilities_are_yes_or_no)
{
    using Getter = doca_error_t (*)(const doca_devinfo *, std::uint8_t *);
    const Getter getters[] = {
        doca_devinfo_get_is_hotplug_manager_supported,      doca_devinfo_get_is_mmap_export_dpu_supported,
        doca_devinfo_get_is_mmap_from_export_dpu_supported, doca_devinfo_rep_get_is_list_all_supported,
        doca_devinfo_rep_get_is_list_net_supported,         doca_devinfo_rep_get_is_list_emulated_supported,
    };
    for (const Getter get : getters) {
        std::uint8_t answer = 99;
        EXPECT_EQ(get(nullptr, &answer), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(get(info, nullptr), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(answer, 99);
        EXPECT_EQ(get(info, &answer), DOCA_SUCCESS);
        EXPECT_LE(answer, 1);
    }
}

TEST_P(DevTest, export_is_refused_where_the_capability_says_so)
{
    if (can_export(info))
        GTEST_SKIP() << "the device can export";
    std::vector<std::byte> memory(4096);
    const LocalMap map(dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE);
    const void *descriptor = untouched<void>();
    std::size_t size = 77;
    EXPECT_EQ(doca_mmap_export_dpu(map, dev, &descriptor, &size), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(descriptor, untouched<void>());
    EXPECT_EQ(size, 77u);
}
