// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_common_1_5.h"

#include <stdio.h>
#include <string.h>

#include <doca_argp.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(DMA_COMMON);

static doca_error_t take(const char *what, const char *value, char *place, size_t size)
{
    if (strlen(value) >= size) {
        DOCA_LOG_ERR("The %s has at most %zu characters", what, size - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    strcpy(place, value);
    return DOCA_SUCCESS;
}

static doca_error_t take_pci_addr(void *value, void *config)
{
    struct dma_config *const own = config;

    return take("PCI address", value, own->pci_addr, sizeof(own->pci_addr));
}

static doca_error_t take_text(void *value, void *config)
{
    struct dma_config *const own = config;

    return take("text", value, own->text, sizeof(own->text));
}

static doca_error_t take_descriptor_path(void *value, void *config)
{
    struct dma_config *const own = config;

    return take("path", value, own->descriptor_path, sizeof(own->descriptor_path));
}

static doca_error_t take_buffer_path(void *value, void *config)
{
    struct dma_config *const own = config;

    return take("path", value, own->buffer_info_path, sizeof(own->buffer_info_path));
}

static doca_error_t add_argument(const char *name, const char *long_name, const char *description,
                                 callback_func callback)
{
    struct doca_argp_param *param;
    const doca_error_t result = doca_argp_param_create(&param);

    if (result != DOCA_SUCCESS)
        return result;
    doca_argp_param_set_short_name(param, name);
    doca_argp_param_set_long_name(param, long_name);
    doca_argp_param_set_description(param, description);
    doca_argp_param_set_callback(param, callback);
    doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
    return doca_argp_register_param(param);
}

doca_error_t parse_arguments(const char *program, int argc, char **argv, struct dma_config *config)
{
    doca_error_t result = doca_argp_init(program, config);

    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument("p", "pci", "PCI address of the device", take_pci_addr);
    if (result == DOCA_SUCCESS)
        result = add_argument("t", "text", "Text that the host exports", take_text);
    if (result == DOCA_SUCCESS)
        result = add_argument("d", "descriptor-path", "File of the export descriptor", take_descriptor_path);
    if (result == DOCA_SUCCESS)
        result = add_argument("b", "buffer-path", "File that tells where the memory is", take_buffer_path);
    if (result == DOCA_SUCCESS)
        result = doca_argp_start(argc, argv);
    (void)doca_argp_destroy();
    return result;
}

static doca_error_t parse_pci_addr(const char *text, struct doca_pci_bdf *bdf)
{
    unsigned int bus, device, function;
    char end;

    if (sscanf(text, "%2x:%2x.%1x%c", &bus, &device, &function, &end) != 3 || bus >= PCI_BUS_MAX_VALUE ||
        device >= PCI_DEVICE_MAX_VALUE || function >= PCI_FUNCTION_MAX_VALUE) {
        DOCA_LOG_ERR("'%s' is no PCI address such as 03:00.0", text);
        return DOCA_ERROR_INVALID_VALUE;
    }
    bdf->bus = bus & 0xff;
    bdf->device = device & 0x1f;
    bdf->function = function & 0x7;
    return DOCA_SUCCESS;
}

doca_error_t open_device(const char *pci_addr, doca_error_t (*can)(struct doca_devinfo *), struct doca_dev **dev)
{
    struct doca_devinfo **list;
    struct doca_pci_bdf wanted, found;
    uint32_t count, i;
    doca_error_t result = parse_pci_addr(pci_addr, &wanted);

    if (result == DOCA_SUCCESS)
        result = doca_devinfo_list_create(&list, &count);
    if (result != DOCA_SUCCESS)
        return result;
    result = DOCA_ERROR_NOT_FOUND;
    for (i = 0; i < count && result == DOCA_ERROR_NOT_FOUND; i++) {
        if (doca_devinfo_get_pci_addr(list[i], &found) == DOCA_SUCCESS && found.raw == wanted.raw &&
            can(list[i]) == DOCA_SUCCESS)
            result = doca_dev_open(list[i], dev);
    }
    (void)doca_devinfo_list_destroy(list);
    if (result == DOCA_ERROR_NOT_FOUND)
        DOCA_LOG_ERR("No device at %s can do it", pci_addr);
    return result;
}

doca_error_t map_memory(struct doca_dev *dev, void *addr, size_t len, struct doca_mmap **mmap)
{
    struct doca_mmap *made;
    doca_error_t result = doca_mmap_create(NULL, &made);

    if (result != DOCA_SUCCESS)
        return result;
    result = doca_mmap_start(made);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_dev_add(made, dev);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_populate(made, addr, len, PAGE_SIZE_OF_MEMORY, NULL, NULL);
    if (result == DOCA_SUCCESS)
        *mmap = made;
    else
        (void)doca_mmap_destroy(made);
    return result;
}

void unmap_memory(struct doca_dev *dev, struct doca_mmap *mmap)
{
    (void)doca_mmap_dev_rm(mmap, dev);
    (void)doca_mmap_destroy(mmap);
}
