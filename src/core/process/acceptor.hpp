// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../base/guard.hpp"
#include "../base/unique_fd.hpp"

namespace opendoca {

/// Accepts clients from listening sockets, and rejects them while the process has no descriptors: a client in the queue
/// would keep the socket readable, so that a thread that blocks on it would spin. Not thread-safe.
class OPENDOCA_INTERNAL Acceptor {
public:
    /// Reserves a descriptor, if there is one, for the rejection of clients.
    void open() noexcept;

    /// Accepts the next client of @p listener as a non-blocking socket. The result is not open if there is none.
    /// Rejects the clients in the queue while there are no descriptors.
    [[nodiscard]] UniqueFd accept(int listener) noexcept;

    /// Logs that a client could not be @p what, a participle, with the reason in errno. Once until reset_shortage().
    void log_shortage(const char *what) noexcept;
    void reset_shortage() noexcept { has_logged_shortage_ = false; }

private:
    [[nodiscard]] bool reject_client(int listener) noexcept;

    UniqueFd spare_; ///< closed to make room for a client that is to be rejected
    bool has_logged_shortage_ = false;
};

} // namespace opendoca
