// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Programs that were written for two machines, on one: a port of the DPU that acts as a function of the host, further
// addresses of functions, and what is said of an address that nothing has.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/dma_fixture.hpp"
#include "support/environment.hpp"
#include "support/log_capture.hpp"
#include "support/sync_event.hpp"
#include "support/topology_file.hpp"

using namespace doca_test;

namespace {

constexpr std::uint32_t dpu_rights = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE;

std::vector<std::byte> export_to_dpu(const LocalMap &map, doca_dev *dev)
{
    const void *descriptor = nullptr;
    std::size_t size = 0;
    must(doca_mmap_export_dpu(map, dev, &descriptor, &size));
    const auto *const bytes = static_cast<const std::byte *>(descriptor);
    return {bytes, bytes + size};
}

doca_error_t import(doca_dev *dev, std::span<const std::byte> descriptor, MmapHandle &mmap)
{
    return doca_mmap_create_from_export(nullptr, descriptor.data(), descriptor.size(), dev, mmap.out());
}

/// The devices that say that they export to the DPU.
std::vector<std::string> exporters()
{
    std::vector<std::string> names;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (!is_soft(info))
            continue;
        EXPECT_EQ(can_export(info), exports_sync_events(info)) << ibdev_of(info);
        if (can_export(info))
            names.push_back(ibdev_of(info));
    }
    std::ranges::sort(names);
    return names;
}

/// What answers to the address, as a program looks for it.
std::vector<std::string> devices_at(const char *address)
{
    std::vector<std::string> names;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        std::uint8_t is_equal = 9;
        EXPECT_EQ(doca_devinfo_get_is_pci_addr_equal(info, address, &is_equal), DOCA_SUCCESS);
        if (is_equal == 1)
            names.push_back(ibdev_of(info));
    }
    return names;
}

std::vector<std::string> representors_at(const std::string &port, const char *address)
{
    std::vector<std::string> addresses;
    const DevHandle dev = open_device(port);
    const RepList list(dev);
    for (doca_devinfo_rep *info : list) {
        std::uint8_t is_equal = 9;
        EXPECT_EQ(doca_devinfo_rep_get_is_pci_addr_equal(info, address, &is_equal), DOCA_SUCCESS);
        if (is_equal == 1)
            addresses.push_back(pci_of(info));
    }
    return addresses;
}

using Names = std::vector<std::string>;

/// Lines of the log that name @p part.
std::size_t lines_with(const LogCapture &log, const std::string &part)
{
    std::istringstream text(log.text());
    std::size_t count = 0;
    for (std::string line; std::getline(text, line);)
        count += line.find(part) != std::string::npos ? 1 : 0;
    return count;
}

} // namespace

class RolesTest : public testing::Test {
protected:
    const Environment soft{"DOCA_SOFT", "1"};
    const Environment role{"DOCA_SOFT_ROLE", nullptr};
    const Environment topology{"DOCA_SOFT_TOPOLOGY", nullptr};
};

// A port that acts as a function of the host

TEST_F(RolesTest, PortsAndFunctionsOfTheHostExport)
{
    const Names hosts = {"soft_pf0", "soft_pf0vf0", "soft_pf0vf1", "soft_pf1", "soft_pf1vf0"};
    Names both = {"soft_p0", "soft_p1"};
    both.insert(both.end(), hosts.begin(), hosts.end());
    EXPECT_EQ(exporters(), both);
    {
        const Environment all("DOCA_SOFT_ROLE", "all");
        EXPECT_EQ(exporters(), both);
    }
    {
        const Environment host("DOCA_SOFT_ROLE", "host");
        EXPECT_EQ(exporters(), hosts);
    }
    const Environment dpu("DOCA_SOFT_ROLE", "dpu");
    EXPECT_EQ(exporters(), (Names{"soft_p0", "soft_p1"}));
}

TEST_F(RolesTest, PortWithoutPfExportsToTheFunctionsBehindIt)
{
    const TopologyFile file(R"({"functions": [
        {"name": "p0",  "side": "dpu",  "type": "pf", "pci": "03:00.0"},
        {"name": "vf0", "side": "host", "type": "vf", "pci": "0b:00.2", "parent": "p0"},
        {"name": "p0s0", "side": "dpu", "type": "sf", "parent": "p0"},
        {"name": "p1",  "side": "dpu",  "type": "pf", "pci": "03:00.1"},
        {"name": "pf1", "side": "host", "type": "pf", "pci": "0b:00.1", "parent": "p1"}
    ]})");
    const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    EXPECT_EQ(exporters(), (Names{"soft_p0", "soft_p1", "soft_pf1", "soft_vf0"}));
    std::vector<std::byte> memory(64);
    const DevHandle port = open_device("soft_p0"), vf = open_device("soft_vf0"), other = open_device("soft_pf1");
    const LocalMap map(port, memory, dpu_rights);
    const std::vector<std::byte> descriptor = export_to_dpu(map, port);
    MmapHandle remote, refused;
    EXPECT_EQ(import(vf, descriptor, remote), DOCA_SUCCESS);
    const LogCapture log;
    EXPECT_EQ(import(other, descriptor, refused), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_LOGGED(log, "the memory was exported by p0 (0000:03:00.0), and pf1 (0000:0b:00.1) is behind p1");
}

/// By the direction of the copy and the rights of the export.
TEST_F(RolesTest, HostReadsAndWritesMemoryOfTheDpuAsItsRightsAllow)
{
    std::vector<std::byte> memory(4096), here(4096);
    for (const std::uint32_t right : {DOCA_ACCESS_DPU_READ_ONLY, DOCA_ACCESS_DPU_READ_WRITE}) {
        fill(memory, 3);
        fill(here, 4);
        const Environment dpu("DOCA_SOFT_ROLE", "dpu");
        const DevHandle port = open_device("soft_p0");
        const LocalMap exported(port, memory, DOCA_ACCESS_LOCAL_READ_WRITE | right);
        const std::vector<std::byte> descriptor = export_to_dpu(exported, port);

        const Environment host_side("DOCA_SOFT_ROLE", "host");
        const DevHandle host = open_device("soft_pf0vf0");
        MmapHandle remote;
        ASSERT_EQ(import(host, descriptor, remote), DOCA_SUCCESS);
        const LocalMap local(host, here);
        const Inventory inventory(4);
        const DmaEngine engine(host);
        const bool may_write = right == DOCA_ACCESS_DPU_READ_WRITE;
        {
            const BufHandle src = inventory.full(local, here.data(), here.size());
            const BufHandle dst = inventory.empty(remote, memory.data(), memory.size());
            EXPECT_EQ(engine.copy(dst, src), may_write ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED);
            EXPECT_TRUE(is_filled(memory, may_write ? 4 : 3));
        }
        fill(memory, 5);
        const BufHandle src = inventory.full(remote, memory.data(), memory.size());
        const BufHandle dst = inventory.empty(local, here.data(), here.size());
        EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
        EXPECT_TRUE(is_filled(here, 5));
    }
}

TEST_F(RolesTest, FunctionOfTheHostDoesNotImportFromTheHost)
{
    std::vector<std::byte> memory(64);
    const DevHandle pf = open_device("soft_pf0"), vf = open_device("soft_pf0vf0");
    const LocalMap map(pf, memory, dpu_rights);
    const std::vector<std::byte> descriptor = export_to_dpu(map, pf);
    MmapHandle refused;
    const LogCapture log;
    EXPECT_EQ(import(vf, descriptor, refused), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_LOGGED(log, "the memory was exported by pf0 (0000:0b:00.0), and pf0vf0 (0000:0b:00.2) is behind p0");
}

TEST_F(RolesTest, PortImportsWhatItExports)
{
    std::vector<std::byte> memory(4096), here(4096);
    fill(memory, 3);
    const DevHandle port = open_device("soft_p0");
    const LocalMap exported(port, memory, dpu_rights);
    const std::vector<std::byte> descriptor = export_to_dpu(exported, port);

    const Environment dpu("DOCA_SOFT_ROLE", "dpu");
    MmapHandle remote;
    ASSERT_EQ(import(port, descriptor, remote), DOCA_SUCCESS);
    const LocalMap local(port, here);
    const Inventory inventory(2);
    const DmaEngine engine(port);
    const BufHandle src = inventory.full(remote, memory.data(), memory.size());
    const BufHandle dst = inventory.empty(local, here.data(), here.size());
    EXPECT_EQ(engine.copy(dst, src), DOCA_SUCCESS);
    EXPECT_TRUE(is_filled(here, 3));

    const DevHandle other = open_device("soft_p1");
    MmapHandle refused;
    const LogCapture log;
    EXPECT_EQ(import(other, descriptor, refused), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_LOGGED(log, "p0 (0000:03:00.0), which is not behind p1");
}

TEST_F(RolesTest, SyncEventsOfAPortAreImportedByItAndByTheFunctionsBehindIt)
{
    const DevHandle port = open_device("soft_p0"), other = open_device("soft_p1");
    const DevHandle host = open_device("soft_pf0vf1");
    Event event(port, Publisher::dpu);
    event.start();
    const auto blob = event.export_to_dpu(port);
    Event imported(port, blob);
    imported.start();
    EXPECT_EQ(doca_sync_event_update_set(imported, 7), DOCA_SUCCESS);
    EXPECT_EQ(event.get(), 7u);
    Event of_host(host, blob);
    of_host.start();
    EXPECT_EQ(doca_sync_event_update_set(of_host, 8), DOCA_SUCCESS);
    EXPECT_EQ(event.get(), 8u);
    doca_sync_event *refused = untouched<doca_sync_event>();
    EXPECT_EQ(doca_sync_event_create_from_export(other, blob.data(), blob.size(), &refused), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(refused, untouched<doca_sync_event>());
}

TEST_F(RolesTest, SubfunctionSharesNoMemoryAcrossThePcie)
{
    std::vector<std::byte> memory(64);
    const DevHandle sf = open_device("soft_p0s0");
    const LocalMap map(sf, memory, dpu_rights);
    const void *descriptor = untouched<void>();
    std::size_t size = 0;
    const LogCapture log;
    EXPECT_EQ(doca_mmap_export_dpu(map, sf, &descriptor, &size), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "cannot export memory across the PCIe: it is a subfunction of the DPU");
    EXPECT_EQ(descriptor, untouched<void>());
    const DevHandle port = open_device("soft_p0");
    const LocalMap exported(port, memory, dpu_rights);
    MmapHandle refused;
    EXPECT_EQ(import(sf, export_to_dpu(exported, port), refused), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "cannot import memory across the PCIe: it is a subfunction of the DPU");
}

// Further addresses

TEST_F(RolesTest, default_answers_to_the_addresses_of_guides_and_samples)
{
    for (const char *address : {"0b:00.0", "01:00.0", "3b:00.0", "b1:00.0", "0000:B1:00.0"}) {
        EXPECT_EQ(devices_at(address), Names{"soft_pf0"}) << address;
        EXPECT_EQ(representors_at("soft_p0", address), Names{"0000:0b:00.0"}) << "the first one is shown";
        EXPECT_EQ(representors_at("soft_p1", address), Names{}) << address;
    }
    EXPECT_EQ(devices_at("03:00.0"), (Names{"soft_p0", "soft_p0s0"}));
}

TEST_F(RolesTest, further_addresses_of_a_file)
{
    const TopologyFile file(R"({"functions": [
        {"name": "p0",  "side": "dpu",  "type": "pf", "pci": "03:00.0", "also": ["0001:05:00.0"]},
        {"name": "p0s0", "side": "dpu", "type": "sf", "parent": "p0"},
        {"name": "vf0", "side": "host", "type": "vf", "pci": "0b:00.2", "parent": "p0", "also": []},
        {"name": "vf1", "side": "host", "type": "vf", "pci": "0b:00.3", "parent": "p0",
         "also": ["CA:00.1", "af:00.0"]}
    ]})");
    const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    EXPECT_EQ(devices_at("0001:05:00.0"), (Names{"soft_p0", "soft_p0s0"})) << "an SF has its parent's";
    EXPECT_EQ(devices_at("05:00.0"), Names{}) << "another domain";
    EXPECT_EQ(devices_at("ca:00.1"), Names{"soft_vf1"});
    EXPECT_EQ(representors_at("soft_p0", "af:00.0"), Names{"0000:0b:00.3"});
    EXPECT_EQ(representors_at("soft_p0", "01:00.0"), Names{});
}

// An address that nothing has

TEST_F(RolesTest, a_search_in_vain_is_explained_once)
{
    const LogCapture log;
    EXPECT_EQ(devices_at("17:00.0"), Names{});
    EXPECT_EQ(lines_with(log, "0000:17:00.0"), 1u) << log.text();
    EXPECT_LOGGED(log, "no device has the PCI address 0000:17:00.0; there are ");
    EXPECT_LOGGED(log, "p1 (0000:03:00.1), ");
    EXPECT_LOGGED(log, "pf0 (0000:0b:00.0, 0000:01:00.0, 0000:3b:00.0, 0000:b1:00.0)");
    EXPECT_LOGGED(log, "the default topology, which DOCA_SOFT_TOPOLOGY=FILE replaces");
}

TEST_F(RolesTest, a_search_that_succeeds_says_nothing)
{
    const LogCapture log;
    EXPECT_EQ(devices_at("0b:00.4"), Names{"soft_pf1vf0"});
    {
        const DevinfoList list; // a program that stops before it comes to the right one
        std::uint8_t is_equal = 9;
        EXPECT_EQ(doca_devinfo_get_is_pci_addr_equal(list[0], "0b:00.4", &is_equal), DOCA_SUCCESS);
    }
    {
        const DevinfoList list; // one that has a second choice
        for (const char *address : {"17:00.0", "03:00.0"}) {
            for (doca_devinfo *info : list) {
                std::uint8_t is_equal = 9;
                EXPECT_EQ(doca_devinfo_get_is_pci_addr_equal(info, address, &is_equal), DOCA_SUCCESS);
            }
        }
    }
    {
        const DevinfoList list; // one that asks nothing
    }
    EXPECT_EQ(representors_at("soft_p0", "0b:00.3"), Names{"0000:0b:00.3"});
    EXPECT_EQ(log.text(), "");
}

TEST_F(RolesTest, a_function_that_the_role_hides_is_named)
{
    {
        const Environment dpu("DOCA_SOFT_ROLE", "dpu");
        const LogCapture log;
        EXPECT_EQ(devices_at("b1:00.0"), Names{});
        EXPECT_LOGGED(log, "it is that of pf0 on the host, behind p0, which DOCA_SOFT_ROLE=dpu hides");
    }
    const Environment host("DOCA_SOFT_ROLE", "host");
    const LogCapture log;
    EXPECT_EQ(devices_at("03:00.0"), Names{});
    EXPECT_LOGGED(log, "it is that of p0 on the DPU, which DOCA_SOFT_ROLE=host hides");
}

TEST_F(RolesTest, the_file_of_a_topology_is_named)
{
    const TopologyFile file(R"({"functions": [{"name": "x", "side": "dpu", "type": "pf", "pci": "01:00.0"}]})");
    const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    const LogCapture log;
    EXPECT_EQ(devices_at("03:00.0"), Names{});
    EXPECT_LOGGED(log, "the functions are those of " + file.path());
    EXPECT_FALSE(log.has("DOCA_SOFT_TOPOLOGY=FILE"));
}

TEST_F(RolesTest, representors_of_another_port_are_named)
{
    const LogCapture log;
    EXPECT_EQ(representors_at("soft_p0", "0b:00.1"), Names{});
    EXPECT_EQ(lines_with(log, "0000:0b:00.1"), 1u) << log.text();
    EXPECT_LOGGED(log, "no representor of device p0 has the PCI address 0000:0b:00.1; there are pf0 (");
    EXPECT_LOGGED(log, "it is that of pf1 on the host, behind p1");
}

TEST_F(RolesTest, lists_are_searched_by_threads)
{
    const LogCapture log;
    {
        const DevinfoList list;
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                for (int round = 0; round < 200; ++round) {
                    for (doca_devinfo *info : list) {
                        std::uint8_t is_equal = 9;
                        EXPECT_EQ(doca_devinfo_get_is_pci_addr_equal(info, "17:00.0", &is_equal), DOCA_SUCCESS);
                    }
                }
            });
        for (std::thread &thread : threads)
            thread.join();
    }
    EXPECT_EQ(lines_with(log, "0000:17:00.0"), 1u) << log.text();
}
