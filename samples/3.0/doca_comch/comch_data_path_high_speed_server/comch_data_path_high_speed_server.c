// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Runs on the DPU: takes the messages of a client on the host by a consumer, and answers the last one by a
// producer.
#include <stdlib.h>

#include <doca_log.h>

#include "../comch_fast_path.h"

DOCA_LOG_REGISTER(COMCH_DATA_PATH_HIGH_SPEED_SERVER);

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
    result =
        parse_arguments("doca_comch_data_path_high_speed_server", "03:00.0", COMCH_ARGUMENT_REP, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_server("comch data path sample", &config, &control);
    if (result == DOCA_SUCCESS)
        result = wait_for_peer(&control);
    if (result == DOCA_SUCCESS)
        result = create_fast_path("The server has got all of it", &path);
    if (result == DOCA_SUCCESS)
        result = receive_messages(&path);
    if (result == DOCA_SUCCESS)
        result = send_messages(&path, 1);
    /* The client ends first, so that its answer reaches it. */
    while (result == DOCA_SUCCESS && control.connection != NULL)
        result = progress(control.pe);
    result = first_error(result, destroy_fast_path(&path));
    return finish(first_error(result, destroy_control(&control)));
}
