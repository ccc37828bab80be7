// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_soft_device shows and changes the state of software devices for the programs of this user that run with
// DOCA_SOFT_CONTROL=1 and the same topology.
#include <algorithm>
#include <cstddef>
#include <exception>
#include <iomanip>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "../../src/core/device/soft/state/device_state.hpp"
#include "../../src/core/device/soft/topology/topology.hpp"
#include "../common/options.hpp"

namespace {

using namespace opendoca::soft;
using opendoca::tools::OptionParser;
using opendoca::tools::usage_error;

/// What can be done to a device.
struct Command {
    std::string_view name;
    void (*run)(FunctionState &);
};

constexpr Command commands[] = {
    {"port-down", [](FunctionState &state) { state.set_port(true); }},
    {"port-up", [](FunctionState &state) { state.set_port(false); }},
    {"reset", [](FunctionState &state) { state.reset(); }},
    {"remove", [](FunctionState &state) { state.remove(); }},
    {"add", [](FunctionState &state) { state.add(); }},
};

void list(const Topology &topology, const DeviceStates &states)
{
    for (std::size_t i = 0; i != topology.size(); ++i) {
        const FunctionState &state = states.of(i);
        std::cout << std::left << std::setw(16) << topology[i].name << std::setw(14) << topology[i].pci_address
                  << (state.is_removed() ? "removed" : "present") << "  port "
                  << (state.is_port_down() ? "down" : "up  ") << "  resets " << state.num_resets << '\n';
    }
}

/// Carries out the words of the command line. Returns the exit status.
int run(std::span<char *const> words, const OptionParser &parser)
{
    const std::string_view verb = words.empty() ? "" : words[0];
    const auto command = std::ranges::find(commands, verb, &Command::name);
    const bool is_list = verb == "list";
    if (!is_list && command == std::end(commands))
        return parser.complain(verb.empty() ? "a command is needed" : "'" + std::string(verb) + "' is no command",
                               std::cerr);
    if (words.size() != (is_list ? 1U : 2U))
        return parser.complain(is_list ? "list takes no argument" : std::string(verb) + " takes the name of a device",
                               std::cerr);
    Topology topology;
    DeviceStates *states = nullptr;
    // Both log what is wrong.
    if (load_topology(topology) != DOCA_SUCCESS || DeviceStates::open_file(topology, states) != DOCA_SUCCESS)
        return 1;
    if (is_list) {
        list(topology, *states);
        return 0;
    }
    const std::string_view name = words[1];
    const auto found = std::ranges::find_if(
        topology, [&](const TopologyFunction &f) { return f.name == name || f.ibdev_name == name; });
    if (found == topology.end()) {
        std::cerr << "doca_soft_device: " << topology_origin() << " has no function '" << name << "'; it has";
        for (const TopologyFunction &function : topology)
            std::cerr << ' ' << function.name;
        std::cerr << '\n';
        return 1;
    }
    command->run(states->of(static_cast<std::size_t>(found - topology.begin())));
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        const OptionParser parser(
            "doca_soft_device",
            "       doca_soft_device list | port-down NAME | port-up NAME | reset NAME | remove NAME | add NAME\n"
            "Changes software devices for the programs that run with DOCA_SOFT_CONTROL=1 and the same topology.");
        const std::span words(argv + 1, static_cast<std::size_t>(argc - 1));
        // The options are those of every tool, which end the program: --help and --version.
        if (!words.empty() && *words[0] == '-') {
            const std::optional<int> status = parser.parse(words, std::cout, std::cerr);
            return status.value_or(usage_error);
        }
        return run(words, parser);
    } catch (const std::exception &error) {
        std::cerr << "doca_soft_device: " << error.what() << '\n';
        return 1;
    }
}
