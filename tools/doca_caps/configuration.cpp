// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "configuration.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <dlfcn.h>
#include <sys/utsname.h>

#include <doca_dev.h>

namespace opendoca::tools {

namespace {

/// A variable of the environment that the library or a tool reads, and its effect in both cases.
struct Variable {
    const char *name;
    const char *when_unset;
    const char *when_set;
};

// The manual page opendoca(7) describes the same variables; a test compares both lists.
constexpr Variable variables[] = {
    {"DOCA_SOFT", "software devices are listed where no device does RDMA", "1: software devices are listed, 0: never"},
    {"DOCA_SOFT_ROLE", "both sides of the PCIe are shown", "host, dpu or all: the side that is shown"},
    {"DOCA_SOFT_TOPOLOGY", "the topology is built in", "the file of the topology"},
    {"DOCA_SOFT_ENGINES", "RDMA devices neither compress, code nor encrypt",
     "1: the CPU stands in for engines that RDMA devices do not offer"},
    {"DOCA_SOFT_DEFER", "DMA is done when it is submitted", "1: DMA is done when it is retrieved"},
    {"DOCA_SOFT_STRICT", "software devices do more than cards", "1: software devices are as strict as a card"},
    {"DOCA_SOFT_STRICT_SEED", "the seed of strict software devices is 1",
     "the seed of the order in which copies of strict software devices complete"},
    {"DOCA_SOFT_FAULTS", "nothing fails on purpose", "what fails on purpose"},
    {"DOCA_SOFT_CONTROL", "software devices do not change while programs run",
     "1: doca_soft_device changes software devices while programs run"},
    {"DOCA_COMM_CHANNEL_ADDRESS", "services are found by tmfifo_net0, or are processes of this machine",
     "where services listen"},
    {"DOCA_COMM_CHANNEL_DATA", "messages between host and DPU go by queue pairs of the card where they can",
     "tcp: messages between host and DPU go by TCP; stream: and there are no consumers and producers"},
    {"DOCA_RDMA_TIMEOUT", "peers have about 7 seconds to answer", "seconds that peers have to answer"},
    {"DOCA_TRACE_FILE", "doca_trace writes to standard error", "where doca_trace writes"},
    {"DOCA_TRACE_FORMAT", "doca_trace writes text", "text or json, of doca_trace"},
    {"XDG_RUNTIME_DIR", "sockets of services are in /run/user or /tmp", "where the sockets of services are"},
};

/// Returns the value of a variable. An empty one counts as not set, as it does in the library.
std::optional<std::string> value_in(const char *const *environment, std::string_view name)
{
    for (const char *const *entry = environment; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (text.size() > name.size() + 1 && text.starts_with(name) && text[name.size()] == '=')
            return std::string(text.substr(name.size() + 1));
    }
    return std::nullopt;
}

} // namespace

std::vector<Setting> settings_in(const char *const *environment)
{
    std::vector<Setting> settings;
    for (const Variable &variable : variables) {
        std::optional<std::string> value = value_in(environment, variable.name);
        const char *const meaning = value ? variable.when_set : variable.when_unset;
        settings.push_back({variable.name, std::move(value), meaning});
    }
    // A misspelled variable has no effect and no error; it is listed, so that the mistake can be seen.
    for (const char *const *entry = environment; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::string name(text.substr(0, text.find('=')));
        if (name.starts_with("DOCA_") && std::ranges::find(settings, name, &Setting::name) == settings.end())
            settings.push_back(
                {name, std::string(text.substr(std::min(name.size() + 1, text.size()))), "opendoca does not read it"});
    }
    return settings;
}

std::vector<Fact> facts_in_force(const std::vector<DeviceReport> &devices)
{
    const auto soft = std::ranges::count(devices, "soft", &DeviceReport::provider);
    const char *const topology = std::getenv("DOCA_SOFT_TOPOLOGY");
    const char *const role = std::getenv("DOCA_SOFT_ROLE");
    const auto is_set = [](const char *text) { return text != nullptr && *text != '\0'; };
    std::vector<Fact> facts;
    facts.push_back({"devices", std::to_string(devices.size() - static_cast<std::size_t>(soft)) + " of libibverbs, " +
                                    std::to_string(soft) + " of software"});
    if (soft != 0) {
        facts.push_back({"topology", is_set(topology) ? topology : "built in"});
        facts.push_back({"role", is_set(role) ? role : "all"});
    }
    // Which of several installed libraries the loader has chosen is the file that contains one of its functions.
    Dl_info library{};
    if (dladdr(reinterpret_cast<const void *>(&doca_dev_open), &library) != 0 && library.dli_fname != nullptr)
        facts.push_back({"library", library.dli_fname});
    utsname kernel{};
    if (uname(&kernel) == 0)
        facts.push_back({"kernel", std::string(kernel.sysname) + " " + kernel.release + ", " + kernel.machine});
    return facts;
}

} // namespace opendoca::tools
