// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Two logs: the program's and the one of the libraries (SDK), each with backends of its own.
#include <doca_log.h>

#include <cstdint>
#include <cstring>

#include <unistd.h>

#include "../log/log.hpp"
#include "../log/log_sinks.hpp"
#include "../log/log_source.hpp"
#include "../process/fork.hpp"
#include "call.hpp"

using opendoca::add_sink;
using opendoca::LogChannel;
using opendoca::LogLevel;
using opendoca::LogLimits;
using opendoca::SetLogLimit;
using opendoca::SinkPtr;
using opendoca::v3::call;

OPENDOCA_LOG_SOURCE(DOCA_LOG);

/// A backend of one of the two logs, to which its member `channel` refers. Programs have no function to destroy one.
struct doca_log_backend : opendoca::LogBackend {
    using LogBackend::LogBackend;
};

namespace {

// With the limits that programs may set.
constinit LogChannel program_log{LogLevel::disable, LogLevel::trace};
constinit LogChannel sdk_log{LogLevel::disable, LogLevel::trace};
/// Both locks are held during a fork(), so that the child's logs are in a consistent state.
const opendoca::ForkRegistration log_registrations[] = {{program_log.lock(), opendoca::LockRank::log_channels},
                                                        {sdk_log.lock(), opendoca::LockRank::log_channels}};

/// Returns INVALID_VALUE, after a log line, unless @p backend is one of @p channel.
doca_error_t check_backend(const LogChannel &channel, const doca_log_backend *backend, const char *function) noexcept
{
    if (backend == nullptr)
        return opendoca::refuse_null(function);
    if (&backend->channel == &channel)
        return DOCA_SUCCESS;
    const bool is_for_sdk = &channel == &sdk_log;
    LOG_ERR("%s: the backend takes messages of the %s, and one of the %s is needed", function,
            is_for_sdk ? "program" : "SDK", is_for_sdk ? "SDK" : "program");
    return DOCA_ERROR_INVALID_VALUE;
}

/// Set a limit of a backend, or make it final.
doca_error_t set_limit(LogChannel &channel, doca_log_backend *backend, uint32_t level, SetLogLimit set,
                       const char *function = __builtin_FUNCTION())
{
    const doca_error_t status = check_backend(channel, backend, function);
    return status != DOCA_SUCCESS ? status : call({}, [&] { return channel.set_limit(*backend, level, set); });
}

doca_error_t make_strict(doca_log_backend *backend, void (LogLimits::*make)(),
                         const char *function = __builtin_FUNCTION()) noexcept
{
    if (const doca_error_t status = check_backend(program_log, backend, function); status != DOCA_SUCCESS)
        return status;
    program_log.make_final(*backend, make);
    return DOCA_SUCCESS;
}

/// Adds the backend for the sink that @p create makes.
template <typename Create>
doca_error_t add(LogChannel &channel, doca_log_backend **backend, Create &&create)
{
    if (backend == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    SinkPtr sink;
    const doca_error_t status = create(sink);
    return add_sink(channel, status, std::move(sink), backend);
}

} // namespace

LogChannel &opendoca::library_log() noexcept
{
    return sdk_log;
}

void opendoca::print_origin(LogText &text, std::uint32_t level, const LogOrigin &origin) noexcept
{
    // Messages of libraries show the name of their source, messages of programs file, line and function.
    text.print("[%d][DOCA][%s]", static_cast<int>(gettid()), log_level_tag(level));
    if (origin.file == nullptr) {
        text.print("[%s:%d] ", origin.source, origin.line);
        return;
    }
    const char *const slash = std::strrchr(origin.file, '/');
    text.print("[%s:%d][%s] ", slash != nullptr ? slash + 1 : origin.file, origin.line, origin.function);
}

doca_error_t doca_log(uint32_t level, int source, const char *fname, int line, const char *func, const char *format,
                      ...)
{
    const char *const name = opendoca::log_source_name(source);
    if (fname == nullptr || func == nullptr || format == nullptr || name == nullptr ||
        opendoca::log_level_tag(level) == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    // Checked before the arguments are formatted: most messages are below the limit.
    if (!program_log.is_shown(level))
        return DOCA_SUCCESS;
    va_list arguments;
    va_start(arguments, format);
    const doca_error_t status =
        opendoca::write_log_message(program_log, level, {name, line, fname, func}, format, arguments);
    va_end(arguments);
    return status;
}

doca_error_t doca_log_register_source(const char *source_name, int *source)
{
    return call({source_name, source}, [&] { return opendoca::add_log_source(source_name, *source); });
}

doca_error_t doca_log_unregister_source(int source)
{
    return opendoca::remove_log_source(source);
}

doca_error_t doca_log_backend_set_level_lower_limit(struct doca_log_backend *backend, uint32_t level)
{
    return set_limit(program_log, backend, level, &LogLimits::set_lower);
}

doca_error_t doca_log_backend_set_level_upper_limit(struct doca_log_backend *backend, uint32_t upper_limit)
{
    return set_limit(program_log, backend, upper_limit, &LogLimits::set_upper);
}

doca_error_t doca_log_backend_set_level_lower_limit_strict(struct doca_log_backend *backend)
{
    return make_strict(backend, &LogLimits::make_lower_final);
}

doca_error_t doca_log_backend_set_level_upper_limit_strict(struct doca_log_backend *backend)
{
    return make_strict(backend, &LogLimits::make_upper_final);
}

doca_error_t doca_log_level_set_global_lower_limit(uint32_t level)
{
    return program_log.set_global_limit(level, &LogLimits::set_lower);
}

doca_error_t doca_log_level_set_global_upper_limit(uint32_t upper_limit)
{
    return program_log.set_global_limit(upper_limit, &LogLimits::set_upper);
}

uint32_t doca_log_level_get_global_lower_limit(void)
{
    return program_log.global().lower();
}

uint32_t doca_log_level_get_global_upper_limit(void)
{
    return program_log.global().upper();
}

doca_error_t doca_log_backend_set_sdk_level(struct doca_log_backend *backend, uint32_t level)
{
    return set_limit(sdk_log, backend, level, &LogLimits::set_lower);
}

doca_error_t doca_log_level_set_global_sdk_limit(uint32_t level)
{
    return sdk_log.set_global_limit(level, &LogLimits::set_lower);
}

uint32_t doca_log_level_get_global_sdk_limit(void)
{
    return sdk_log.global().lower();
}

doca_error_t doca_log_backend_create_standard(void)
{
    return opendoca::add_standard_backends(program_log);
}

doca_error_t doca_log_backend_create_with_file(FILE *fptr, struct doca_log_backend **backend)
{
    return add(program_log, backend, [&](SinkPtr &sink) { return opendoca::create_file_sink(fptr, sink); });
}

doca_error_t doca_log_backend_create_with_fd(int fd, struct doca_log_backend **backend)
{
    return add(program_log, backend, [&](SinkPtr &sink) { return opendoca::create_fd_sink(fd, sink); });
}

doca_error_t doca_log_backend_create_with_buf(char *buf, size_t capacity, log_flush_callback handler,
                                              struct doca_log_backend **backend)
{
    return add(program_log, backend,
               [&](SinkPtr &sink) { return opendoca::create_buffer_sink(buf, capacity, handler, sink); });
}

doca_error_t doca_log_backend_create_with_syslog(const char *name, struct doca_log_backend **backend)
{
    return add(program_log, backend, [&](SinkPtr &sink) { return opendoca::create_syslog_sink(name, sink); });
}

doca_error_t doca_log_backend_create_with_file_sdk(FILE *fptr, struct doca_log_backend **backend)
{
    return add(sdk_log, backend, [&](SinkPtr &sink) { return opendoca::create_file_sink(fptr, sink); });
}

doca_error_t doca_log_backend_create_with_fd_sdk(int fd, struct doca_log_backend **backend)
{
    return add(sdk_log, backend, [&](SinkPtr &sink) { return opendoca::create_fd_sink(fd, sink); });
}

doca_error_t doca_log_backend_create_with_buf_sdk(char *buf, size_t capacity, log_flush_callback handler,
                                                  struct doca_log_backend **backend)
{
    return add(sdk_log, backend,
               [&](SinkPtr &sink) { return opendoca::create_buffer_sink(buf, capacity, handler, sink); });
}

doca_error_t doca_log_backend_create_with_syslog_sdk(const char *name, struct doca_log_backend **backend)
{
    return add(sdk_log, backend, [&](SinkPtr &sink) { return opendoca::create_syslog_sink(name, sink); });
}
