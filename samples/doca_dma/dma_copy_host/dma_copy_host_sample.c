// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Exports text to the DPU, and waits while the DPU copies it. The CPU of the host has no part in the copy.
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <doca_log.h>

#include "../../common.h"
#include "../dma_common.h"

DOCA_LOG_REGISTER(DMA_COPY_HOST);

doca_error_t dma_copy_host(const struct dma_config *config);

/* From here on SIGINT and SIGTERM do not end the process, but make the descriptor readable. */
static doca_error_t catch_signals(int *signal_fd)
{
    sigset_t signals;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) == 0)
        *signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    if (*signal_fd < 0) {
        DOCA_LOG_ERR("SIGINT and SIGTERM cannot be waited for: %s", strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    return DOCA_SUCCESS;
}

static doca_error_t save_files(const struct dma_config *config, const struct exported_memory *memory)
{
    char info[64];
    const int len = snprintf(info, sizeof(info), "%" PRIu64 "\n%" PRIu64 "\n", memory->addr, memory->len);
    doca_error_t result;

    result = save_file(config->descriptor_path, memory->descriptor, memory->descriptor_len);
    if (result == DOCA_SUCCESS)
        result = save_file(config->buffer_info_path, info, (size_t)len);
    return result;
}

/* Reads what has been typed. Returns false at the end of the input; is_enter tells whether Enter was pressed.
 */
static bool read_input(bool *is_enter)
{
    char input[256];
    const ssize_t got = read(STDIN_FILENO, input, sizeof(input));

    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    *is_enter = got > 0 && memchr(input, '\n', (size_t)got) != NULL;
    return got > 0;
}

/* Waits for Enter or a signal. When there is no input (any more), only a signal is left. */
static doca_error_t wait_for_user(int signal_fd)
{
    struct pollfd fds[] = {{.fd = signal_fd, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    bool is_enter = false;

    while (!is_enter) {
        if (poll(fds, 2, -1) < 0) {
            if (errno == EINTR)
                continue;
            DOCA_LOG_ERR("poll: %s", strerror(errno));
            return DOCA_ERROR_OPERATING_SYSTEM;
        }
        if (fds[0].revents != 0)
            break;
        if (fds[1].revents != 0 && !read_input(&is_enter)) {
            DOCA_LOG_INFO("There is no keyboard here: end this program with SIGINT or SIGTERM (process %d)",
                          (int)getpid());
            fds[1].fd = -1; /* poll skips it */
        }
    }
    return DOCA_SUCCESS;
}

doca_error_t dma_copy_host(const struct dma_config *config)
{
    struct exported_text exported = {0};
    int signal_fd = -1;
    doca_error_t result;

    result = catch_signals(&signal_fd);
    if (result == DOCA_SUCCESS)
        result = export_text(config->pci_addr, config->text, &exported);
    if (result == DOCA_SUCCESS)
        result = save_files(config, &exported.memory);
    if (result == DOCA_SUCCESS) {
        DOCA_LOG_INFO("The descriptor is in %s, the buffer's address and length in %s", config->descriptor_path,
                      config->buffer_info_path);
        DOCA_LOG_INFO("Next: copy these two files to the DPU, if it is another machine, and run doca_dma_copy_dpu "
                      "there");
        DOCA_LOG_INFO("Press Enter when the DPU has finished");
        result = wait_for_user(signal_fd);
    }
    result = first_error(result, unexport_text(&exported));
    if (signal_fd >= 0)
        (void)close(signal_fd);
    return result;
}
