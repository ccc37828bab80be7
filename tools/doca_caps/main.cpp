// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_caps: which devices there are, what they can do, and what in this system keeps processes from sharing
// memory.
#include <exception>
#include <iostream>

#include <doca_version.h>

#include "../common/doca.hpp"
#include "../common/options.hpp"
#include "core/release.hpp"
#include "report.hpp"

int main(int argc, char **argv)
{
    using namespace opendoca::tools;
    bool as_json = false;
    bool is_verbose = false;
    OptionParser parser("doca_caps",
                        "Lists the devices that DOCA programs find here, with their representors and "
                        "capabilities,\nand what would keep two processes from sharing memory.");
    parser.add_flag(0, "json", "print JSON", as_json);
    parser.add_flag('v', "verbose", "also print what the library logs, on stderr", is_verbose);
    if (const auto status = parser.parse({argv + 1, argv + argc}, std::cout, std::cerr))
        return *status;

    try {
        // Without -v, only a failure to list the devices is worth the library's words. They go to stderr, as
        // this program creates no backend.
        {
            const DeviceList shows_that_there_is_one;
        }
        set_log_level(is_verbose);
        const Report report = {opendoca::release(), doca_version_runtime(), report_devices(), check_access(read_system_facts())};
        std::cout << (as_json ? to_json(report) : to_text(report)) << std::flush;
        return std::cout.good() ? 0 : 1;
    } catch (const std::exception &error) {
        std::cerr << "doca_caps: " << error.what() << '\n';
        return 1;
    }
}
