// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "guard.hpp"
#include "unique_fd.hpp"

namespace opendoca {

/// Takes clients from a socket that listens, also where descriptors lack: a client that waits there would keep the
/// socket readable, and a blocked waiter would spin.
class OPENDOCA_INTERNAL Acceptor {
public:
    /// Keeps a descriptor back, if there is one.
    void open() noexcept;

    /// Accepts the next client of @p listener as a non-blocking socket; not open when there is none. Where
    /// descriptors lack, those that wait are turned away.
    [[nodiscard]] UniqueFd accept(int listener) noexcept;

    /// With errno: a client could not be @p what. Logged once, until note_success().
    void note_shortage(const char *what) noexcept;
    void note_success() noexcept { has_logged_shortage_ = false; }

private:
    [[nodiscard]] bool turn_away(int listener) noexcept;

    UniqueFd spare_; ///< given up to turn clients away when there is no other descriptor
    bool has_logged_shortage_ = false;
};

} // namespace opendoca
