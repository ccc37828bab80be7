// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A log without any backend, then on a stream of the program's.
#include <doca_log.h>

#include "check.h"

DOCA_LOG_REGISTER(OLDER::Core)

int main(int argc, char **argv)
{
    FILE *const file = fopen(argv[argc - 1], "w");
    CHECK(file != NULL);
    DOCA_LOG_INFO("before a stream is named\n");
    GIVES(doca_log_stream_redirect(NULL), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_log_stream_redirect(file));
    DOCA_LOG_ERR("on the stream: %d", 1);
    WORKS(doca_log_stream_redirect(stdout));
    WORKS(doca_log_global_level_set(DOCA_LOG_LEVEL_WARNING));
    DOCA_LOG_WARN("on stdout");
    DOCA_LOG_INFO("not shown");
    fclose(file);
    return 0;
}
