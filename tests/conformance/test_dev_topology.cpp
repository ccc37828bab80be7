// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The software device's functions: the default topology as docs/software-device.md has it, the sides of the
// PCIe, topology files, and when software devices are listed at all.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/environment.hpp"
#include "support/log_capture.hpp"
#include "support/topology_file.hpp"

using namespace doca_test;

namespace {

/// The function's ibdev name and PCI address, in listing order.
using Listing = std::vector<std::pair<std::string, std::string>>;

Listing soft_devices()
{
    Listing listing;
    for (const DeviceParam &device : devices_that(is_soft))
        listing.emplace_back(device.ibdev, device.pci);
    return listing;
}

Listing sorted(Listing listing)
{
    std::ranges::sort(listing);
    return listing;
}

const Listing dpu_side = {{"soft_p0", "0000:03:00.0"},
                          {"soft_p0s0", "0000:03:00.0"},
                          {"soft_p1", "0000:03:00.1"},
                          {"soft_p1s0", "0000:03:00.1"}};
const Listing host_side = {{"soft_pf0", "0000:0b:00.0"},
                           {"soft_pf0vf0", "0000:0b:00.2"},
                           {"soft_pf0vf1", "0000:0b:00.3"},
                           {"soft_pf1", "0000:0b:00.1"},
                           {"soft_pf1vf0", "0000:0b:00.4"}};

Listing both_sides()
{
    Listing all = dpu_side;
    all.insert(all.end(), host_side.begin(), host_side.end());
    return all;
}

/// What the list of devices answers, when it is not to be made.
doca_error_t refusal_of_list()
{
    doca_devinfo **list = untouched<doca_devinfo *>();
    std::uint32_t count = 77;
    const doca_error_t status = doca_devinfo_list_create(&list, &count);
    if (status == DOCA_SUCCESS) {
        must(doca_devinfo_list_destroy(list));
        return status;
    }
    EXPECT_EQ(list, untouched<doca_devinfo *>());
    EXPECT_EQ(count, 77u);
    return status;
}

std::uint8_t ask(const doca_devinfo *info, doca_error_t (*query)(const doca_devinfo *, std::uint8_t *))
{
    std::uint8_t answer = 99;
    must(query(info, &answer));
    return answer;
}

} // namespace

class TopologyTest : public testing::Test {
protected:
    // Whatever surrounds the test: the default topology, both sides.
    const Environment soft{"DOCA_SOFT", "1"};
    const Environment role{"DOCA_SOFT_ROLE", nullptr};
    const Environment topology{"DOCA_SOFT_TOPOLOGY", nullptr};
};

TEST_F(TopologyTest, default_has_the_functions_of_the_guide)
{
    EXPECT_EQ(sorted(soft_devices()), sorted(both_sides()));
}

TEST_F(TopologyTest, default_lists_an_sf_after_the_port_whose_address_it_has)
{
    const Listing listing = soft_devices();
    for (const char *address : {"0000:03:00.0", "0000:03:00.1"}) {
        const auto first = std::ranges::find(listing, address, &Listing::value_type::second);
        ASSERT_NE(first, listing.end());
        EXPECT_FALSE(first->first.ends_with("s0")) << first->first;
    }
}

TEST_F(TopologyTest, default_capabilities)
{
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (!is_soft(info))
            continue;
        const std::string name = ibdev_of(info);
        SCOPED_TRACE(name);
        const bool is_port = name == "soft_p0" || name == "soft_p1";
        const bool is_host = name.starts_with("soft_pf");
        EXPECT_EQ(ask(info, doca_devinfo_get_is_mmap_export_dpu_supported), is_host || is_port);
        EXPECT_EQ(ask(info, doca_devinfo_get_is_mmap_from_export_dpu_supported), is_host || is_port);
        EXPECT_EQ(ask(info, doca_devinfo_rep_get_is_list_all_supported), is_port);
        EXPECT_EQ(ask(info, doca_devinfo_rep_get_is_list_net_supported), is_port);
        EXPECT_EQ(ask(info, doca_devinfo_rep_get_is_list_emulated_supported), 0);
        EXPECT_EQ(ask(info, doca_devinfo_get_is_hotplug_manager_supported), 0);
        EXPECT_TRUE(can_copy(info));
        std::uint32_t elements = 0;
        std::uint64_t bytes = 0;
        EXPECT_EQ(doca_dma_get_max_list_buf_num_elem(info, &elements), DOCA_SUCCESS);
        EXPECT_EQ(doca_dma_get_max_buf_size(info, &bytes), DOCA_SUCCESS);
        EXPECT_EQ(elements, 1024u);
        EXPECT_EQ(bytes, std::uint64_t{2} << 30);
    }
}

TEST_F(TopologyTest, default_addresses_and_names_are_unique)
{
    std::set<std::string> interfaces, macs, ipv4s, ipv6s;
    const DevinfoList list;
    std::size_t count = 0;
    for (doca_devinfo *info : list) {
        if (!is_soft(info))
            continue;
        ++count;
        char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
        std::uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE], ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE],
            ipv6[DOCA_DEVINFO_IPV6_ADDR_SIZE];
        ASSERT_EQ(doca_devinfo_get_iface_name(info, iface, sizeof(iface)), DOCA_SUCCESS);
        ASSERT_EQ(doca_devinfo_get_mac_addr(info, mac, sizeof(mac)), DOCA_SUCCESS);
        ASSERT_EQ(doca_devinfo_get_ipv4_addr(info, ipv4, sizeof(ipv4)), DOCA_SUCCESS);
        ASSERT_EQ(doca_devinfo_get_ipv6_addr(info, ipv6, sizeof(ipv6)), DOCA_SUCCESS);
        EXPECT_EQ("soft_" + std::string(iface), ibdev_of(info));
        EXPECT_EQ(mac[0] & 3, 2); // locally administered, one receiver
        interfaces.insert(iface);
        macs.emplace(std::begin(mac), std::end(mac));
        ipv4s.emplace(std::begin(ipv4), std::end(ipv4));
        ipv6s.emplace(std::begin(ipv6), std::end(ipv6));
    }
    EXPECT_EQ(count, 9u);
    EXPECT_EQ(interfaces.size(), count);
    EXPECT_EQ(macs.size(), count);
    EXPECT_EQ(ipv4s.size(), count);
    EXPECT_EQ(ipv6s.size(), count);
}

/// Address and type of each representor.
static std::map<std::string, doca_pci_func_type> representors_of(const std::string &ibdev)
{
    const DevHandle dev = open_device(ibdev);
    const RepList list(dev);
    std::map<std::string, doca_pci_func_type> result;
    for (doca_devinfo_rep *rep : list) {
        doca_pci_func_type type = DOCA_PCI_FUNC_PF;
        must(doca_devinfo_rep_get_pci_func_type(rep, &type));
        result[pci_of(rep)] = type;
    }
    EXPECT_EQ(result.size(), list.size());
    return result;
}

TEST_F(TopologyTest, default_representors)
{
    using Reps = std::map<std::string, doca_pci_func_type>;
    EXPECT_EQ(representors_of("soft_p0"), (Reps{{"0000:0b:00.0", DOCA_PCI_FUNC_PF},
                                                {"0000:0b:00.2", DOCA_PCI_FUNC_VF},
                                                {"0000:0b:00.3", DOCA_PCI_FUNC_VF},
                                                {"0000:03:00.0", DOCA_PCI_FUNC_SF}}));
    EXPECT_EQ(representors_of("soft_p1"), (Reps{{"0000:0b:00.1", DOCA_PCI_FUNC_PF},
                                                {"0000:0b:00.4", DOCA_PCI_FUNC_VF},
                                                {"0000:03:00.1", DOCA_PCI_FUNC_SF}}));
}

// The sides of the PCIe

TEST_F(TopologyTest, role_shows_one_side)
{
    {
        const Environment host("DOCA_SOFT_ROLE", "host");
        EXPECT_EQ(sorted(soft_devices()), sorted(host_side));
    }
    {
        const Environment dpu("DOCA_SOFT_ROLE", "dpu");
        EXPECT_EQ(sorted(soft_devices()), sorted(dpu_side));
        EXPECT_EQ(representors_of("soft_p0").size(), 4u); // the host's functions are still behind the ports
        EXPECT_EQ(representors_of("soft_p1").size(), 3u);
    }
    {
        const Environment all("DOCA_SOFT_ROLE", "all");
        EXPECT_EQ(sorted(soft_devices()), sorted(both_sides()));
    }
}

TEST_F(TopologyTest, role_that_does_not_exist_is_an_error)
{
    for (const char *name : {"both", "HOST", "dpu ", "1"}) {
        const Environment junk("DOCA_SOFT_ROLE", name);
        const LogCapture log;
        EXPECT_EQ(refusal_of_list(), DOCA_ERROR_INVALID_VALUE) << name;
        EXPECT_LOGGED(log, "DOCA_SOFT_ROLE");
        EXPECT_LOGGED(log, name);
    }
}

// Whether software devices are listed

TEST_F(TopologyTest, soft_0_lists_none)
{
    const Environment none("DOCA_SOFT", "0");
    const LogCapture log;
    const doca_error_t status = refusal_of_list();
    if (status == DOCA_SUCCESS) { // there is a real device
        EXPECT_EQ(soft_devices(), Listing{});
        return;
    }
    EXPECT_EQ(status, DOCA_ERROR_NOT_FOUND);
    EXPECT_LOGGED(log, "DOCA_SOFT");
}

TEST_F(TopologyTest, soft_1_lists_them_after_real_ones)
{
    bool seen_soft = false;
    for (const DeviceParam &device : devices_that(exists)) {
        EXPECT_FALSE(seen_soft && !device.is_soft()) << device << " stands after a software device";
        seen_soft = device.is_soft();
    }
    EXPECT_TRUE(seen_soft);
}

TEST_F(TopologyTest, soft_unset_lists_them_only_where_nothing_else_is)
{
    const std::size_t real = devices_that(exists).size() - soft_devices().size();
    const Environment unset("DOCA_SOFT", nullptr);
    EXPECT_EQ(soft_devices().size(), real == 0 ? both_sides().size() : 0);
}

TEST_F(TopologyTest, soft_junk_is_an_error)
{
    for (const char *value : {"2", "yes", "on", " 1", "01", "-1"}) {
        const Environment junk("DOCA_SOFT", value);
        const LogCapture log;
        EXPECT_EQ(refusal_of_list(), DOCA_ERROR_INVALID_VALUE) << value;
        EXPECT_LOGGED(log, std::string("DOCA_SOFT is '") + value + "'");
    }
}

// Topology files

TEST_F(TopologyTest, file_of_the_documentation_puts_the_host_elsewhere)
{
    const TopologyFile file(R"({"functions": [
        {"name": "p0",  "side": "dpu",  "type": "pf", "pci": "03:00.0"},
        {"name": "pf0", "side": "host", "type": "pf", "pci": "17:00.0", "parent": "p0", "also": ["af:00.0", "ca:00.0"]}
    ]})");
    const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    EXPECT_EQ(soft_devices(), (Listing{{"soft_p0", "0000:03:00.0"}, {"soft_pf0", "0000:17:00.0"}}));
    EXPECT_EQ(representors_of("soft_p0"),
              (std::map<std::string, doca_pci_func_type>{{"0000:17:00.0", DOCA_PCI_FUNC_PF}}));
}

/// A port of the DPU and a function of the host behind it, on a card in @p mode.
static std::string in_mode(const std::string &mode)
{
    return R"({"mode": ")" + mode + R"(", "functions": [
        {"name": "p0",  "side": "dpu",  "type": "pf", "pci": "03:00.0"},
        {"name": "p0s0", "side": "dpu", "type": "sf", "parent": "p0"},
        {"name": "pf0", "side": "host", "type": "pf", "pci": "17:00.0", "parent": "p0"}
    ]})";
}

TEST_F(TopologyTest, nic_mode_leaves_nothing_on_the_dpu)
{
    const TopologyFile file(in_mode("nic"));
    const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    EXPECT_EQ(soft_devices(), (Listing{{"soft_pf0", "0000:17:00.0"}}));
    {
        const Environment dpu("DOCA_SOFT_ROLE", "dpu");
        const LogCapture log;
        if (const doca_error_t status = refusal_of_list(); status != DOCA_SUCCESS) {
            EXPECT_EQ(status, DOCA_ERROR_NOT_FOUND);
            EXPECT_LOGGED(log, "no software device is left");
        } else { // there is a real device
            EXPECT_EQ(soft_devices(), Listing{});
        }
    }
    const DevHandle dev = open_device("soft_pf0");
    doca_devinfo *const info = const_cast<doca_devinfo *>(doca_dev_as_devinfo(dev));
    EXPECT_EQ(ask(info, doca_devinfo_get_is_mmap_export_dpu_supported), 0);
    EXPECT_EQ(ask(info, doca_devinfo_get_is_mmap_from_export_dpu_supported), 0);
    EXPECT_TRUE(can_copy(info));
    // Nobody on the DPU could import it.
    std::vector<std::byte> memory(64);
    const LocalMap map(dev, memory, DOCA_ACCESS_DPU_READ_ONLY);
    const void *descriptor = nullptr;
    std::size_t length = 0;
    const LogCapture log;
    EXPECT_EQ(doca_mmap_export_dpu(map, dev, &descriptor, &length), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "NIC mode");
}

TEST_F(TopologyTest, other_modes_have_both_sides)
{
    for (const char *mode : {"dpu", "restricted"}) {
        const TopologyFile file(in_mode(mode));
        const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
        EXPECT_EQ(soft_devices().size(), 3u) << mode;
        EXPECT_EQ(representors_of("soft_p0").size(), 2u) << mode;
    }
    const TopologyFile file(in_mode("embedded"));
    const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    const LogCapture log;
    EXPECT_EQ(refusal_of_list(), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, R"("mode" must be one of "dpu", "nic", "restricted")");
}

TEST_F(TopologyTest, file_overrides_every_default)
{
    const TopologyFile file(R"({"functions": [
        {"name": "port", "side": "dpu", "type": "pf", "pci": "00ff:1e:1f.7",
         "ibdev": "soft_mine", "iface": "enp3s0", "mac": "02:Aa:00:00:00:ff", "ipv4": "192.0.2.7", "ipv6": "2001:db8::7"},
        {"name": "guest", "side": "host", "type": "vf", "pci": "C4:00.1", "parent": "port",
         "vuid": "MT2333X"},
        {"name": "sub", "side": "dpu", "type": "sf", "parent": "port"}
    ]})");
    const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    EXPECT_EQ(soft_devices(),
              (Listing{{"soft_mine", "00ff:1e:1f.7"}, {"soft_guest", "0000:c4:00.1"}, {"soft_sub", "00ff:1e:1f.7"}}));
    const DevHandle dev = open_device("soft_mine");
    const doca_devinfo *const info = doca_dev_as_devinfo(dev);
    char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];
    std::uint8_t mac[DOCA_DEVINFO_MAC_ADDR_SIZE], ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE], ipv6[DOCA_DEVINFO_IPV6_ADDR_SIZE];
    ASSERT_EQ(doca_devinfo_get_iface_name(info, iface, sizeof(iface)), DOCA_SUCCESS);
    ASSERT_EQ(doca_devinfo_get_mac_addr(info, mac, sizeof(mac)), DOCA_SUCCESS);
    ASSERT_EQ(doca_devinfo_get_ipv4_addr(info, ipv4, sizeof(ipv4)), DOCA_SUCCESS);
    ASSERT_EQ(doca_devinfo_get_ipv6_addr(info, ipv6, sizeof(ipv6)), DOCA_SUCCESS);
    EXPECT_STREQ(iface, "enp3s0");
    EXPECT_EQ(std::vector<int>(std::begin(mac), std::end(mac)), (std::vector<int>{2, 0xaa, 0, 0, 0, 0xff}));
    EXPECT_EQ(std::vector<int>(std::begin(ipv4), std::end(ipv4)), (std::vector<int>{192, 0, 2, 7}));
    EXPECT_EQ(ipv6[0], 0x20);
    EXPECT_EQ(ipv6[1], 0x01);
    EXPECT_EQ(ipv6[15], 7);
    const RepList reps(dev);
    ASSERT_EQ(reps.size(), 2u);
    char vuid[DOCA_DEVINFO_REP_VUID_SIZE];
    for (doca_devinfo_rep *rep : reps) {
        if (pci_of(rep) != "0000:c4:00.1")
            continue;
        ASSERT_EQ(doca_devinfo_rep_get_vuid(rep, vuid, sizeof(vuid)), DOCA_SUCCESS);
        EXPECT_STREQ(vuid, "MT2333X");
    }
}

TEST_F(TopologyTest, devices_of_a_file_copy)
{
    const TopologyFile file(R"({"functions": [{"name": "x", "side": "dpu", "type": "pf", "pci": "01:00.0"}]})");
    const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    const DevHandle dev = open_device("soft_x");
    std::vector<std::byte> memory(512);
    fill(memory, 5);
    const LocalMap map(dev, memory);
    const Inventory inventory(2);
    const DmaEngine engine(dev);
    const BufHandle src = inventory.full(map, &memory[0], 100);
    const BufHandle dst = inventory.empty(map, &memory[300], 100);
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(std::span(memory).subspan(300, 100), 5));
}

/// Ports with the names p0, p1, ..., each with an address of its own.
static std::string ports(int count)
{
    std::string text = R"({"functions": [)";
    for (int i = 0; i < count; ++i) {
        char entry[128];
        std::snprintf(entry, sizeof(entry), R"(%s{"name": "p%d", "side": "dpu", "type": "pf", "pci": "%02x:00.%d"})",
                      i == 0 ? "" : ",", i, i / 8, i % 8);
        text += entry;
    }
    return text + "]}";
}

TEST_F(TopologyTest, file_of_250_functions_is_the_largest)
{
    const TopologyFile largest(ports(250));
    const TopologyFile too_large(ports(251));
    {
        const Environment named("DOCA_SOFT_TOPOLOGY", largest.path().c_str());
        EXPECT_EQ(soft_devices().size(), 250u);
    }
    const Environment named("DOCA_SOFT_TOPOLOGY", too_large.path().c_str());
    const LogCapture log;
    EXPECT_EQ(refusal_of_list(), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "251");
    EXPECT_LOGGED(log, "250");
}

TEST_F(TopologyTest, file_that_cannot_be_read_is_an_error)
{
    const std::string missing = temporary_directory() + "/opendoca-no-such-file.json";
    for (const std::string &path : {missing, temporary_directory()}) {
        const Environment named("DOCA_SOFT_TOPOLOGY", path.c_str());
        const LogCapture log;
        EXPECT_EQ(refusal_of_list(), DOCA_ERROR_OPERATING_SYSTEM);
        EXPECT_LOGGED(log, "DOCA_SOFT_TOPOLOGY");
        EXPECT_LOGGED(log, path);
    }
}

/// A file that is refused, and what the log has to say about it.
struct BadFile {
    const char *name;
    std::string text;
    std::string complaint;
};

static std::ostream &operator<<(std::ostream &stream, const BadFile &file)
{
    return stream << file.name;
}

/// A file whose last function has the members @p members.
static std::string with_function(const std::string &members)
{
    return R"({"functions": [
        {"name": "p0", "side": "dpu", "type": "pf", "pci": "03:00.0"},
        {"name": "h0", "side": "host", "type": "pf", "pci": "0b:00.0", "parent": "p0"},
        {"name": "s0", "side": "dpu", "type": "sf", "parent": "p0"},
        {)" +
           members + "}\n]}";
}

/// The members of a good function, with more of them.
static std::string good(const std::string &more)
{
    return R"("name": "x", "side": "host", "type": "vf", "pci": "0b:00.1", "parent": "p0", )" + more;
}

/// That many addresses, in quotes.
static std::string addresses(int count)
{
    std::string text;
    for (int i = 0; i < count; ++i)
        text += (i == 0 ? "\"" : ", \"") + std::to_string(10 + i) + ":00.0\"";
    return text;
}

class BadTopologyTest : public testing::TestWithParam<BadFile> {
protected:
    const Environment soft{"DOCA_SOFT", "1"};
    const Environment role{"DOCA_SOFT_ROLE", nullptr};
};

TEST_P(BadTopologyTest, is_refused_and_explained)
{
    const TopologyFile file(GetParam().text);
    const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    const LogCapture log;
    EXPECT_EQ(refusal_of_list(), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, file.path());
    EXPECT_LOGGED(log, GetParam().complaint);
}

INSTANTIATE_TEST_SUITE_P(
    file, BadTopologyTest,
    testing::Values(
        BadFile{"empty", "", ""}, BadFile{"no_json", "functions", "line 1"},
        BadFile{"cut_off", "{\"functions\": [\n{\"name\": \"p0\",\n", "line "},
        BadFile{"broken_third_line", "{\"functions\": [\n\n{\"name\" \"p0\"}]}", "line 3"},
        BadFile{"more_after_the_end", ports(1) + "\n]", ""}, BadFile{"two_objects", ports(1) + ports(1), ""},
        BadFile{"deeply_nested", std::string(100, '['), "line 1"}, BadFile{"array_at_the_top", "[]", "\"functions\""},
        BadFile{"no_functions", "{}", "\"functions\""},
        BadFile{"functions_is_no_array", R"({"functions": {}})", "\"functions\""},
        BadFile{"functions_is_null", R"({"functions": null})", "\"functions\""},
        BadFile{"none", R"({"functions": []})", "0 functions"},
        BadFile{"function_is_no_object", R"({"functions": [7]})", "function 0: must be an object"},
        BadFile{"function_is_null", R"({"functions": [null]})", "function 0: must be an object"},
        BadFile{"no_name", with_function(R"("side": "host", "type": "vf", "pci": "0b:00.1", "parent": "p0")"),
                "function 3: \"name\" is missing"},
        BadFile{"name_is_no_string", with_function(R"("name": 7, "side": "host", "type": "vf")"),
                "\"name\" must be a string"},
        BadFile{"name_is_empty", with_function(R"("name": "", "side": "host", "type": "vf")"),
                "\"name\" must have 1 to 31 characters"},
        BadFile{"name_is_too_long", with_function("\"name\": \"" + std::string(32, 'x') + "\""),
                "\"name\" must have 1 to 31 characters"},
        BadFile{"name_has_a_nul", with_function(R"("name": "a\u0000b")"), "\"name\" must have"},
        BadFile{"name_is_taken",
                with_function(R"("name": "h0", "side": "host", "type": "vf", "pci": "0b:00.1", "parent": "p0")"),
                "the name \"h0\" is taken"},
        BadFile{"no_side", with_function(R"("name": "x", "type": "vf", "pci": "0b:00.1", "parent": "p0")"),
                "\"side\" must be one of \"dpu\", \"host\""},
        BadFile{"unknown_side", with_function(R"("name": "x", "side": "left", "type": "vf")"),
                "\"side\" must be one of \"dpu\", \"host\""},
        BadFile{"no_type", with_function(R"("name": "x", "side": "host", "pci": "0b:00.1", "parent": "p0")"),
                "\"type\" must be one of \"pf\", \"vf\", \"sf\""},
        BadFile{"unknown_type", with_function(R"("name": "x", "side": "host", "type": "PF")"),
                "\"type\" must be one of \"pf\", \"vf\", \"sf\""},
        BadFile{"unknown_key", with_function(good(R"("colour": "red")")), "\"colour\" is not known"},
        BadFile{"vf_on_the_dpu",
                with_function(R"("name": "x", "side": "dpu", "type": "vf", "pci": "03:00.2", "parent": "p0")"),
                "a DPU's function is a PF or an SF"},
        BadFile{"sf_on_the_host", with_function(R"("name": "x", "side": "host", "type": "sf", "parent": "p0")"),
                "a host's function is a PF or a VF"},
        BadFile{"port_with_a_parent",
                with_function(R"("name": "x", "side": "dpu", "type": "pf", "pci": "03:00.1", "parent": "p0")"),
                "a DPU's PF has no \"parent\""},
        BadFile{"no_parent", with_function(R"("name": "x", "side": "host", "type": "pf", "pci": "0b:00.1")"),
                "\"parent\" must name"},
        BadFile{"sf_without_parent", with_function(R"("name": "x", "side": "dpu", "type": "sf")"),
                "\"parent\" must name"},
        BadFile{"unknown_parent",
                with_function(R"("name": "x", "side": "host", "type": "pf", "pci": "0b:00.1", "parent": "p9")"),
                "\"parent\" must name"},
        BadFile{"parent_is_itself", with_function(R"("name": "x", "side": "dpu", "type": "sf", "parent": "x")"),
                "\"parent\" must name"},
        BadFile{"parent_is_on_the_host",
                with_function(R"("name": "x", "side": "host", "type": "vf", "pci": "0b:00.1", "parent": "h0")"),
                "\"parent\" must name"},
        BadFile{"parent_is_an_sf",
                with_function(R"("name": "x", "side": "host", "type": "vf", "pci": "0b:00.1", "parent": "s0")"),
                "\"parent\" must name"},
        BadFile{"parent_stands_below", R"({"functions": [
            {"name": "h", "side": "host", "type": "pf", "pci": "0b:00.0", "parent": "p0"},
            {"name": "p0", "side": "dpu", "type": "pf", "pci": "03:00.0"}]})",
                "function 0: \"parent\" must name"},
        BadFile{"sf_with_an_address",
                with_function(R"("name": "x", "side": "dpu", "type": "sf", "parent": "p0", "pci": "03:00.0")"),
                "an SF has its parent's PCI address"},
        BadFile{"sf_with_further_addresses",
                with_function(R"("name": "x", "side": "dpu", "type": "sf", "parent": "p0", "also": ["05:00.0"])"),
                "an SF has its parent's PCI address"},
        BadFile{"also_is_no_array", with_function(good(R"("also": "05:00.0")")),
                "\"also\" must be an array of at most 16 strings"},
        BadFile{"also_has_a_number", with_function(good(R"("also": ["05:00.0", 5])")), "\"also\" must be an array"},
        BadFile{"also_is_null", with_function(good(R"("also": null)")), "\"also\" must be an array"},
        BadFile{"also_has_17", with_function(good("\"also\": [" + addresses(17) + "]")),
                "\"also\" must be an array of at most 16 strings"},
        BadFile{"also_is_no_address", with_function(good(R"("also": ["5:00.0"])")), "\"also\" must have the form"},
        BadFile{"also_is_the_own_address", with_function(good(R"("also": ["0b:00.1"])")),
                "the PCI address 0000:0b:00.1 is taken"},
        BadFile{"also_is_there_twice", with_function(good(R"("also": ["05:00.0", "0000:05:00.0"])")),
                "the PCI address 0000:05:00.0 is taken"},
        BadFile{"also_is_taken", with_function(good(R"("also": ["0b:00.0"])")),
                "the PCI address 0000:0b:00.0 is taken"},
        BadFile{"address_is_a_further_one", R"({"functions": [
            {"name": "p0", "side": "dpu", "type": "pf", "pci": "03:00.0", "also": ["05:00.0"]},
            {"name": "p1", "side": "dpu", "type": "pf", "pci": "05:00.0"}]})",
                "function 1: the PCI address 0000:05:00.0 is taken"},
        BadFile{"sha_hardware_is_no_boolean", with_function(good(R"("sha_hardware": 1)")),
                "\"sha_hardware\" must be true or false"},
        BadFile{"engines_of_no_card", with_function(good(R"("engines": "bluefield-9")")),
                "\"engines\" must be one of \"all\", \"none\""},
        BadFile{"no_address", with_function(R"("name": "x", "side": "host", "type": "vf", "parent": "p0")"),
                "\"pci\" must have the form"},
        BadFile{"bad_address",
                with_function(R"("name": "x", "side": "host", "type": "vf", "parent": "p0", "pci": "0b:00.8")"),
                "\"pci\" must have the form"},
        BadFile{"address_is_taken",
                with_function(R"("name": "x", "side": "host", "type": "vf", "parent": "p0", "pci": "0000:0b:00.0")"),
                "the PCI address 0000:0b:00.0 is taken"},
        BadFile{"ibdev_is_too_long", with_function(good("\"ibdev\": \"" + std::string(64, 'x') + "\"")),
                "\"ibdev\" must have 1 to 63 characters"},
        BadFile{"iface_is_too_long", with_function(good(R"("iface": "sixteen_letters_")")),
                "\"iface\" must have 1 to 15 characters"},
        BadFile{"vuid_is_too_long", with_function(good("\"vuid\": \"" + std::string(128, 'x') + "\"")),
                "\"vuid\" must have 1 to 127 characters"},
        BadFile{"mac_is_short", with_function(good(R"("mac": "02:00:00:00:00")")), "\"mac\" must have the form"},
        BadFile{"mac_has_no_hex", with_function(good(R"("mac": "02:00:00:00:00:0g")")), "\"mac\" must have the form"},
        BadFile{"mac_is_long", with_function(good(R"("mac": "02:00:00:00:00:001")")), "\"mac\" must have"},
        BadFile{"mac_is_no_string", with_function(good(R"("mac": 2)")), "\"mac\" must be a string"},
        BadFile{"ipv4_is_bad", with_function(good(R"("ipv4": "192.0.2.256")")), "\"ipv4\" is not an IPv4 address"},
        BadFile{"ipv6_is_bad", with_function(good(R"("ipv6": "fe80::1::2")")), "\"ipv6\" is not an IPv6 address"}),
    [](const testing::TestParamInfo<BadFile> &file) { return std::string(file.param.name); });
