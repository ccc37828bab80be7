// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the client of the storage samples makes of an image that came back changed: the server may have done anything to
// it. Exit status: 0 if each change is found, and the image without a change is read.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/storage_image.h"

#define LEN 1000

struct change {
    const char *name;
    size_t offset; /* of the eight bytes that change, in the image */
    uint64_t value;
    doca_error_t expected;
};

/* The header: length, length of the stream, CRC-32. The stream begins behind it. */
static const struct change changes[] = {
    {"none", 20, 0, DOCA_SUCCESS},
    {"length", 0, LEN - 1, DOCA_ERROR_IO_FAILED},
    {"larger length", 0, LEN + 1, DOCA_ERROR_IO_FAILED},
    {"length 0", 0, 0, DOCA_ERROR_IO_FAILED},
    {"length beyond every limit", 0, UINT64_MAX, DOCA_ERROR_IO_FAILED},
    {"stream without bytes", 8, 0, DOCA_ERROR_IO_FAILED},
    {"stream that is cut off", 8, 1, DOCA_ERROR_IO_FAILED},
    {"stream longer than the image", 8, 4 * BLOCK_UNIT * 4, DOCA_ERROR_IO_FAILED},
    {"stream beyond every limit", 8, UINT64_MAX - 8, DOCA_ERROR_IO_FAILED},
    {"checksum", 16, 0, DOCA_ERROR_IO_FAILED},
    {"stream", 24, UINT64_MAX, DOCA_ERROR_IO_FAILED},
};

static int can_do_all(const struct doca_devinfo *devinfo)
{
    return check_engines(devinfo) == DOCA_SUCCESS;
}

static int check_change(const struct change *change, struct doca_dev *dev, struct coder *coder, struct image *image)
{
    uint8_t *place = image->memory.bytes + change->offset;
    struct memory content = {0};
    uint64_t before;
    size_t len = 0;
    doca_error_t result;

    memcpy(&before, place, sizeof(before));
    if (change->expected != DOCA_SUCCESS)
        memcpy(place, &change->value, sizeof(change->value));
    result = read_image(dev, coder, image, &content, &len);
    memcpy(place, &before, sizeof(before));
    if (result != change->expected)
        printf("%s: %s\n", change->name, doca_error_get_descr(result));
    return destroy_memory(&content) == DOCA_SUCCESS && result == change->expected;
}

int main(void)
{
    struct doca_dev *dev = NULL;
    struct doca_pe *pe = NULL;
    struct coder coder = {0};
    struct memory file = {0};
    struct image image = {0};
    int num_wrong = 0;
    doca_error_t result = start_logs();

    if (result == DOCA_SUCCESS)
        result = open_device("3b:00.0", can_do_all, &dev);
    if (result == DOCA_SUCCESS)
        result = doca_pe_create(&pe);
    if (result == DOCA_SUCCESS)
        result = create_coder(dev, pe, 4, 2, &coder);
    if (result == DOCA_SUCCESS)
        result = create_memory(dev, LEN, DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &file);
    for (size_t i = 0; result == DOCA_SUCCESS && i < LEN; i++)
        file.bytes[i] = (uint8_t)(i * 7 >> 3);
    if (result == DOCA_SUCCESS)
        result = create_image(dev, &coder, &file, LEN, &image);
    for (size_t i = 0; result == DOCA_SUCCESS && i < sizeof(changes) / sizeof(changes[0]); i++)
        num_wrong += !check_change(&changes[i], dev, &coder, &image);
    result = first_error(result, destroy_coder(&coder));
    result = first_error(result, destroy_image(&image));
    result = first_error(result, destroy_memory(&file));
    if (pe != NULL)
        result = first_error(result, doca_pe_destroy(pe));
    if (dev != NULL)
        result = first_error(result, doca_dev_close(dev));
    return result == DOCA_SUCCESS && num_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
