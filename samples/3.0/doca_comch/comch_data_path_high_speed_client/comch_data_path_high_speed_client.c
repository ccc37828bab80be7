// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Runs on the host: sends a text many times to the consumer of the server on the DPU, and shows its answer.
#include <stdlib.h>

#include <doca_log.h>

#include "../comch_fast_path.h"

DOCA_LOG_REGISTER(COMCH_DATA_PATH_HIGH_SPEED_CLIENT);

/* All goes by the data path. */
static void received(struct control *control, const char *text, size_t len)
{
    (void)text;
    DOCA_LOG_ERR("A message of %zu bytes came by the control path", len);
    give_up(control, DOCA_ERROR_UNEXPECTED);
}

int main(int argc, char **argv)
{
    static struct comch_config config;
    static struct fast_path path;
    struct control control = {.received = received};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    path.control = &control;
    result = parse_arguments("doca_comch_data_path_high_speed_client", "3b:00.0",
                             COMCH_ARGUMENT_TEXT | COMCH_ARGUMENT_COUNT, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_client("comch data path sample", &config, &control);
    if (result == DOCA_SUCCESS)
        result = wait_for_peer(&control);
    if (result == DOCA_SUCCESS)
        result = create_fast_path(config.text, &path);
    if (result == DOCA_SUCCESS)
        result = send_messages(&path, config.num_messages);
    if (result == DOCA_SUCCESS)
        result = receive_messages(&path);
    result = first_error(result, destroy_fast_path(&path));
    return finish(first_error(result, destroy_control(&control)));
}
