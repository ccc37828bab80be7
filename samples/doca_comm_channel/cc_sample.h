// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the two samples share beyond Comm Channel itself: arguments and the device.
#ifndef CC_SAMPLE_H_
#define CC_SAMPLE_H_

#include <stdbool.h>

#include "cc_common.h"

#define SERVICE_NAME "cc_sample_server"

struct cc_config {
    char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
    char rep_pci_addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
    char text[CC_MAX_MSG_SIZE]; /* with its NUL, as it is sent */
};

doca_error_t parse_cc_arguments(const char *program, bool is_server, int argc, char **argv, struct cc_config *config);

/* Opens the device at an address, if it can do Comm Channel. */
doca_error_t open_cc_device(const char *pci_addr, struct doca_dev **dev);

#endif /* CC_SAMPLE_H_ */
