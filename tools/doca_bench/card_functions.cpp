// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "card_functions.hpp"

#include <cstdint>
#include <stdexcept>

namespace opendoca::tools {

// The host function is found through the port's representors: it is the device with the PCI address of one of them.
CardFunctions find_functions(const std::string &host_ibdev)
{
    const DeviceList devices;
    for (doca_devinfo *const port : devices.infos()) {
        std::uint8_t has_representors = 0;
        if (api::can_list_net(port, &has_representors) != DOCA_SUCCESS || has_representors == 0 ||
            !api::can_serve_messages(*port))
            continue;
        CardFunctions found{open_device(*port), nullptr, {}, {}};
        // The device stays open while its representors are compared.
        const RepresentorList reps(*found.dpu, api::rep_net);
        for (doca_devinfo_rep *const rep : reps.infos()) {
            char pci[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = {};
            must(api::rep_pci_address(rep, pci), "the address of a representor");
            for (doca_devinfo *const info : devices.infos()) {
                std::uint8_t is_equal = 0, exports = 0, is_port = 0;
                // A subfunction of the DPU has its port's PCI address, and is no function of the host.
                if (api::can_list_net(info, &is_port) == DOCA_SUCCESS && is_port != 0)
                    continue;
                if (api::has_pci_address(info, pci, &is_equal) != DOCA_SUCCESS || is_equal == 0 ||
                    api::can_export_pci(info, &exports) != DOCA_SUCCESS || exports == 0)
                    continue;
                if (!host_ibdev.empty() && ibdev_of(*info) != host_ibdev)
                    continue;
                found.host = open_device(*info);
                found.host_pci = pci;
                found.description = ibdev_of(*info) + " to " + ibdev_of(*port);
                return found;
            }
        }
    }
    throw std::runtime_error("no host function" + (host_ibdev.empty() ? "" : " '" + host_ibdev + "'") +
                             " and port of a DPU that exchange messages; DOCA_SOFT=1 shows software devices");
}

RepresentorHandle open_representor(doca_dev *dpu, const std::string &pci)
{
    const RepresentorList reps(*dpu, api::rep_net);
    for (doca_devinfo_rep *const info : reps.infos()) {
        char address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = {};
        must(api::rep_pci_address(info, address), "the address of a representor");
        if (address != pci)
            continue;
        doca_dev_rep *rep = nullptr;
        must(doca_dev_rep_open(info, &rep), "opening a representor");
        return RepresentorHandle(rep);
    }
    throw std::runtime_error("no representor of " + pci);
}

} // namespace opendoca::tools
