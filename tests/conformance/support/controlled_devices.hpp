// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "environment.hpp"
#include "memory.hpp"
#include "topology_file.hpp"

namespace doca_test {

/// Software devices a and b of the DPU, and h of the host behind a, whose states doca_soft_device changes. Nobody else
/// uses this topology: its VUIDs are its own.
class ControlledDevices {
public:
    ControlledDevices() { std::filesystem::permissions(folder_, std::filesystem::perms::owner_all); }
    ControlledDevices(const ControlledDevices &) = delete;
    ControlledDevices &operator=(const ControlledDevices &) = delete;
    ~ControlledDevices() { std::filesystem::remove_all(folder_); }

    /// Runs doca_soft_device, as a process of its own. Returns its exit status.
    [[nodiscard]] static int command(const std::string &words)
    {
        const int status = std::system((std::string(std::getenv("OPENDOCA_TEST_SOFT_DEVICE")) + " " + words).c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    [[nodiscard]] static std::string text()
    {
        static int number = 0;
        const std::string id = std::to_string(getpid()) + "-" + std::to_string(++number);
        return R"({"functions": [
            {"name": "a", "side": "dpu", "type": "pf", "pci": "03:00.0", "vuid": "A)" +
               id + R"("},
            {"name": "b", "side": "dpu", "type": "pf", "pci": "03:00.1", "vuid": "B)" +
               id + R"("},
            {"name": "h", "side": "host", "type": "pf", "pci": "0b:00.0", "parent": "a"}]})";
    }
    [[nodiscard]] static std::string make_folder()
    {
        std::string path = temporary_directory() + "/opendoca-states-XXXXXX";
        return mkdtemp(path.data()) != nullptr ? path : throw std::runtime_error("mkdtemp of " + path);
    }

    const TopologyFile file_{text()};
    const std::string folder_ = make_folder();
    const Environment soft_{"DOCA_SOFT", "1"};
    const Environment topology_{"DOCA_SOFT_TOPOLOGY", file_.path().c_str()};
    const Environment runtime_{"XDG_RUNTIME_DIR", folder_.c_str()};
    const Environment control_{"DOCA_SOFT_CONTROL", "1"};
};

} // namespace doca_test
