// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Runs on the host: sends a text to the server on the DPU, shows its answer, and ends.
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../comch_common.h"

DOCA_LOG_REGISTER(COMCH_CTRL_PATH_CLIENT);

static struct comch_config config;
static int is_answered;

static void connected(struct control *control)
{
    const doca_error_t result = send_text(control, config.text, strlen(config.text));

    if (result != DOCA_SUCCESS)
        give_up(control, result);
}

static void received(struct control *control, const char *text, size_t len)
{
    DOCA_LOG_INFO("Message received: %.*s", (int)len, text);
    is_answered = 1;
    (void)doca_ctx_stop(control->ctx);
}

int main(int argc, char **argv)
{
    struct control control = {.connected = connected, .received = received};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_arguments("doca_comch_ctrl_path_client", "3b:00.0", COMCH_ARGUMENT_TEXT, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_client("comch ctrl path sample", &config, &control);
    if (result == DOCA_SUCCESS)
        result = wait_for_end(&control);
    if (result == DOCA_SUCCESS && !is_answered) {
        DOCA_LOG_ERR("The server has gone without an answer");
        result = DOCA_ERROR_CONNECTION_RESET;
    }
    return finish(first_error(result, destroy_control(&control)));
}
