// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The functions that create backends. A backend exists until the process ends; DOCA has no function to destroy one.
#include "log_api.hpp"

#include "../log/log_sinks.hpp"
#include "call.hpp"

using opendoca::add_sink;
using opendoca::SinkPtr;
using opendoca::v2::call;
using opendoca::v2::program_log;

doca_error_t doca_log_create_file_backend(FILE *fptr, struct doca_logger_backend **backend)
{
    return call({backend}, [&] {
        SinkPtr sink;
        const doca_error_t status = opendoca::create_file_sink(fptr, sink);
        return add_sink(program_log, status, std::move(sink), backend);
    });
}

doca_error_t doca_log_create_fd_backend(int fd, struct doca_logger_backend **backend)
{
    return call({backend}, [&] {
        SinkPtr sink;
        const doca_error_t status = opendoca::create_fd_sink(fd, sink);
        return add_sink(program_log, status, std::move(sink), backend);
    });
}

doca_error_t doca_log_create_buffer_backend(char *buffer, size_t capacity, log_flush_callback handler,
                                            struct doca_logger_backend **backend)
{
    return call({backend}, [&] {
        SinkPtr sink;
        const doca_error_t status = opendoca::create_buffer_sink(buffer, capacity, handler, sink);
        return add_sink(program_log, status, std::move(sink), backend);
    });
}

doca_error_t doca_log_create_syslog_backend(const char *name, struct doca_logger_backend **backend)
{
    return call({backend}, [&] {
        SinkPtr sink;
        const doca_error_t status = opendoca::create_syslog_sink(name, sink);
        return add_sink(program_log, status, std::move(sink), backend);
    });
}

doca_error_t doca_log_create_standard_backend(void)
{
    return opendoca::add_standard_backends(program_log);
}
