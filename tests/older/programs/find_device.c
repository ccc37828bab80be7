// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The device with an address, by comparing what the list shows with what the user gave; then its representor.
#include "bdf.h"

int main(void)
{
    const char *const known[] = {"03:00.0", "03:00.1", "0b:00.0", "01:00.0", "3b:00.0", "b1:00.0", "0b:00.2"};
    struct doca_devinfo_rep **reps;
    struct doca_dev_rep *rep = NULL;
    struct doca_dev *dev;
    uint32_t count, i;
    for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
        dev = open_by_address(known[i]);
        CHECK(dev != NULL);
        WORKS(doca_dev_close(dev));
    }
    CHECK(open_by_address("04:00.0") == NULL);

    dev = open_by_address("03:00.0");
    WORKS(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_NET, &reps, &count));
    for (i = 0; i < count && rep == NULL; i++) {
        struct doca_pci_bdf found;
        WORKS(doca_devinfo_rep_get_pci_addr(reps[i], &found));
        if (found.raw == parse("b1:00.0").raw)
            WORKS(doca_dev_rep_open(reps[i], &rep));
    }
    CHECK(rep != NULL);
    WORKS(doca_devinfo_rep_list_destroy(reps));
    WORKS(doca_dev_rep_close(rep));
    WORKS(doca_dev_close(dev));
    return 0;
}
