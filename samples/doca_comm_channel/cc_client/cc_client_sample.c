// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sends a text to the service on the DPU, and shows what it answers.
#include <string.h>

#include <doca_log.h>

#include "../../common.h"
#include "../cc_sample.h"

DOCA_LOG_REGISTER(CC_CLIENT);

doca_error_t cc_client(const struct cc_config *config);

static doca_error_t talk(struct cc_end *end, const struct cc_config *config)
{
    char text[CC_MAX_MSG_SIZE + 1] = {0};
    size_t len = CC_MAX_MSG_SIZE;
    doca_error_t result;

    result = cc_send(end, config->text, strlen(config->text) + 1);
    if (result == DOCA_SUCCESS)
        result = cc_receive(end, text, &len);
    if (result != DOCA_SUCCESS)
        return result;
    make_printable(text, strlen(text));
    DOCA_LOG_INFO("The server says: %s", text);
    return DOCA_SUCCESS;
}

doca_error_t cc_client(const struct cc_config *config)
{
    struct doca_dev *dev = NULL;
    struct cc_end end = {0};
    doca_error_t result;

    result = open_cc_device(config->pci_addr, &dev);
    if (result != DOCA_SUCCESS)
        return result;
    result = cc_connect(&end, dev, SERVICE_NAME);
    if (result == DOCA_SUCCESS)
        result = talk(&end, config);
    result = first_error(result, cc_close(&end));
    return first_error(result, doca_dev_close(dev));
}
