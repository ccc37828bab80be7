// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Representors: lists, opening and closing, properties.
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "support/device.hpp"

using namespace doca_test;

namespace {

constexpr int all_filters[] = {DOCA_DEV_REP_FILTER_ALL, DOCA_DEV_REP_FILTER_NET, DOCA_DEV_REP_FILTER_EMULATED,
                               DOCA_DEV_REP_FILTER_NET | DOCA_DEV_REP_FILTER_EMULATED};

bool has_no_representors(doca_devinfo *info)
{
    return !has_representors(info);
}

std::set<std::string> addresses_of(const RepList &list)
{
    std::set<std::string> addresses;
    for (doca_devinfo_rep *rep : list)
        addresses.insert(pci_of(rep));
    return addresses;
}

} // namespace

class RepTest : public DeviceTest {
protected:
    void expect_no_list(int filter, doca_error_t status)
    {
        doca_devinfo_rep **list = untouched<doca_devinfo_rep *>();
        std::uint32_t count = 77;
        EXPECT_EQ(doca_devinfo_rep_list_create(dev, filter, &list, &count), status) << filter;
        EXPECT_EQ(list, untouched<doca_devinfo_rep *>());
        EXPECT_EQ(count, 77u);
    }
    [[nodiscard]] bool says(doca_error_t (*query)(const doca_devinfo *, std::uint8_t *)) const
    {
        std::uint8_t answer = 0;
        must(query(info, &answer));
        return answer == 1;
    }
};
INSTANTIATE_FOR_EVERY_DEVICE(RepTest, has_representors);

class NoRepTest : public RepTest {};
INSTANTIATE_FOR_DEVICES(NoRepTest, has_no_representors);

TEST_P(RepTest, list_refuses_null)
{
    doca_devinfo_rep **list = untouched<doca_devinfo_rep *>();
    std::uint32_t count = 77;
    EXPECT_EQ(doca_devinfo_rep_list_create(nullptr, DOCA_DEV_REP_FILTER_ALL, &list, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_ALL, nullptr, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_ALL, &list, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(list, untouched<doca_devinfo_rep *>());
    EXPECT_EQ(count, 77u);
}

TEST_P(RepTest, list_refuses_undefined_filters)
{
    for (const int filter : {1, 8, 3, 6 | 8, 1 << 30, -1, -2})
        expect_no_list(filter, DOCA_ERROR_INVALID_VALUE);
}

TEST_P(RepTest, list_is_made_by_what_the_capabilities_say)
{
    const bool net = says(doca_devinfo_rep_get_is_list_net_supported);
    const bool emulated = says(doca_devinfo_rep_get_is_list_emulated_supported);
    EXPECT_EQ(net || emulated, says(doca_devinfo_rep_get_is_list_all_supported));
    for (const int filter : all_filters) {
        const bool has_net = (filter & DOCA_DEV_REP_FILTER_NET) != 0;
        const bool has_emulated = (filter & DOCA_DEV_REP_FILTER_EMULATED) != 0;
        if ((has_net && !net) || (has_emulated && !emulated))
            expect_no_list(filter, DOCA_ERROR_NOT_SUPPORTED);
        else
            const RepList list(dev, filter); // throws when there is none
    }
}

TEST_P(RepTest, filter_all_holds_what_the_others_do)
{
    std::set<std::string> parts;
    if (says(doca_devinfo_rep_get_is_list_net_supported))
        parts.merge(addresses_of(RepList(dev, DOCA_DEV_REP_FILTER_NET)));
    if (says(doca_devinfo_rep_get_is_list_emulated_supported))
        parts.merge(addresses_of(RepList(dev, DOCA_DEV_REP_FILTER_EMULATED)));
    EXPECT_EQ(addresses_of(RepList(dev, DOCA_DEV_REP_FILTER_ALL)), parts);
}

TEST_P(RepTest, list_destroy_refuses_what_is_not_a_list)
{
    doca_devinfo_rep *own[] = {nullptr, nullptr};
    EXPECT_EQ(doca_devinfo_rep_list_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_rep_list_destroy(own), DOCA_ERROR_INVALID_VALUE);
    doca_devinfo_rep **list = nullptr;
    std::uint32_t count = 0;
    must(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_ALL, &list, &count));
    EXPECT_EQ(doca_devinfo_list_destroy(reinterpret_cast<doca_devinfo **>(list)), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_devinfo_rep_list_destroy(list), DOCA_SUCCESS);
    EXPECT_EQ(doca_devinfo_rep_list_destroy(list), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(RepTest, open_and_close_refuse_null)
{
    const RepList list(dev);
    ASSERT_GT(list.size(), 0u);
    doca_dev_rep *rep = untouched<doca_dev_rep>();
    EXPECT_EQ(doca_dev_rep_open(nullptr, &rep), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dev_rep_open(list[0], nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(rep, untouched<doca_dev_rep>());
    EXPECT_EQ(doca_dev_rep_close(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_dev_rep_as_devinfo(nullptr), nullptr);
}

TEST_P(RepTest, opened_it_outlives_the_list)
{
    RepHandle rep;
    std::string address;
    {
        const RepList list(dev);
        ASSERT_GT(list.size(), 0u);
        address = pci_of(list[0]);
        ASSERT_EQ(doca_dev_rep_open(list[0], rep.out()), DOCA_SUCCESS);
    }
    doca_devinfo_rep *const of_open = doca_dev_rep_as_devinfo(rep);
    ASSERT_NE(of_open, nullptr);
    EXPECT_EQ(pci_of(of_open), address);
}

TEST_P(RepTest, every_one_opens)
{
    const RepList list(dev);
    std::vector<RepHandle> opened(list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
        EXPECT_EQ(doca_dev_rep_open(list[i], opened[i].out()), DOCA_SUCCESS);
    for (std::size_t i = 0; i < list.size(); ++i)
        EXPECT_EQ(pci_of(doca_dev_rep_as_devinfo(opened[i])), pci_of(list[i]));
}

TEST_P(RepTest, device_cannot_be_closed_under_an_open_one)
{
    RepHandle rep;
    {
        const RepList list(dev);
        ASSERT_GT(list.size(), 0u);
        must(doca_dev_rep_open(list[0], rep.out()));
    }
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
    EXPECT_NE(pci_of(doca_dev_rep_as_devinfo(rep)), "");
    EXPECT_EQ(doca_dev_rep_close(rep.release()), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(dev.release()), DOCA_SUCCESS);
}

TEST_P(RepTest, list_outlives_its_device)
{
    const RepList list(dev);
    ASSERT_GT(list.size(), 0u);
    const std::string address = pci_of(list[0]);
    must(doca_dev_close(dev.release()));
    RepHandle rep;
    EXPECT_EQ(doca_dev_rep_open(list[0], rep.out()), DOCA_SUCCESS);
    EXPECT_EQ(pci_of(doca_dev_rep_as_devinfo(rep)), address);
    EXPECT_EQ(doca_dev_rep_close(rep.release()), DOCA_SUCCESS);
    dev = open_device(GetParam());
    EXPECT_EQ(addresses_of(RepList(dev)), addresses_of(list));
}

TEST_P(RepTest, vuid)
{
    const RepList list(dev);
    std::set<std::string> vuids;
    for (doca_devinfo_rep *rep : list) {
        char vuid[DOCA_DEVINFO_REP_VUID_SIZE + 1];
        std::memset(vuid, 'X', sizeof(vuid));
        EXPECT_EQ(doca_devinfo_rep_get_vuid(nullptr, vuid, DOCA_DEVINFO_REP_VUID_SIZE), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_get_vuid(rep, nullptr, DOCA_DEVINFO_REP_VUID_SIZE), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_get_vuid(rep, vuid, DOCA_DEVINFO_REP_VUID_SIZE - 1), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_get_vuid(rep, vuid, 0), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(std::string(vuid, sizeof(vuid)), std::string(sizeof(vuid), 'X'));
        ASSERT_EQ(doca_devinfo_rep_get_vuid(rep, vuid, DOCA_DEVINFO_REP_VUID_SIZE), DOCA_SUCCESS);
        EXPECT_EQ(vuid[DOCA_DEVINFO_REP_VUID_SIZE], 'X');
        ASSERT_EQ(doca_devinfo_rep_get_vuid(rep, vuid, 1 << 20), DOCA_SUCCESS);
        EXPECT_EQ(vuid[DOCA_DEVINFO_REP_VUID_SIZE], 'X') << "a size that is not the buffer's";
        ASSERT_LT(strnlen(vuid, sizeof(vuid)), std::size_t{DOCA_DEVINFO_REP_VUID_SIZE});
        vuids.insert(vuid);
    }
    EXPECT_EQ(vuids.size(), list.size()); // each has its own
}

TEST_P(RepTest, pci_address)
{
    const RepList list(dev);
    for (doca_devinfo_rep *rep : list) {
        char address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE + 1];
        std::memset(address, 'X', sizeof(address));
        EXPECT_EQ(doca_devinfo_rep_get_pci_addr_str(nullptr, address), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_get_pci_addr_str(rep, nullptr), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(address[0], 'X');
        const doca_error_t status = doca_devinfo_rep_get_pci_addr_str(rep, address);
        if (status == DOCA_ERROR_NOT_SUPPORTED && !is_soft(info))
            continue; // the card does not tell where a VF of the host is
        ASSERT_EQ(status, DOCA_SUCCESS);
        EXPECT_EQ(address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE], 'X');

        std::uint8_t is_equal = 99;
        EXPECT_EQ(doca_devinfo_rep_get_is_pci_addr_equal(nullptr, address, &is_equal), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_get_is_pci_addr_equal(rep, nullptr, &is_equal), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_get_is_pci_addr_equal(rep, address, nullptr), DOCA_ERROR_INVALID_VALUE);
        for (const char *bad : {"", "03:00", "3:00.0", "03:00.8", "0000:03:00.0 ", "nonsense"})
            EXPECT_EQ(doca_devinfo_rep_get_is_pci_addr_equal(rep, bad, &is_equal), DOCA_ERROR_INVALID_VALUE) << bad;
        EXPECT_EQ(is_equal, 99);
        EXPECT_EQ(doca_devinfo_rep_get_is_pci_addr_equal(rep, address, &is_equal), DOCA_SUCCESS);
        EXPECT_EQ(is_equal, 1);
        if (std::string(address).starts_with("0000:")) {
            EXPECT_EQ(doca_devinfo_rep_get_is_pci_addr_equal(rep, address + 5, &is_equal), DOCA_SUCCESS);
            EXPECT_EQ(is_equal, 1);
        }
        char &function = address[std::strlen(address) - 1];
        function = function == '7' ? '6' : '7';
        EXPECT_EQ(doca_devinfo_rep_get_is_pci_addr_equal(rep, address, &is_equal), DOCA_SUCCESS);
        EXPECT_EQ(is_equal, 0);
    }
}

TEST_P(RepTest, function_type)
{
    const RepList list(dev);
    for (doca_devinfo_rep *rep : list) {
        doca_pci_func_type type = DOCA_PCI_FUNC_PF;
        EXPECT_EQ(doca_devinfo_rep_get_pci_func_type(nullptr, &type), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(doca_devinfo_rep_get_pci_func_type(rep, nullptr), DOCA_ERROR_INVALID_VALUE);
        ASSERT_EQ(doca_devinfo_rep_get_pci_func_type(rep, &type), DOCA_SUCCESS);
        EXPECT_LE(type, DOCA_PCI_FUNC_SF);
    }
}

TEST_P(NoRepTest, has_no_list_by_any_filter)
{
    EXPECT_FALSE(says(doca_devinfo_rep_get_is_list_net_supported));
    EXPECT_FALSE(says(doca_devinfo_rep_get_is_list_emulated_supported));
    for (const int filter : all_filters)
        expect_no_list(filter, DOCA_ERROR_NOT_SUPPORTED);
}
