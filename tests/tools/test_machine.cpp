// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../../tools/doca_caps/machine.hpp"

#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../../tools/doca_caps/configuration.hpp"

namespace {

using namespace opendoca::tools;

DeviceReport device(const char *name, const char *provider)
{
    DeviceReport report;
    report.ibdev = name;
    report.provider = provider;
    report.is_port_active = true;
    return report;
}

MachineFacts with_device(int error)
{
    MachineFacts facts;
    facts.rdma.push_back({"mlx5_0", "/dev/infiniband/uverbs0", error});
    facts.user = 1000;
    facts.lockable = UINT64_MAX;
    return facts;
}

std::string line(const MachineFacts &facts, const std::vector<DeviceReport> &devices,
                 const std::vector<AccessCheck> &access = {})
{
    return readiness(lacks_of(facts, devices, access), facts, devices);
}

TEST(Machine, WithoutRdmaDeviceItIsReadyBySoftware)
{
    EXPECT_EQ(line({}, {device("soft_p0", "soft")}), "Ready: software devices, as this machine has no RDMA device.");
}

TEST(Machine, WithRdmaDevicesItIsReadyByThem)
{
    EXPECT_EQ(line(with_device(0), {device("mlx5_0", "mlx5")}), "Ready: RDMA on mlx5_0.");
    EXPECT_EQ(line(with_device(0), {device("mlx5_0", "mlx5"), device("soft_p0", "soft")}),
              "Ready: RDMA on mlx5_0, and software devices.");
}

TEST(Machine, ADeviceThatMayNotBeOpenedIsMissing)
{
    EXPECT_EQ(line(with_device(EACCES), {device("soft_p0", "soft")}),
              "Missing: user 1000 may not open /dev/infiniband/uverbs0 of mlx5_0 (give the user the right to read and "
              "write it). In use: software devices.");
}

TEST(Machine, EachReasonForADeviceThatIsNotListedHasARemedy)
{
    for (const auto &[error, remedy] : {std::pair(ENOENT, "--device=/dev/infiniband/uverbs0"),
                                        {0, "ibverbs-providers"},
                                        {EPERM, "must be allowed"},
                                        {EIO, "kernel's log"}}) {
        const auto lacks = lacks_of(with_device(error), {}, {});
        ASSERT_EQ(lacks.size(), 1u) << error;
        EXPECT_NE(lacks[0].remedy.find(remedy), std::string::npos) << lacks[0].remedy;
    }
    MachineFacts facts = with_device(0);
    facts.rdma[0].node.clear();
    EXPECT_EQ(lacks_of(facts, {}, {}).at(0).remedy, "modprobe ib_uverbs");
}

TEST(Machine, APortThatIsDownIsReported)
{
    DeviceReport down = device("mlx5_0", "mlx5");
    down.is_port_active = false;
    EXPECT_EQ(lacks_of(with_device(0), {down}, {}).at(0).what, "the port of mlx5_0 is down");
}

TEST(Machine, ACardWithoutDriverIsReported)
{
    MachineFacts facts;
    facts.idle_cards = {"0000:03:00.0", "0000:03:00.1"};
    EXPECT_EQ(lacks_of(facts, {device("soft_p0", "soft")}, {}).at(0).what,
              "no driver makes an RDMA device of the card 0000:03:00.0, 0000:03:00.1");
}

TEST(Machine, LockedMemoryMattersToRealDevicesOnly)
{
    MachineFacts facts = with_device(0);
    facts.lockable = 8 << 20;
    EXPECT_EQ(lacks_of(facts, {device("mlx5_0", "mlx5")}, {}).at(0).what,
              "only 8192 KiB of memory may be locked for RDMA devices");
    facts.rdma.clear();
    EXPECT_TRUE(lacks_of(facts, {device("soft_p0", "soft")}, {}).empty());
}

TEST(Machine, AccessMattersToSoftwareDevicesAndOnceItWasTried)
{
    SystemFacts system;
    system.is_in_initial_pid_namespace = false; // no obstacle within a container
    system.ordinary_memory_error = EPERM;
    const auto access = check_access(system);
    const auto lacks = lacks_of({}, {device("soft_p0", "soft")}, access);
    ASSERT_EQ(lacks.size(), 1u);
    EXPECT_NE(lacks[0].what.find("ordinary memory"), std::string::npos) << lacks[0].what;
    EXPECT_TRUE(lacks_of(with_device(0), {device("mlx5_0", "mlx5")}, access).empty());
}

TEST(Machine, VariablesOfTheEnvironmentAreShownOrNamedUnknown)
{
    const char *const environment[] = {"PATH=/bin", "DOCA_SOFT=", "DOCA_SOFT_ROLE=dpu", "DOCA_TYPO=1", nullptr};
    bool has_typo = false;
    for (const Setting &setting : settings_in(environment)) {
        EXPECT_NE(setting.name, "PATH");
        if (setting.name == "DOCA_SOFT")
            EXPECT_FALSE(setting.value.has_value()) << "as libraries take it";
        else if (setting.name == "DOCA_SOFT_ROLE")
            EXPECT_EQ(setting.value, "dpu");
        else if (setting.name == "DOCA_TYPO")
            has_typo = setting.value == "1";
    }
    EXPECT_TRUE(has_typo);
}

} // namespace
