// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages of programs, and limits of what is shown. Backends are in log_sinks.cpp, the limits of rates in
// log_rate.cpp.
#include <cstdint>

#include "log_api.hpp"

#include "../log/log_source.hpp"
#include "../process/fork.hpp"
#include "call.hpp"
#include "log_rate.hpp"

using opendoca::LogLimits;
using opendoca::v2::call;
using opendoca::v2::program_log;

constinit opendoca::LogChannel opendoca::v2::program_log{LogLevel::critical, LogLevel::debug};
static const opendoca::ForkRegistration program_log_registration(opendoca::v2::program_log.lock(),
                                                                 opendoca::LockRank::log_channels);

opendoca::LogChannel &opendoca::library_log() noexcept
{
    return v2::program_log;
}

/// The format of 2.2 has neither the file nor the function.
void opendoca::print_origin(LogText &text, std::uint32_t level, const LogOrigin &origin) noexcept
{
    text.print("[DOCA][%s][%s:%d]: ", log_level_tag(level), origin.source, origin.line);
}

namespace {

constexpr int no_bucket = 0;

doca_error_t log_message(std::uint32_t level, int source, int line, int bucket, const char *format,
                         va_list arguments) noexcept
{
    const char *name = opendoca::log_source_name(source);
    if (format == nullptr || opendoca::log_level_tag(level) == nullptr || level > opendoca::LogLevel::debug ||
        name == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (!program_log.is_shown(level))
        return DOCA_SUCCESS;
    // Counted only if the message would be shown: hidden messages do not use up the rate.
    if (bucket != no_bucket && !opendoca::log_bucket_admits(bucket))
        return DOCA_SUCCESS;
    return opendoca::write_log_message(program_log, level, {name, line}, format, arguments);
}

} // namespace

doca_error_t doca_log(uint32_t level, int source, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const doca_error_t status = log_message(level, source, line, no_bucket, format, arguments);
    va_end(arguments);
    return status;
}

/// The same as doca_log() here: whether a message is shown depends on its level only.
doca_error_t doca_log_developer(uint32_t level, int source, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const doca_error_t status = log_message(level, source, line, no_bucket, format, arguments);
    va_end(arguments);
    return status;
}

doca_error_t doca_log_rate_limit(uint32_t level, int source, int line, int bucket, const char *format, ...)
{
    if (!opendoca::log_bucket_exists(bucket))
        return DOCA_ERROR_INVALID_VALUE;
    va_list arguments;
    va_start(arguments, format);
    const doca_error_t status = log_message(level, source, line, bucket, format, arguments);
    va_end(arguments);
    return status;
}

doca_error_t doca_log_backend_level_set(struct doca_logger_backend *logger, uint32_t level)
{
    return call({logger}, [&] { return program_log.set_limit(*logger, level, &LogLimits::set_lower); });
}

doca_error_t doca_log_backend_set_upper_level_limit(struct doca_logger_backend *logger, uint32_t upper_level_limit)
{
    return call({logger}, [&] { return program_log.set_limit(*logger, upper_level_limit, &LogLimits::set_upper); });
}

doca_error_t doca_log_backend_set_lower_level_immutable(struct doca_logger_backend *logger)
{
    return call({logger}, [&] { program_log.make_final(*logger, &LogLimits::make_lower_final); });
}

doca_error_t doca_log_backend_set_upper_level_immutable(struct doca_logger_backend *logger)
{
    return call({logger}, [&] { program_log.make_final(*logger, &LogLimits::make_upper_final); });
}

doca_error_t doca_log_global_level_set(uint32_t level)
{
    return program_log.set_global_limit(level, &LogLimits::set_lower);
}

doca_error_t doca_log_global_set_upper_level_limit(uint32_t upper_level_limit)
{
    return program_log.set_global_limit(upper_level_limit, &LogLimits::set_upper);
}

uint32_t doca_log_global_level_get(void)
{
    return program_log.global().lower();
}
