// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// soak_rdma: two processes at random RDMA jobs, which are killed and come back, and every byte checked
// against a model.
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "../../../tools/common/options.hpp"
#include "supervisor.hpp"

namespace soak {

namespace {

template <typename Number>
opendoca::tools::OptionParser::TakeValue number_into(Number &value)
{
    return [&value](std::string_view text) -> std::optional<std::string> {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !(value >= 0))
            return "must be a number from 0";
        return std::nullopt;
    };
}

opendoca::tools::OptionParser::TakeValue name_into(std::string &name)
{
    return [&name](std::string_view text) -> std::optional<std::string> {
        name = text;
        return std::nullopt;
    };
}

std::set<std::string> shared_memory()
{
    std::set<std::string> names;
    std::error_code ignored;
    for (const auto &entry : std::filesystem::directory_iterator("/dev/shm", ignored))
        names.insert(entry.path().filename());
    return names;
}

std::size_t count_descriptors()
{
    const std::filesystem::directory_iterator entries("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

} // namespace

} // namespace soak

int main(int argc, char **argv)
{
    using namespace soak;
    Options options;
    options.seed = std::random_device()();
    opendoca::tools::OptionParser parser(
        "soak_rdma", "Two processes at random RDMA jobs, with kills and recoveries; every byte is checked.");
    parser.add_value(0, "seconds", "N", "to run at least; default 20", number_into(options.seconds));
    parser.add_value(0, "jobs", "N", "to run at least; default 0", number_into(options.jobs));
    parser.add_value(0, "kills", "N", "at least, of either side; default 10", number_into(options.kills));
    parser.add_value(0, "seed", "S", "of everything that is random; default a new one", number_into(options.seed));
    parser.add_value(0, "patience", "N", "seconds until something counts as hanging; default 60",
                     number_into(options.patience));
    parser.add_value(0, "device", "NAME", "of one side; default the first that does RDMA",
                     name_into(options.devices[0]));
    parser.add_value(0, "peer-device", "NAME", "of the other side; default the same", name_into(options.devices[1]));
    parser.add_flag(0, "log", "show what the library logs, which is a lot", options.keeps_log);
    if (const auto status = parser.parse({argv + 1, argv + argc}, std::cout, std::cerr))
        return *status;
    if (options.devices[1].empty())
        options.devices[1] = options.devices[0];
    std::cerr << "soak_rdma: seed " << options.seed << '\n';
    const auto shm_before = shared_memory();
    const std::size_t descriptors_before = count_descriptors();
    try {
        {
            Supervisor supervisor(options);
            supervisor.run();
            supervisor.print_summary();
            supervisor.check_wake_ups();
        }
        for (const std::string &name : shared_memory()) {
            if (!shm_before.contains(name))
                std::cerr << "soak_rdma: new in /dev/shm: " << name << '\n';
            if (!shm_before.contains(name) && name.find("doca") != std::string::npos)
                throw std::runtime_error("something was left in /dev/shm");
        }
        if (count_descriptors() != descriptors_before)
            throw std::runtime_error("descriptors were left open");
    } catch (const std::exception &error) {
        std::cerr << "soak_rdma: FAILED, seed " << options.seed << ": " << error.what() << '\n';
        return 1;
    }
    std::cout << "soak_rdma: passed\n";
    return 0;
}
