// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "peer_timeout.hpp"

#include <cstdlib>

#include "../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_PEER_TIMEOUT);

namespace opendoca {

namespace {

/// Seconds. A peer may connect several seconds later than this side starts to send, depending on how the programs
/// exchange connection details.
constexpr double default_peer_timeout = 7;

double peer_timeout_from_environment()
{
    const char *const text = std::getenv("DOCA_RDMA_TIMEOUT");
    if (text == nullptr || *text == '\0')
        return default_peer_timeout;
    char *end = nullptr;
    const double seconds = std::strtod(text, &end);
    if (*end == '\0' && seconds >= 0.001 && seconds <= 3600)
        return seconds;
    LOG_WARN("DOCA_RDMA_TIMEOUT is '%s': it can be 0.001 to 3600 seconds; using %.0f", text, default_peer_timeout);
    return default_peer_timeout;
}

} // namespace

double peer_timeout()
{
    static const double seconds = peer_timeout_from_environment();
    return seconds;
}

} // namespace opendoca
