// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Which interfaces stand for functions behind a port of the e-switch, found in a made-up /sys/class/net.
#include "../../src/core/device/mlx5/representors.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <unistd.h>

namespace {

using namespace opendoca;
using namespace opendoca::mlx5;
namespace fs = std::filesystem;

TEST(PortName, IsTakenApartAsTheKernelPutsItTogether)
{
    const struct {
        const char *text;
        FunctionType type;
        bool is_external;
        unsigned pf, number;
    } names[] = {{"pf0", FunctionType::pf, false, 0, 0},      {"c1pf0", FunctionType::pf, true, 0, 0},
                 {"pf1vf12", FunctionType::vf, false, 1, 12}, {"c1pf1vf3", FunctionType::vf, true, 1, 3},
                 {"pf0sf88", FunctionType::sf, false, 0, 88}, {"c2pf0sf7", FunctionType::sf, true, 0, 7},
                 {"c0pf0vf1", FunctionType::vf, false, 0, 1}};
    for (const auto &expected : names) {
        const auto name = PortName::parse(expected.text);
        ASSERT_TRUE(name) << expected.text;
        EXPECT_EQ(name->type, expected.type) << expected.text;
        EXPECT_EQ(name->is_external, expected.is_external) << expected.text;
        EXPECT_EQ(name->pf, expected.pf) << expected.text;
        EXPECT_EQ(name->number, expected.number) << expected.text;
    }
    for (const char *const text :
         {"", "p0", "pf", "pfx", "pf0vf", "pf0xf1", "c1", "c1p0", "pf0vf1x", "pf99999999999", "eth0"})
        EXPECT_FALSE(PortName::parse(text)) << text;
}

TEST(PortName, PortsOfTheESwitchFollowFromIt)
{
    EXPECT_EQ(PortName::parse("c1pf0")->vport(), 0);
    EXPECT_EQ(PortName::parse("c1pf0vf0")->vport(), 1);
    EXPECT_EQ(PortName::parse("c1pf0vf7")->vport(), 8);
    EXPECT_FALSE(PortName::parse("pf0sf4")->vport());
}

TEST(VirtualFunctionLayout, FollowFromTheSrIovCapability)
{
    const fs::path pci = fs::temp_directory_path() / ("opendoca-sriov-" + std::to_string(getpid()));
    fs::create_directories(pci);
    const auto put = [&](const char *file, const char *text) { std::ofstream(pci / file) << text; };
    EXPECT_FALSE(VirtualFunctionLayout::read(pci)) << "no such files";
    put("sriov_offset", "2\n");
    EXPECT_FALSE(VirtualFunctionLayout::read(pci));
    for (const char *const text : {"", "x", "-1", "0", "1x", "99999999999"}) {
        put("sriov_stride", text);
        EXPECT_FALSE(VirtualFunctionLayout::read(pci)) << text;
    }
    put("sriov_stride", "1\n");
    const auto places = VirtualFunctionLayout::read(pci);
    fs::remove_all(pci);
    ASSERT_TRUE(places);
    EXPECT_EQ(places->routing_id(0x3b00, 0), 0x3b02);
    EXPECT_EQ(places->routing_id(0x3b00, 6), 0x3b08) << "device 1, function 0";
    EXPECT_EQ(places->routing_id(0x3b00, 254), 0x3c00) << "the next bus";
    EXPECT_EQ(places->routing_id(0xff00, 253), 0xffff);
    EXPECT_FALSE(places->routing_id(0xff00, 254));
    EXPECT_FALSE((VirtualFunctionLayout{4294967295, 4294967295}.routing_id(0, 4294967295)));
}

class Representors : public testing::Test {
protected:
    Representors() { fs::create_directories(net); }
    ~Representors() override { fs::remove_all(net); }

    void add(const std::string &interface, const std::string &port_name, const std::string &switch_id) const
    {
        fs::create_directories(net / interface);
        std::ofstream(net / interface / "phys_port_name") << port_name << '\n';
        std::ofstream(net / interface / "phys_switch_id") << switch_id << '\n';
    }
    [[nodiscard]] std::vector<std::string> found(const std::string &uplink) const
    {
        std::vector<std::string> names;
        for (const RepresentorPort &port : find_representors(net, uplink))
            names.push_back(port.interface);
        return names;
    }

    const fs::path net = fs::temp_directory_path() / ("opendoca-representors-" + std::to_string(getpid()));
};

TEST_F(Representors, AreThoseOfTheSameSwitchAndPort)
{
    add("p0", "p0", "aa");
    add("p1", "p1", "aa");
    add("en3f0pf0sf4", "pf0sf4", "aa");
    add("pf0vf1", "c1pf0vf1", "aa");
    add("pf0vf0", "c1pf0vf0", "aa");
    add("pf0hpf", "c1pf0", "aa");
    add("pf1hpf", "c1pf1", "aa");
    add("other", "c1pf0", "bb");
    fs::create_directories(net / "eth0");
    EXPECT_EQ(found("p0"), (std::vector<std::string>{"pf0hpf", "pf0vf0", "pf0vf1", "en3f0pf0sf4"}));
    EXPECT_EQ(found("p1"), std::vector<std::string>{"pf1hpf"});
}

TEST_F(Representors, AreNoneWithoutASwitch)
{
    add("pf0hpf", "c1pf0", "");
    fs::create_directories(net / "eth0");
    EXPECT_TRUE(found("eth0").empty());
    EXPECT_TRUE(found("").empty());
    EXPECT_TRUE(find_representors("/nowhere", "p0").empty());
}

} // namespace
