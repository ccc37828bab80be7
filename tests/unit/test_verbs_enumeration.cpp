// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What is made of the kernel's answers about RDMA devices that this machine does not have: a tree as sysfs
// has it, and entries of GID tables.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "../../src/core/device/verbs/gid_table.hpp"
#include "../../src/core/device/verbs/interface.hpp"
#include "../../src/core/device/verbs/port_rate.hpp"

using namespace opendoca::verbs;
namespace fs = std::filesystem;

namespace {

class Sysfs : public testing::Test {
protected:
    void SetUp() override
    {
        std::string pattern = fs::temp_directory_path() / "opendoca-sysfs-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        root = pattern;
    }
    void TearDown() override { fs::remove_all(root); }

    /// A device at @p place, below devices/, with the directory of @p name in class/infiniband/. Returns
    /// that.
    [[nodiscard]] std::string add(const std::string &name, const std::string &place) const
    {
        const fs::path device = root / "devices" / place;
        const fs::path directory = device / "infiniband" / name;
        fs::create_directories(directory);
        fs::create_directory_symlink(device, directory / "device");
        fs::create_directories(root / "class/infiniband");
        fs::create_directory_symlink(directory, root / "class/infiniband" / name);
        return root / "class/infiniband" / name;
    }
    void add_interface(const std::string &place, const std::string &name, int port,
                       const std::string &port_name = "") const
    {
        const fs::path directory = root / "devices" / place / "net" / name;
        fs::create_directories(directory);
        std::ofstream(directory / "dev_port") << port << '\n';
        if (!port_name.empty())
            std::ofstream(directory / "phys_port_name") << port_name << '\n';
    }

    fs::path root;
};

const std::string port_place = "pci0000:00/0000:00:01.0/0000:03:00.0";

ibv_gid_entry entry_of(const char *address, std::uint32_t type)
{
    ibv_gid_entry entry{};
    EXPECT_EQ(inet_pton(AF_INET6, address, entry.gid.raw), 1);
    entry.gid_type = type;
    return entry;
}

} // namespace

TEST_F(Sysfs, PhysicalFunction)
{
    const PciFunction function = pci_function_of(add("mlx5_0", port_place));
    EXPECT_EQ(function.pci_address, "0000:03:00.0");
    EXPECT_EQ(function.type, opendoca::FunctionType::pf);
}

TEST_F(Sysfs, VirtualFunctionHasALinkToItsPhysicalOne)
{
    const std::string path = add("mlx5_2", "pci0000:00/0000:00:01.0/0000:03:00.3");
    fs::create_directory_symlink("../0000:03:00.0", path + "/device/physfn");
    const PciFunction function = pci_function_of(path);
    EXPECT_EQ(function.pci_address, "0000:03:00.3");
    EXPECT_EQ(function.type, opendoca::FunctionType::vf);
}

TEST_F(Sysfs, SubfunctionHasTheAddressOfItsParent)
{
    const PciFunction function = pci_function_of(add("mlx5_4", port_place + "/mlx5_core.sf.12"));
    EXPECT_EQ(function.pci_address, "0000:03:00.0");
    EXPECT_EQ(function.type, opendoca::FunctionType::sf);
    // Of a virtual function too, it is a subfunction.
    const std::string vf = "pci0000:00/0000:00:01.0/0000:03:01.0";
    const std::string path = add("mlx5_5", vf + "/mlx5_core.sf.13");
    fs::create_directory_symlink("../0000:03:00.0", root / "devices" / vf / "physfn");
    EXPECT_EQ(pci_function_of(path).pci_address, "0000:03:01.0");
    EXPECT_EQ(pci_function_of(path).type, opendoca::FunctionType::sf);
}

TEST_F(Sysfs, SubfunctionHasTheNumberThatItWasCreatedWith)
{
    const std::string place = port_place + "/mlx5_core.sf.12";
    const std::string path = add("mlx5_4", place + "/mlx5_core.rdma.3");
    EXPECT_EQ(pci_function_of(path).sf_number, std::nullopt) << "older kernels do not tell it";
    std::ofstream(root / "devices" / place / "sfnum") << "88\n";
    EXPECT_EQ(pci_function_of(path).sf_number, 88u);
    EXPECT_EQ(pci_function_of(add("mlx5_0", port_place)).sf_number, std::nullopt);
}

TEST_F(Sysfs, OtherDevicesOfTheAuxiliaryAndVirtioBuses)
{
    EXPECT_EQ(pci_function_of(add("irdma0", port_place + "/ice.roce.0")).pci_address, "0000:03:00.0");
    EXPECT_EQ(pci_function_of(add("rxe0", "pci0000:00/0000:00:03.0/virtio0")).pci_address, "0000:00:03.0");
    EXPECT_EQ(pci_function_of(root / "class/infiniband/rxe0").type, opendoca::FunctionType::pf);
}

TEST_F(Sysfs, DevicesWithoutPci)
{
    EXPECT_EQ(pci_function_of(add("hns_0", "platform/HISI00D1:00")).pci_address, "");
    const std::string of_an_interface = root / "devices/virtual/net/dummy0";
    fs::create_directories(of_an_interface);
    EXPECT_EQ(pci_function_of(of_an_interface).pci_address, "");
    EXPECT_EQ(pci_function_of(of_an_interface).type, opendoca::FunctionType::pf);
    EXPECT_EQ(pci_function_of(root / "class/infiniband/none").pci_address, "");
}

TEST_F(Sysfs, EachPortHasAnInterface)
{
    const std::string path = add("mlx4_0", port_place);
    add_interface(port_place, "ens1", 0);
    add_interface(port_place, "ens1d1", 1);
    EXPECT_EQ(interface_in(path, 1), "ens1");
    EXPECT_EQ(interface_in(path, 2), "ens1d1");
    EXPECT_EQ(interface_in(path, 3), "");
    EXPECT_EQ(interface_in(add("mlx5_9", "pci0000:00/0000:00:02.0"), 1), "");
}

TEST_F(Sysfs, TheInterfaceOfAPortIsNoRepresentor)
{
    const std::string path = add("mlx5_0", port_place);
    add_interface(port_place, "en3f0pf0sf0", 0, "pf0sf0");
    add_interface(port_place, "en3f0c1pf0", 0, "c1pf0");
    EXPECT_EQ(interface_in(path, 1), "");
    add_interface(port_place, "p0", 0, "p0");
    EXPECT_EQ(interface_in(path, 1), "p0");
}

TEST_F(Sysfs, TheInterfaceOfAnInfiniBandPortIsTheOneOfTheDefaultPartition)
{
    const std::string path = add("mlx5_0", port_place);
    add_interface(port_place, "ib0.8001", 0);
    add_interface(port_place, "ib0", 0);
    add_interface(port_place, "ib0.8002", 0);
    EXPECT_EQ(interface_in(path, 1), "ib0");
}

TEST(GidTable, TheBestWayToAPeerIsFirst)
{
    const ibv_gid_entry best_first[] = {
        entry_of("::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V2), entry_of("2001:db8::1", IBV_GID_TYPE_ROCE_V2),
        entry_of("fe80::1", IBV_GID_TYPE_ROCE_V2),          entry_of("::ffff:192.0.2.1", IBV_GID_TYPE_ROCE_V1),
        entry_of("2001:db8::1", IBV_GID_TYPE_ROCE_V1),      entry_of("fe80::1", IBV_GID_TYPE_ROCE_V1),
    };
    for (std::size_t i = 1; i < std::size(best_first); ++i)
        EXPECT_LT(rank_of(best_first[i - 1]), rank_of(best_first[i])) << i;
    // The whole block fe80::/10 is link-local, and nothing beside it.
    EXPECT_EQ(rank_of(entry_of("febf::1", IBV_GID_TYPE_ROCE_V2)), rank_of(best_first[2]));
    EXPECT_EQ(rank_of(entry_of("fec0::1", IBV_GID_TYPE_ROCE_V2)), rank_of(best_first[1]));
    EXPECT_EQ(rank_of(entry_of("::1", IBV_GID_TYPE_ROCE_V2)), rank_of(best_first[1]));
}

TEST(GidTable, GidsOfInfiniBandRankByTheirScope)
{
    EXPECT_LT(rank_of(entry_of("2001:db8::1", IBV_GID_TYPE_IB)), rank_of(entry_of("fe80::1", IBV_GID_TYPE_IB)));
}
/// As <infiniband/verbs.h> of rdma-core has them, and that of newer versions, with speeds beyond the byte.
struct OldPort {
    std::uint8_t active_width, active_speed;
};
struct NewPort : OldPort {
    std::uint32_t active_speed_ex;
};

TEST(PortRate, IsThatWhichTheLinkIsNamedBy)
{
    constexpr std::uint64_t gigabit = 1'000'000'000;
    EXPECT_EQ(rate_of_port(OldPort{1, 1}), gigabit * 5 / 2) << "1X SDR";
    EXPECT_EQ(rate_of_port(OldPort{2, 2}), 20 * gigabit) << "4X DDR";
    EXPECT_EQ(rate_of_port(OldPort{2, 4}), 40 * gigabit) << "4X QDR";
    EXPECT_EQ(rate_of_port(OldPort{2, 8}), 40 * gigabit) << "4X FDR10";
    EXPECT_EQ(rate_of_port(OldPort{2, 16}), 56 * gigabit) << "4X FDR";
    EXPECT_EQ(rate_of_port(OldPort{2, 32}), 100 * gigabit) << "4X EDR";
    EXPECT_EQ(rate_of_port(OldPort{16, 64}), 100 * gigabit) << "2X HDR";
    EXPECT_EQ(rate_of_port(OldPort{2, 128}), 400 * gigabit) << "4X NDR";
    EXPECT_EQ(rate_of_port(OldPort{4, 32}), 200 * gigabit) << "8X EDR";
    EXPECT_EQ(rate_of_port(OldPort{8, 16}), 168 * gigabit) << "12X FDR";
    EXPECT_EQ(rate_of_port(NewPort{{2, 0}, 256}), 800 * gigabit) << "4X XDR";
    EXPECT_EQ(rate_of_port(NewPort{{2, 64}, 0}), 200 * gigabit) << "a kernel that does not fill the word";
}

TEST(PortRate, IsNoneForCodesThatAreNone)
{
    for (const OldPort port : {OldPort{0, 32}, OldPort{2, 0}, OldPort{3, 32}, OldPort{2, 3}, OldPort{32, 32}})
        EXPECT_EQ(rate_of_port(port), std::nullopt) << int{port.active_width} << ' ' << int{port.active_speed};
    EXPECT_EQ(rate_of_port(NewPort{{2, 0}, 512}), std::nullopt);
}
