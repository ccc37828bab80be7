// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include <doca_dev.h>

#include "../../src/core/device/soft/topology/topology.hpp"
#include "../conformance/support/environment.hpp"
#include "../conformance/support/log_capture.hpp"
#include "../conformance/support/memory.hpp"

namespace {

using doca_test::Environment;
using doca_test::LogCapture;
using opendoca::soft::CardMode;
using opendoca::soft::load_topology;
using opendoca::soft::parse_topology;
using opendoca::soft::Side;
using opendoca::soft::Topology;
using opendoca::soft::TopologyFunction;

constexpr const char *port = R"({"name": "p0", "side": "dpu", "type": "pf", "pci": "03:00.0"})";

/// A file with these functions.
std::string with(const std::string &functions)
{
    return R"({"functions": [)" + functions + "]}";
}

/// A file with p0 and this function behind it.
std::string and_port(const std::string &function)
{
    return with(std::string(port) + ",\n" + function);
}

void expect_refused(const std::string &text, const std::string &reason)
{
    const LogCapture log;
    Topology topology(3);
    EXPECT_EQ(parse_topology(text, "here", topology), DOCA_ERROR_INVALID_VALUE) << text;
    EXPECT_EQ(topology.size(), 3u) << "the output was changed";
    EXPECT_LOGGED(log, reason);
    EXPECT_LOGGED(log, "here");
}

Topology parse(const std::string &text)
{
    Topology topology;
    EXPECT_EQ(parse_topology(text, "here", topology), DOCA_SUCCESS) << text;
    return topology;
}

TEST(Topology, DefaultIsTheExampleOfTheCoreGuide)
{
    const Environment none("DOCA_SOFT_TOPOLOGY", nullptr);
    Topology topology;
    ASSERT_EQ(load_topology(topology), DOCA_SUCCESS);
    struct Expected {
        const char *name;
        Side side;
        opendoca::FunctionType type;
        const char *pci;
        const char *parent;
    };
    constexpr Expected expected[] = {
        {"p0", Side::dpu, opendoca::FunctionType::pf, "0000:03:00.0", ""},
        {"p1", Side::dpu, opendoca::FunctionType::pf, "0000:03:00.1", ""},
        {"p0s0", Side::dpu, opendoca::FunctionType::sf, "0000:03:00.0", "p0"},
        {"p1s0", Side::dpu, opendoca::FunctionType::sf, "0000:03:00.1", "p1"},
        {"pf0", Side::host, opendoca::FunctionType::pf, "0000:0b:00.0", "p0"},
        {"pf1", Side::host, opendoca::FunctionType::pf, "0000:0b:00.1", "p1"},
        {"pf0vf0", Side::host, opendoca::FunctionType::vf, "0000:0b:00.2", "p0"},
        {"pf0vf1", Side::host, opendoca::FunctionType::vf, "0000:0b:00.3", "p0"},
        {"pf1vf0", Side::host, opendoca::FunctionType::vf, "0000:0b:00.4", "p1"},
    };
    ASSERT_EQ(topology.size(), std::size(expected));
    for (std::size_t i = 0; i < topology.size(); ++i) {
        EXPECT_EQ(topology[i].name, expected[i].name);
        EXPECT_EQ(topology[i].side, expected[i].side) << expected[i].name;
        EXPECT_EQ(topology[i].type, expected[i].type) << expected[i].name;
        EXPECT_EQ(topology[i].pci_address, expected[i].pci) << expected[i].name;
        EXPECT_EQ(topology[i].parent, expected[i].parent) << expected[i].name;
    }
}

TEST(Topology, DefaultsOfWhatIsLeftOut)
{
    const Topology topology = parse(and_port(R"({"name": "pf0", "side": "host", "type": "pf", "pci": "01:00.0",
                                                 "parent": "p0"})"));
    ASSERT_EQ(topology.size(), 2u);
    const TopologyFunction &function = topology[1];
    EXPECT_EQ(function.ibdev_name, "soft_pf0");
    EXPECT_EQ(function.iface_name, "pf0");
    EXPECT_FALSE(function.vuid.empty());
    EXPECT_LT(function.vuid.size(), std::size_t{DOCA_DEVINFO_REP_VUID_SIZE});
    EXPECT_NE(function.vuid, topology[0].vuid);
    EXPECT_NE(function.mac, topology[0].mac);
    EXPECT_EQ(function.mac[0] & 3, 2) << "a local address of one station";
    EXPECT_NE(function.ipv4, topology[0].ipv4);
    EXPECT_NE(function.ipv6, topology[0].ipv6);
    EXPECT_EQ(function.ipv6[0], 0xfe);
    EXPECT_EQ(function.ipv6[1], 0x80);
    EXPECT_EQ(function.ipv6[8], function.mac[0] ^ 2);
    EXPECT_EQ(function.ipv6[11], 0xff);
    EXPECT_EQ(function.ipv6[12], 0xfe);
    EXPECT_EQ(function.ipv6[15], function.mac[5]);
}

TEST(Topology, EverythingCanBeGiven)
{
    const Topology topology = parse(with(R"({"name": "left", "side": "dpu", "type": "pf", "pci": "00AB:1F:1e.7",
        "ibdev": "mine", "iface": "eth9", "mac": "0a:1B:2c:3d:4e:5f", "ipv4": "10.1.2.3", "ipv6": "2001:db8::1",
        "vuid": "V1"})"));
    ASSERT_EQ(topology.size(), 1u);
    const TopologyFunction &function = topology[0];
    EXPECT_EQ(function.pci_address, "00ab:1f:1e.7");
    EXPECT_EQ(function.ibdev_name, "mine");
    EXPECT_EQ(function.iface_name, "eth9");
    EXPECT_EQ(function.vuid, "V1");
    EXPECT_EQ(function.mac, (std::array<std::uint8_t, 6>{0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f}));
    EXPECT_EQ(function.ipv4, (std::array<std::uint8_t, 4>{10, 1, 2, 3}));
    EXPECT_EQ(function.ipv6[0], 0x20);
    EXPECT_EQ(function.ipv6[15], 1);
}

TEST(Topology, RepresentorsAreNamedAsThoseOfABlueField)
{
    const Environment none("DOCA_SOFT_TOPOLOGY", nullptr);
    Topology topology;
    ASSERT_EQ(load_topology(topology), DOCA_SUCCESS);
    std::vector<std::string> names;
    for (const TopologyFunction &function : topology)
        names.push_back(function.rep_iface_name);
    EXPECT_EQ(names,
              (std::vector<std::string>{"", "", "pf0sf0", "pf1sf0", "pf0hpf", "pf1hpf", "pf0vf0", "pf0vf1", "pf1vf0"}));
    const Topology given =
        parse(and_port(R"({"name": "a", "side": "host", "type": "pf", "pci": "04:00.0", "parent": "p0",
        "rep_iface": "left"}, {"name": "b", "side": "host", "type": "pf", "pci": "04:00.1", "parent": "p0"})"));
    EXPECT_EQ(given[1].rep_iface_name, "left");
    EXPECT_EQ(given[2].rep_iface_name, "pf0hpf1");
}

TEST(Topology, RatesAndNumbers)
{
    const Environment none("DOCA_SOFT_TOPOLOGY", nullptr);
    Topology topology;
    ASSERT_EQ(load_topology(topology), DOCA_SUCCESS);
    for (std::size_t i = 0; i != topology.size(); ++i) {
        EXPECT_EQ(topology[i].active_rate, 100'000'000'000U);
        EXPECT_EQ(topology[i].vhca_id, i + 1);
        EXPECT_EQ(topology[i].sf_number.has_value(), topology[i].type == opendoca::FunctionType::sf);
    }
    const Topology given = parse(and_port(R"(
        {"name": "s0", "side": "dpu", "type": "sf", "parent": "p0", "sf_index": 4294967295, "vhca_id": 1},
        {"name": "s1", "side": "dpu", "type": "sf", "parent": "p0", "active_rate": 0, "vhca_id": 65535},
        {"name": "s2", "side": "dpu", "type": "sf", "parent": "p0", "active_rate": 10000000000000})"));
    EXPECT_EQ(given[0].vhca_id, 2u) << "1 is taken further down";
    EXPECT_EQ(given[1].sf_number, 4294967295u);
    EXPECT_EQ(given[2].sf_number, 1u);
    EXPECT_EQ(given[2].vhca_id, 65535u);
    EXPECT_FALSE(given[2].active_rate) << "0 is none";
    EXPECT_EQ(given[3].active_rate, 10'000'000'000'000U);
    EXPECT_EQ(given[3].vhca_id, 3u);
}

TEST(Topology, LongestNames)
{
    const std::string name(31, 'n');
    const Topology topology =
        parse(with(R"({"name": ")" + name + R"(", "side": "dpu", "type": "pf", "pci": "03:00.0"})"));
    ASSERT_EQ(topology.size(), 1u);
    EXPECT_EQ(topology[0].name, name);
    EXPECT_LT(topology[0].ibdev_name.size(), std::size_t{DOCA_DEVINFO_IBDEV_NAME_SIZE});
    EXPECT_LT(topology[0].vuid.size(), std::size_t{DOCA_DEVINFO_REP_VUID_SIZE});
    EXPECT_LE(topology[0].iface_name.size(), 15u);
    expect_refused(with(R"({"name": ")" + name + R"(n", "side": "dpu", "type": "pf", "pci": "03:00.0"})"), "\"name\"");
}

TEST(Topology, TextThatIsNotJson)
{
    expect_refused("", "line 1");
    expect_refused("{", "line 1");
    expect_refused("{\"functions\": [\n{\"name\": \"p0\",\n,}]}", "line 3");
    expect_refused(with(port) + "}", "here");
    expect_refused(with(port) + with(port), "here");
    EXPECT_EQ(parse(" \t\n" + with(port) + "\r\n \t").size(), 1u);
    expect_refused("nonsense", "line 1");
}

TEST(Topology, JsonThatIsNotATopology)
{
    for (const char *const text :
         {"[]", "{}", "\"text\"", R"({"functions": {}})", R"({"functions": null})", R"({"Functions": []})"})
        expect_refused(text, "\"functions\"");
    for (const char *const text : {"null", "7", "true"})
        expect_refused(text, "here");
    expect_refused(with(""), "0 functions");
    expect_refused(with("7"), "must be an object");
    expect_refused(with("null"), "must be an object");
}

TEST(Topology, ModeOfTheCard)
{
    const std::string functions =
        R"("functions": [)" + std::string(port) +
        R"(, {"name": "h", "side": "host", "type": "pf", "pci": "0b:00.0", "parent": "p0"}]})";
    EXPECT_EQ(parse("{" + functions)[0].mode, CardMode::dpu);
    EXPECT_EQ(parse(R"({"mode": "dpu", )" + functions)[1].mode, CardMode::dpu);
    EXPECT_EQ(parse(R"({"mode": "restricted", )" + functions)[1].mode, CardMode::restricted);
    const Topology nic = parse(R"({"mode": "nic", )" + functions);
    EXPECT_EQ(nic[0].mode, CardMode::nic);
    EXPECT_FALSE(nic[0].exists());
    EXPECT_TRUE(nic[1].exists());
    for (const char *const mode : {R"("NIC")", R"("separated")", R"("dpu ")"})
        expect_refused("{\"mode\": " + std::string(mode) + ", " + functions,
                       R"("mode" must be one of "dpu", "nic", "restricted")");
    for (const char *const mode : {"7", "null", "[]", "\"\"", R"("a text of many characters")"})
        expect_refused("{\"mode\": " + std::string(mode) + ", " + functions, "\"mode\"");
    expect_refused(R"({"mode": "nic", "functions": [)" + std::string(port) + "]}", "only the host has functions");
}

TEST(Topology, NumberOfFunctions)
{
    const auto ports = [](int count) {
        std::string functions;
        for (int i = 0; i < count; ++i) {
            std::array<char, 200> text{};
            std::snprintf(text.data(), text.size(),
                          R"(%s{"name": "p%d", "side": "dpu", "type": "pf", "pci": "%02x:00.0"})", i == 0 ? "" : ",", i,
                          static_cast<unsigned>(i));
            functions += text.data();
        }
        return with(functions);
    };
    EXPECT_EQ(parse(ports(250)).size(), 250u);
    expect_refused(ports(251), "251 functions");
}

TEST(Topology, FieldsThatAreWrong)
{
    struct Case {
        const char *function;
        const char *reason;
    };
    constexpr Case cases[] = {
        {R"({"side": "dpu", "type": "pf", "pci": "04:00.0"})", "\"name\" is missing"},
        {R"({"name": "", "side": "dpu", "type": "pf", "pci": "04:00.0"})", "\"name\""},
        {R"({"name": 5, "side": "dpu", "type": "pf", "pci": "04:00.0"})", "\"name\" must be a string"},
        {R"({"name": "a\u0000b", "side": "dpu", "type": "pf", "pci": "04:00.0"})", "\"name\""},
        {R"({"name": "p0", "side": "dpu", "type": "pf", "pci": "04:00.0"})", "\"p0\" is taken"},
        {R"({"name": "a", "type": "pf", "pci": "04:00.0"})", "\"side\" must be one of \"dpu\", \"host\""},
        {R"({"name": "a", "side": "DPU", "type": "pf", "pci": "04:00.0"})", "\"side\""},
        {R"({"name": "a", "side": "dpu", "pci": "04:00.0"})", "\"type\" must be one of"},
        {R"({"name": "a", "side": "dpu", "type": "pf"})", "\"pci\" must have the form"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.9"})", "\"pci\" must have the form"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "03:00.0"})", "0000:03:00.0 is taken"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "parent": "p0"})", "no \"parent\""},
        {R"({"name": "a", "side": "dpu", "type": "vf", "pci": "04:00.0", "parent": "p0"})", "a PF or an SF"},
        {R"({"name": "a", "side": "host", "type": "sf", "parent": "p0"})", "a PF or a VF"},
        {R"({"name": "a", "side": "host", "type": "pf", "pci": "04:00.0"})", "\"parent\""},
        {R"({"name": "a", "side": "host", "type": "pf", "pci": "04:00.0", "parent": "p9"})", "\"parent\""},
        {R"({"name": "a", "side": "host", "type": "pf", "pci": "04:00.0", "parent": "a"})", "\"parent\""},
        {R"({"name": "a", "side": "dpu", "type": "sf", "parent": "p0", "pci": "04:00.0"})", "no \"pci\""},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "mac": "1:2:3"})", "\"mac\""},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "mac": "00:11:22:33:44:5x"})", "\"mac\""},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "ipv4": "1.2.3"})", "\"ipv4\""},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "ipv4": "1.2.3.256"})", "\"ipv4\""},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "ipv6": "1.2.3.4"})", "\"ipv6\""},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "iface": "sixteen-letters-"})", "\"iface\""},
        {R"({"name": "a", "side": "dpu", "type": "sf", "parent": "p0", "rep_iface": "sixteen-letters-"})",
         "\"rep_iface\" must have 1 to 15 characters"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "rep_iface": "x"})", "no \"rep_iface\""},
        {R"({"name": "a", "side": "dpu", "type": "sf", "parent": "p0", "rep_iface": "x"},
            {"name": "b", "side": "dpu", "type": "sf", "parent": "p0", "rep_iface": "x"})",
         "\"x\" is taken"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "active_rate": -1})",
         "\"active_rate\" must be a whole number from 0 to 10000000000000, and is -1"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "active_rate": 10000000000001})",
         "and is 10000000000001"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "active_rate": 99999999999999999999999})",
         "\"active_rate\" must be a whole number"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "active_rate": 1e9})",
         "\"active_rate\" must be a whole number"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "active_rate": "fast"})", "and is \"fast\""},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "vhca_id": 65536})", "from 0 to 65535"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "vhca_id": 7},
            {"name": "b", "side": "dpu", "type": "pf", "pci": "05:00.0", "vhca_id": 7})",
         "\"vhca_id\" 7 is taken"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "sf_index": 0})", "\"sf_index\" is of an SF"},
        {R"({"name": "a", "side": "dpu", "type": "sf", "parent": "p0", "sf_index": 4294967296})",
         "from 0 to 4294967295"},
        {R"({"name": "a", "side": "dpu", "type": "pf", "pci": "04:00.0", "colour": "red"})", "\"colour\" is not known"},
    };
    for (const Case &wrong : cases) {
        SCOPED_TRACE(wrong.function);
        expect_refused(and_port(wrong.function), wrong.reason);
    }
    const LogCapture log;
    Topology topology;
    EXPECT_EQ(parse_topology(and_port(R"({"name": "a"})"), "here", topology), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "function 1");
}

/// A parent stands above its functions.
TEST(Topology, OrderOfParentAndChild)
{
    expect_refused(
        with(R"({"name": "a", "side": "host", "type": "pf", "pci": "04:00.0", "parent": "p0"},)" + std::string(port)),
        "stands above");
    expect_refused(and_port(R"({"name": "s", "side": "dpu", "type": "sf", "parent": "p0"},
        {"name": "a", "side": "host", "type": "pf", "pci": "04:00.0", "parent": "s"})"),
                   "\"parent\"");
}

TEST(Topology, FileOfTheEnvironment)
{
    std::string path = doca_test::temporary_directory() + "/opendoca-topology-XXXXXX";
    const int fd = mkostemp(path.data(), O_CLOEXEC);
    ASSERT_GE(fd, 0);
    close(fd);
    const Environment file("DOCA_SOFT_TOPOLOGY", path.c_str());
    std::ofstream(path) << with(port);
    Topology topology;
    EXPECT_EQ(load_topology(topology), DOCA_SUCCESS);
    EXPECT_EQ(topology.size(), 1u);
    const LogCapture log;
    std::ofstream(path) << "{";
    EXPECT_EQ(load_topology(topology), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, path);
    std::ofstream(path) << "";
    EXPECT_NE(load_topology(topology), DOCA_SUCCESS);
    unlink(path.c_str());
    EXPECT_EQ(load_topology(topology), DOCA_ERROR_OPERATING_SYSTEM);
    EXPECT_LOGGED(log, "can't read");
    EXPECT_EQ(topology.size(), 1u);
}

} // namespace
