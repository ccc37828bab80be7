// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Round trips by Comm Channel of DOCA 2.2, both sides polling; see side_by_side.py.
#include <doca_comm_channel.h>
#include <doca_dev.h>

#include "echo.h"

static struct doca_comm_channel_ep_t *ep;
static struct doca_comm_channel_addr_t *peer;
static unsigned char message[4096];
static char name[64];

static void open_ep(struct doca_dev *dev)
{
    MUST(doca_comm_channel_ep_create(&ep));
    MUST(doca_comm_channel_ep_set_device(ep, dev));
}

/* A port of the DPU, and in address the first host function that it has a representor of. */
static struct doca_dev *open_port(struct doca_dev_rep **rep, char *address)
{
    struct doca_devinfo **list = NULL;
    uint32_t num_devices = 0;

    MUST(doca_devinfo_list_create(&list, &num_devices));
    for (uint32_t i = 0; i < num_devices; i++) {
        struct doca_dev *dev = NULL;
        struct doca_devinfo_rep **reps = NULL;
        uint32_t num_reps = 0;
        uint8_t has_reps = 0;

        if (doca_devinfo_rep_get_is_list_net_supported(list[i], &has_reps) != DOCA_SUCCESS || !has_reps)
            continue;
        MUST(doca_dev_open(list[i], &dev));
        MUST(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_NET, &reps, &num_reps));
        if (num_reps == 0)
            continue;
        MUST(doca_dev_rep_open(reps[0], rep));
        MUST(doca_devinfo_rep_get_pci_addr_str(reps[0], address));
        return dev;
    }
    MUST(DOCA_ERROR_NOT_FOUND);
    return NULL;
}

static struct doca_dev *open_function(const char *address)
{
    struct doca_devinfo **list = NULL;
    uint32_t num_devices = 0;

    MUST(doca_devinfo_list_create(&list, &num_devices));
    for (uint32_t i = 0; i < num_devices; i++) {
        struct doca_dev *dev = NULL;
        uint8_t is_equal = 0, has_reps = 0;

        (void)doca_devinfo_rep_get_is_list_net_supported(list[i], &has_reps);
        if (!has_reps && doca_devinfo_get_is_pci_addr_equal(list[i], address, &is_equal) == DOCA_SUCCESS && is_equal &&
            doca_dev_open(list[i], &dev) == DOCA_SUCCESS)
            return dev;
    }
    MUST(DOCA_ERROR_NOT_FOUND);
    return NULL;
}

static void send_message(size_t length)
{
    doca_error_t status = DOCA_ERROR_AGAIN;

    while (status == DOCA_ERROR_AGAIN)
        status = doca_comm_channel_ep_sendto(ep, message, length, DOCA_CC_MSG_FLAG_NONE, peer);
    MUST(status);
}

static size_t receive_message(void)
{
    doca_error_t status = DOCA_ERROR_AGAIN;
    size_t length = 0;

    while (status == DOCA_ERROR_AGAIN) {
        length = sizeof(message);
        status = doca_comm_channel_ep_recvfrom(ep, message, &length, DOCA_CC_MSG_FLAG_NONE, &peer);
    }
    MUST(status);
    return length;
}

static void serve(void)
{
    char address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
    struct doca_dev_rep *rep = NULL;

    open_ep(open_port(&rep, address));
    MUST(doca_comm_channel_ep_set_device_rep(ep, rep));
    MUST(doca_comm_channel_ep_listen(ep, name));
}

static void echo(unsigned long count)
{
    for (; count != 0; count--)
        send_message(receive_message());
}

static void round_trip_8(unsigned long count)
{
    wake_echo(count);
    for (; count != 0; count--) {
        send_message(8);
        (void)receive_message();
    }
}

int main(void)
{
    static const struct loop loops[] = {{"round_trip_8", round_trip_8}};
    char address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
    struct doca_dev_rep *rep = NULL;
    doca_error_t status;

    snprintf(name, sizeof(name), "side by side %d", (int)getpid());
    start_echo(serve, echo);
    (void)open_port(&rep, address);
    open_ep(open_function(address));
    wake_echo(1); /* it accepts while it waits for a message */
    MUST(doca_comm_channel_ep_connect(ep, name, &peer));
    while ((status = doca_comm_channel_peer_addr_update_info(peer)) == DOCA_ERROR_CONNECTION_INPROGRESS)
        ;
    MUST(status);
    send_message(8);
    (void)receive_message();
    return serve_loops(loops, sizeof(loops) / sizeof(loops[0]));
}
