// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The arguments, and which side this is: the device at -p tells.
#include "dma_copy.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <doca_log.h>

#include "../../common.h"

DOCA_LOG_REGISTER(DMA_COPY::MAIN);

static doca_error_t set_path(void *value, void *config)
{
    struct dma_copy_config *const c = config;

    return set_string("path of the file", value, c->path, sizeof(c->path));
}

static doca_error_t set_pci_addr(void *value, void *config)
{
    struct dma_copy_config *const c = config;

    return set_string("PCI address", value, c->pci_addr, sizeof(c->pci_addr));
}

static doca_error_t set_rep_pci_addr(void *value, void *config)
{
    struct dma_copy_config *const c = config;

    return set_string("PCI address", value, c->rep_pci_addr, sizeof(c->rep_pci_addr));
}

static doca_error_t parse_arguments(int argc, char **argv, struct dma_copy_config *config)
{
    static const struct argument arguments[] = {
        {"f", "file", "<path>", "The file; where it exists on the host, it is copied to the DPU, else from there",
         set_path, DOCA_ARGP_TYPE_STRING, true},
        {"p", "pci-addr", "<address>", "PCI address of the device", set_pci_addr, DOCA_ARGP_TYPE_STRING, true},
        {"r", "rep-pci", "<address>", "PCI address of the host's function (needed on the DPU, and only there)",
         set_rep_pci_addr, DOCA_ARGP_TYPE_STRING, false},
    };
    doca_error_t result;

    result = begin_arguments("doca_dma_copy", config);
    if (result != DOCA_SUCCESS)
        return result;
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]) && result == DOCA_SUCCESS; i++)
        result = add_argument(&arguments[i]);
    return read_arguments(result, argc, argv);
}

static bool can_import(struct doca_devinfo *devinfo)
{
    uint8_t supported = 0;

    return doca_devinfo_get_is_mmap_from_export_dpu_supported(devinfo, &supported) == DOCA_SUCCESS && supported != 0;
}

static bool can_export(struct doca_devinfo *devinfo)
{
    uint8_t supported = 0;

    return doca_devinfo_get_is_mmap_export_dpu_supported(devinfo, &supported) == DOCA_SUCCESS && supported != 0;
}

static bool has_comm_channel_and_memory(struct doca_devinfo *devinfo)
{
    uint32_t size;

    return doca_comm_channel_get_max_message_size(devinfo, &size) == DOCA_SUCCESS &&
           (can_import(devinfo) || can_export(devinfo));
}

/* Both sides can import and export. The one with the representors is the DPU's. */
static bool is_on_dpu(struct doca_devinfo *devinfo)
{
    uint8_t supported = 0;

    return doca_devinfo_rep_get_is_list_net_supported(devinfo, &supported) == DOCA_SUCCESS && supported != 0;
}

static doca_error_t run(const struct dma_copy_config *config)
{
    static const struct device_ability abilities[] = {
        {"send by Comm Channel, and share memory with the other side", has_comm_channel_and_memory},
    };
    struct doca_dev *dev;
    doca_error_t result;

    result = open_device(config->pci_addr, abilities, 1, 1, &dev);
    if (result != DOCA_SUCCESS)
        return result;
    result = is_on_dpu(doca_dev_as_devinfo(dev)) ? dma_copy_dpu(dev, config) : dma_copy_host(dev, config);
    return first_error(result, doca_dev_close(dev));
}

int main(int argc, char **argv)
{
    struct dma_copy_config config;
    doca_error_t result;

    if (doca_log_create_standard_backend() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    memset(&config, 0, sizeof(config));
    result = parse_arguments(argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = run(&config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors");
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
