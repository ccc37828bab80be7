// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "unauthenticated_clients.hpp"

#include <atomic>
#include <cstdint>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CLIENT_LIMITS);

namespace opendoca {

namespace {

// After 10 s without a packet, four probes are sent, 5 s apart: together max_host_silence. In seconds.
constexpr int keepalive_idle = 10, keepalive_interval = 5, keepalive_probes = 4;
/// The longest time between two transmissions of the same data. 15 of them, the kernel's default, then take 27 s.
constexpr int max_retransmission_ms = 2000;
constexpr int tcp_rto_max_ms = 44; ///< TCP_RTO_MAX_MS of kernels from 6.15 on, which C libraries do not name yet

/// Best effort: the connection works without the option.
void set_option(int socket, int level, int option, int value) noexcept
{
    (void)setsockopt(socket, level, option, &value, sizeof(value));
}

void set_keepalive(int socket) noexcept
{
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle);
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval);
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes);
}

} // namespace

bool may_log_unauthenticated_client() noexcept
{
    constexpr std::uint32_t max_lines = 20; // in a minute
    static std::atomic<std::int64_t> minute{-1};
    static std::atomic<std::uint32_t> count{0};
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    const std::int64_t now = std::chrono::floor<std::chrono::minutes>(time).count();
    if (minute.exchange(now, std::memory_order_relaxed) != now)
        count.store(0, std::memory_order_relaxed);
    const std::uint32_t number = count.fetch_add(1, std::memory_order_relaxed);
    if (number == max_lines)
        LOG_ERR("more than %u lines about unauthenticated clients in a minute: the rest of the minute's are dropped",
                max_lines);
    return number < max_lines;
}

void end_with_silent_host(int socket) noexcept
{
    set_keepalive(socket);
    constexpr std::chrono::milliseconds limit = max_host_silence;
    set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(limit.count()));
}

void end_with_silent_host_only(int socket) noexcept
{
    set_keepalive(socket);
    set_option(socket, IPPROTO_TCP, tcp_rto_max_ms, max_retransmission_ms);
}

} // namespace opendoca
