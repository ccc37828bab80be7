// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <span>

#include "../../src/core/base/unique_fd.hpp"

namespace opendoca::tools {

/// Messages over a bare Unix socket pair between this process and one that is forked later: what a program would use
/// without Comm Channel or Comch. Both processes keep both descriptors; each uses only its own end, and one thread.
class SocketTrips {
public:
    /// How a receiver waits: in a loop of calls that do not block, or in one that blocks.
    enum class Wait : bool { poll, block };

    SocketTrips();

    /// Called by the first process: sends a message and receives the answer into @p room. Returns the length of the
    /// answer.
    std::size_t trip(Wait wait, std::span<const std::byte> message, std::span<std::byte> room) const;
    /// Called by the other process: receives a message into @p room and sends it back.
    void echo(Wait wait, std::span<std::byte> room) const;

private:
    UniqueFd here_;  ///< end of the first process
    UniqueFd there_; ///< end of the other process
};

} // namespace opendoca::tools
