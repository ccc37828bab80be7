// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_caps lists the devices, their capabilities and the reasons for missing ones, what this machine lacks, and what
// restricts memory sharing between processes.
#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../common/doca.hpp"
#include "../common/options.hpp"
#include "report.hpp"

namespace {

using namespace opendoca::tools;

/// The command line.
struct Options {
    std::string device; ///< the one to report on; empty for all
    bool as_json = false;
    bool is_verbose = false;
    bool everything = false;
    bool explains = false;
    bool check = false;
    bool config = false;
    bool lists_devices = false;
    bool lists_representors = false;
    bool lists_libraries = false;
};

/// Parses the command line. Returns an exit status if the program should end now.
std::optional<int> parse(int argc, char **argv, Options &options)
{
    OptionParser parser("doca_caps", "Lists the devices that DOCA programs find here, and what they can do.");
    const auto take_device = [&](std::string_view name) -> std::optional<std::string> {
        options.device = name;
        if (name.empty())
            return "a device's name, interface or PCI address is needed";
        return std::nullopt;
    };
    parser.add_value('d', "device", "NAME", "show all about one device: its name, interface or PCI address",
                     take_device);
    parser.add_value('p', "pci-addr", "ADDRESS", "the same, as programs of DOCA call the option", take_device);
    parser.add_flag('e', "explain", "say why capabilities are missing", options.explains);
    parser.add_flag('a', "all", "show all devices and capabilities side by side, and access between processes",
                    options.everything);
    parser.add_flag('c', "config", "show the variables and the configuration in force", options.config);
    parser.add_flag(0, "check", "say in one line what is missing on this machine; the status is 1 if anything is",
                    options.check);
    parser.add_flag(0, "json", "print all of it as JSON", options.as_json);
    parser.add_flag(0, "list-devs", "list the devices' properties, as NVIDIA's doca_caps", options.lists_devices);
    parser.add_flag(0, "list-rep-devs", "the same of representors", options.lists_representors);
    parser.add_flag(0, "list-libs", "list the libraries of this generation of the API", options.lists_libraries);
    parser.add_flag('v', "verbose", "also print what the library logs, on stderr", options.is_verbose);
    return parser.parse({argv + 1, argv + argc}, std::cout, std::cerr);
}

/// Formats the list of --list-libs: one library a line.
std::string names_of_libraries()
{
    std::string text;
    for (const char *const name : library_names())
        text += std::string("doca_") + name + '\n';
    return text;
}

/// Formats the parts that the options select, or the short list if they select none.
std::string text_of(const Options &options, const Report &report)
{
    std::string text;
    const auto add = [&](const std::string &part) { text += (text.empty() ? "" : "\n") + part; };
    if (!options.device.empty() && !options.explains) {
        // More than one device may match: an SF has its parent's PCI address.
        for (const DeviceReport &device : report.devices)
            add(device_details(device));
    }
    if (options.everything)
        add(everything(report));
    if (options.explains)
        add(explanations(report.devices));
    if (options.config)
        add(configuration(report));
    if (options.lists_devices)
        add(device_properties(report));
    if (options.lists_representors)
        add(representor_properties(report));
    if (!text.empty())
        return text;
    return release_line(report) + report.readiness + "\n\n" + short_list(report) +
           "\n-d NAME shows more of a device, --explain what is missing and why, --all everything.\n";
}

/// Removes all devices but those that @p name matches. Throws if none is left.
void keep_only(const std::string &name, Report &report)
{
    std::erase_if(report.devices, [&](const DeviceReport &device) { return !is_named(device, name); });
    if (report.devices.empty())
        throw std::runtime_error("there is no device '" + name + "': doca_caps without options lists them");
}

} // namespace

int main(int argc, char **argv)
{
    Options options;
    if (const auto status = parse(argc, argv, options))
        return *status;
    try {
        if (options.lists_libraries) {
            std::cout << names_of_libraries() << std::flush;
            return std::cout.good() ? 0 : 1;
        }
        // Without -v, the library's log is shown only for a failure to list the devices, so a first list is made before
        // the level is lowered. The log goes to stderr, as this program creates no backend.
        {
            const DeviceList shows_that_there_is_one;
        }
        set_log_level(options.is_verbose);
        Report report = make_report();
        if (options.check) {
            std::cout << report.readiness << std::endl;
            return std::cout.good() && report.lacks.empty() ? 0 : 1;
        }
        if (!options.device.empty())
            keep_only(options.device, report);
        std::cout << (options.as_json ? to_json(report) : text_of(options, report)) << std::flush;
        return std::cout.good() ? 0 : 1;
    } catch (const std::exception &error) {
        std::cerr << "doca_caps: " << error.what() << '\n';
        // A missing list has its causes in the machine; the most important one is a likely reason.
        if (const std::vector<Lack> lacks = lacks_of(read_machine_facts(), {}, {}); !lacks.empty())
            std::cerr << "doca_caps: perhaps since " << lacks.front().what << " (" << lacks.front().remedy << ")\n";
        return 1;
    }
}
