// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "report.hpp"

#include <doca_log.h>

DOCA_LOG_REGISTER(ARGP);

namespace opendoca::argp
{

doca_error_t fail(doca_error_t code, const std::string &text, int line)
{
    (void)doca_log(DOCA_LOG_LEVEL_ERROR, log_source, line, "%s", text.c_str());
    return code;
}

void warn(const std::string &text, int line)
{
    (void)doca_log(DOCA_LOG_LEVEL_WARNING, log_source, line, "%s", text.c_str());
}

std::string quoted(std::string_view text)
{
    constexpr std::size_t longest = 120;
    std::string out = "'";
    for (const char c : text.substr(0, longest)) {
        const auto code = static_cast<unsigned char>(c);
        out += code < 0x20 || code == 0x7f ? '?' : c;
    }
    out += text.size() > longest ? "...'" : "'";
    return out;
}

} // namespace opendoca::argp
