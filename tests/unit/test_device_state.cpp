// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The file by which doca_soft_device changes software devices, and what is not accepted as one.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "../../src/core/device/soft/state/device_state.hpp"
#include "../conformance/support/environment.hpp"
#include "../conformance/support/log_capture.hpp"
#include "../conformance/support/memory.hpp"

namespace {

using namespace opendoca::soft;
using doca_test::Environment;
using doca_test::LogCapture;

/// A runtime directory of its own, and a topology that no other test has: a process maps the file of one only once.
class DeviceStatesTest : public testing::Test {
protected:
    DeviceStatesTest()
    {
        static int number = 0;
        topology[0].name = "p" + std::to_string(++number);
    }
    ~DeviceStatesTest() override { std::filesystem::remove_all(folder); }

    static std::string make_folder()
    {
        std::string path = doca_test::temporary_directory() + "/opendoca-states-XXXXXX";
        EXPECT_NE(mkdtemp(path.data()), nullptr);
        return path;
    }
    void expect_refused(const std::string &reason)
    {
        const LogCapture log;
        DeviceStates *states = nullptr;
        EXPECT_EQ(DeviceStates::open_file(topology, states), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(states, nullptr);
        EXPECT_LOGGED(log, reason);
    }
    Topology topology = Topology(1);
    const std::string folder = make_folder();
    const Environment runtime{"XDG_RUNTIME_DIR", folder.c_str()};
};

TEST_F(DeviceStatesTest, FileIsOfTheUserAlone)
{
    DeviceStates *states = nullptr;
    ASSERT_EQ(DeviceStates::open_file(topology, states), DOCA_SUCCESS);
    EXPECT_TRUE(states->origin().starts_with(folder + "/opendoca/soft-devices-"));
    struct stat info {};
    ASSERT_EQ(stat(states->origin().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    ASSERT_EQ(stat((folder + "/opendoca").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    DeviceStates *again = nullptr;
    ASSERT_EQ(DeviceStates::open_file(topology, again), DOCA_SUCCESS);
    EXPECT_EQ(again, states);
}

TEST_F(DeviceStatesTest, ChangesOfAFunction)
{
    DeviceStates *states = nullptr;
    ASSERT_EQ(DeviceStates::open_file(topology, states), DOCA_SUCCESS);
    FunctionState &state = states->of(0);
    EXPECT_FALSE(state.is_removed());
    EXPECT_FALSE(state.is_port_down());
    state.set_port(true);
    state.remove();
    EXPECT_TRUE(state.is_removed());
    EXPECT_TRUE(state.is_port_down());
    EXPECT_EQ(state.num_resets, 1u);
    state.add();
    state.set_port(false);
    EXPECT_EQ(state.flags, 0u);
    EXPECT_EQ(states->of(DeviceStates::max_functions - 1).flags, 0u);
}

TEST_F(DeviceStatesTest, DirectoryThatOthersEnterIsRefused)
{
    ASSERT_EQ(mkdir((folder + "/opendoca").c_str(), 0700), 0);
    ASSERT_EQ(chmod((folder + "/opendoca").c_str(), 0750), 0);
    expect_refused("is not a directory that user");
}

TEST_F(DeviceStatesTest, DirectoryThatIsALinkIsRefused)
{
    ASSERT_EQ(mkdir((folder + "/elsewhere").c_str(), 0700), 0);
    std::filesystem::create_symlink(folder + "/elsewhere", folder + "/opendoca");
    expect_refused("is not a directory that user");
}

TEST_F(DeviceStatesTest, FileOfAnotherTopologyOrSizeIsRefused)
{
    Topology other = topology;
    other[0].vuid = "other";
    DeviceStates *states = nullptr;
    ASSERT_EQ(DeviceStates::open_file(other, states), DOCA_SUCCESS);
    const std::string path = folder + "/opendoca/" + DeviceStates::file_name_of(topology);
    ASSERT_NE(path, states->origin());
    std::filesystem::copy_file(states->origin(), path);
    expect_refused("is not of this release and topology; remove it");
    std::ofstream(path) << "short";
    expect_refused("of 5 bytes, is not of this release");
    ASSERT_EQ(chmod(path.c_str(), 0644), 0);
    expect_refused("is not a file that user");
    ASSERT_EQ(unlink(path.c_str()), 0);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    expect_refused("is not a file that user");
}

} // namespace
