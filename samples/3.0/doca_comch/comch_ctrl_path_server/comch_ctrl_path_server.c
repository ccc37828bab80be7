// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Runs on the DPU: takes the text of a client on the host, answers it, and ends when the client has gone.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../comch_common.h"

DOCA_LOG_REGISTER(COMCH_CTRL_PATH_SERVER);

static int has_answered;

static void received(struct control *control, const char *text, size_t len)
{
    char answer[64];
    doca_error_t result;

    DOCA_LOG_INFO("Message received: %.*s", (int)len, text);
    snprintf(answer, sizeof(answer), "The server has got %zu bytes", len);
    result = send_text(control, answer, strlen(answer));
    if (result == DOCA_SUCCESS)
        has_answered = 1;
    else
        give_up(control, result);
}

int main(int argc, char **argv)
{
    static struct comch_config config;
    struct control control = {.received = received};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_arguments("doca_comch_ctrl_path_server", "03:00.0", COMCH_ARGUMENT_REP, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_server("comch ctrl path sample", &config, &control);
    if (result == DOCA_SUCCESS)
        result = wait_for_end(&control);
    if (result == DOCA_SUCCESS && !has_answered) {
        DOCA_LOG_ERR("The client has gone without a message");
        result = DOCA_ERROR_CONNECTION_RESET;
    }
    return finish(first_error(result, destroy_control(&control)));
}
