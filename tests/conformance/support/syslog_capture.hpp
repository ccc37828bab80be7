// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the system's log would get: for one file of a program.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <syslog.h>

namespace doca_test {

inline std::string syslog_name;
inline std::vector<std::pair<int, std::string>> syslog_messages;

inline void keep_syslog_message(int priority, const char *format, va_list arguments)
{
    char text[2048];
    std::vsnprintf(text, sizeof(text), format, arguments);
    syslog_messages.emplace_back(priority, text);
}

} // namespace doca_test

// The library calls these, and takes ours.
extern "C" {
__attribute__((visibility("default"))) void openlog(const char *name, int, int)
{
    doca_test::syslog_name = name;
}

__attribute__((visibility("default"))) void syslog(int priority, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    doca_test::keep_syslog_message(priority, format, arguments);
    va_end(arguments);
}

// What syslog becomes under _FORTIFY_SOURCE.
__attribute__((visibility("default"))) void __syslog_chk(int priority, int, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    doca_test::keep_syslog_message(priority, format, arguments);
    va_end(arguments);
}
}
