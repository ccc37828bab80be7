// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Waits for a text of a client on the host, shows it, and answers with its own.
#include <string.h>

#include <doca_log.h>

#include "../../common.h"
#include "../cc_sample.h"

DOCA_LOG_REGISTER(CC_SERVER);

doca_error_t cc_server(const struct cc_config *config);

static doca_error_t serve(struct cc_end *end, const struct cc_config *config)
{
    char text[CC_MAX_MSG_SIZE + 1] = {0};
    size_t len = CC_MAX_MSG_SIZE;
    doca_error_t result;

    result = cc_receive(end, text, &len);
    if (result != DOCA_SUCCESS)
        return result;
    make_printable(text, strlen(text));
    DOCA_LOG_INFO("The client says: %s", text);
    return cc_send(end, config->text, strlen(config->text) + 1);
}

doca_error_t cc_server(const struct cc_config *config)
{
    struct doca_dev *dev = NULL;
    struct cc_end end = {0};
    doca_error_t result;

    result = open_cc_device(config->pci_addr, &dev);
    if (result != DOCA_SUCCESS)
        return result;
    result = cc_listen(&end, dev, config->rep_pci_addr, SERVICE_NAME);
    if (result == DOCA_SUCCESS)
        result = serve(&end, config);
    /* What was sent arrives, although the connection ends here. */
    result = first_error(result, cc_close(&end));
    return first_error(result, doca_dev_close(dev));
}
