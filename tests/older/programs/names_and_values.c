// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Versions, values and forms of this level; functions by their addresses; and the first failure of several.
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comm_channel.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_version.h>

#include "check.h"

int main(void)
{
    struct doca_mmap *mmap;
    struct doca_pci_bdf bdf;
    doca_error_t first = DOCA_SUCCESS;
#if DOCA_API < 10500
    doca_error_t (*create)(const char *, struct doca_mmap **) = doca_mmap_create;
    doca_error_t (*export_map)(struct doca_mmap *, const struct doca_dev *, uint8_t **, size_t *) = doca_mmap_export;
    WORKS(create("a name", &mmap));
    CHECK(sizeof(struct doca_dma_job_memcpy) == 48);
    CHECK(DOCA_VER_MAJOR == 1 && DOCA_VER_MINOR == DOCA_API / 100 % 100);
#else
    doca_error_t (*create)(const union doca_data *, struct doca_mmap **) = doca_mmap_create;
    doca_error_t (*export_map)(struct doca_mmap *, const struct doca_dev *, void **, size_t *) = doca_mmap_export;
    const union doca_data data = {.u64 = 77};
    union doca_data found = {.u64 = 0};
    WORKS(create(&data, &mmap));
    WORKS(doca_mmap_get_user_data(mmap, &found));
    CHECK(found.u64 == 77);
    CHECK(sizeof(struct doca_dma_job_memcpy) == 40);
    CHECK(strcmp(doca_version(), DOCA_API == 10500 ? "1.5.0055" : "2.0.2027") == 0);
#endif
    char version[16];
    snprintf(version, sizeof(version), "%d.%d.%04d", DOCA_VER_MAJOR, DOCA_VER_MINOR, DOCA_VER_PATCH);
    CHECK(strcmp(version, DOCA_VER_STRING) == 0);
    CHECK(export_map != NULL && strcmp(doca_version(), DOCA_VER_STRING) == 0 && doca_version_runtime() != NULL);
    CHECK(DOCA_VERSION_LTE_CURRENT(1, 3, 0) && !DOCA_VERSION_LTE_CURRENT(2, 2, 80));
    WORKS(doca_mmap_destroy(mmap));

    bdf.raw = 0;
    bdf.bus = 0xff;
    CHECK(bdf.raw == 0xff);
    bdf.bus = 0;
    bdf.function = 7;
    CHECK(bdf.raw == 7 << 13 && sizeof(bdf) == 2);
#if DOCA_API <= 10500
    CHECK(DOCA_ACCESS_LOCAL_READ == 0 && DOCA_ACCESS_LOCAL_WRITE == 1 && DOCA_ACCESS_REMOTE_WRITE == 2 &&
          DOCA_ACCESS_REMOTE_READ == 4 && DOCA_ACCESS_REMOTE_ATOMIC == 8);
    CHECK(DOCA_ACTION_DEVEMU_BLOCK_FIRST == 3 << 16 && DOCA_ACTION_VIRTIO_FIRST == 4 << 16);
    const enum doca_dma_devinfo_caps caps = DOCA_DMA_CAP_HW_OFFLOAD;
    CHECK(caps == 1 && DOCA_DMA_CAP_NONE == 0);
    DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_AGAIN)
    DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_DRIVER)
#else
    CHECK(DOCA_ACCESS_LOCAL_READ_WRITE == 1 && DOCA_ACCESS_DPU_READ_WRITE == 32);
    DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_AGAIN);
    DOCA_ERROR_PROPAGATE(first, DOCA_ERROR_DRIVER);
#endif
    CHECK(first == DOCA_ERROR_AGAIN && strcmp(doca_get_error_name(first), "DOCA_ERROR_AGAIN") == 0);
    return 0;
}
