// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "log_sinks.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

// <syslog.h> defines two macros of log.hpp differently. The latter are restored below for the files that are compiled
// in one unit with this one.
#pragma push_macro("LOG_ERR")
#pragma push_macro("LOG_INFO")
#undef LOG_ERR
#undef LOG_INFO
#include <syslog.h>

namespace opendoca {

namespace {

/// Writes to the system's log. The facility and the name are process-wide: a later sink replaces those of an earlier
/// one.
class SyslogSink final : public LogSink {
public:
    // openlog() stores the pointer, so the name must live as long as the process, which sinks do.
    explicit SyslogSink(std::unique_ptr<char[]> name) noexcept : name_{std::move(name)}
    {
        openlog(name_.get(), LOG_PID, LOG_USER);
    }

    bool write(const LogLine &line) noexcept override
    {
        // Without the time and the newline, which syslog adds itself.
        std::string_view text = line.text.substr(line.time_size);
        text.remove_suffix(1);
        syslog(priority(line.level), "%.*s", static_cast<int>(text.size()), text.data());
        return true;
    }

private:
    /// Returns syslog's priority for a level. TRACE has none of its own.
    static int priority(std::uint32_t level) noexcept
    {
        switch (level) {
        case LogLevel::critical:
            return LOG_CRIT;
        case LogLevel::error:
            return LOG_ERR;
        case LogLevel::warning:
            return LOG_WARNING;
        case LogLevel::info:
            return LOG_INFO;
        default:
            return LOG_DEBUG;
        }
    }

    std::unique_ptr<char[]> name_;
};

} // namespace

SinkPtr open_syslog(const char *name) noexcept
{
    const std::size_t size = std::strlen(name) + 1;
    std::unique_ptr<char[]> copy{new (std::nothrow) char[size]};
    if (!copy)
        return nullptr;
    std::memcpy(copy.get(), name, size);
    return SinkPtr{new (std::nothrow) SyslogSink{std::move(copy)}};
}

} // namespace opendoca

#pragma pop_macro("LOG_ERR")
#pragma pop_macro("LOG_INFO")
