// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "openssl_speed.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <system_error>

namespace opendoca::tools {

std::optional<double> parse_openssl_speed(const std::string &output, const std::string &digest)
{
    // Lines have the form "+F:25:sha256:1169857079.52".
    for (std::size_t start = 0; start < output.size();) {
        const std::size_t end = std::min(output.find('\n', start), output.size());
        const std::string line = output.substr(start, end - start);
        start = end + 1;
        const std::size_t colon = line.rfind(':');
        const std::string name = ':' + digest;
        if (!line.starts_with("+F:") || colon < name.size() ||
            line.compare(colon - name.size(), name.size(), name) != 0)
            continue;
        double value = 0;
        const char *const last = line.data() + line.size();
        const auto [rest, error] = std::from_chars(line.data() + colon + 1, last, value);
        if (error == std::errc() && rest == last && value > 0)
            return value;
    }
    return std::nullopt;
}

std::optional<double> openssl_speed(const std::string &digest, std::size_t size, unsigned seconds)
{
    // Elapsed time, as for jobs, not CPU time.
    const std::string command = "openssl speed -mr -elapsed -evp " + digest + " -bytes " + std::to_string(size) +
                                " -seconds " + std::to_string(seconds) + " 2>/dev/null";
    std::FILE *const pipe = popen(command.c_str(), "re");
    if (pipe == nullptr)
        return std::nullopt;
    std::string output;
    std::array<char, 4096> part;
    while (const std::size_t len = std::fread(part.data(), 1, part.size(), pipe))
        output.append(part.data(), len);
    const int status = pclose(pipe);
    return status == 0 ? parse_openssl_speed(output, digest) : std::nullopt;
}

} // namespace opendoca::tools
