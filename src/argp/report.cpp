// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "report.hpp"

#include <cstddef>

#include "../core/log/log.hpp"

namespace opendoca::argp {

namespace {

Listener listener = nullptr; ///< null: the log

void write_message(std::uint32_t level, const std::string &text, int line)
{
    if (listener != nullptr)
        listener(level, text.c_str());
    else
        log(level, "ARGP", line, "%s", text.c_str());
}

} // namespace

void set_listener(Listener new_listener)
{
    listener = new_listener;
}

bool has_listener()
{
    return listener != nullptr;
}

doca_error_t fail(doca_error_t code, const std::string &text, int line)
{
    write_message(LogLevel::error, text, line);
    return code;
}

void warn(const std::string &text, int line)
{
    write_message(LogLevel::warning, text, line);
}

std::string quoted(std::string_view text)
{
    constexpr std::size_t longest = 120; // characters
    std::string out = "'";
    for (const char c : text.substr(0, longest)) {
        const auto code = static_cast<unsigned char>(c);
        out += code < 0x20 || code == 0x7f ? '?' : c;
    }
    out += text.size() > longest ? "...'" : "'";
    return out;
}

} // namespace opendoca::argp
