// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <span>

#include "../../src/core/base/unique_fd.hpp"

namespace opendoca::tools {

/// Messages over a bare Unix socket pair between this process and one that is forked later: the means of a program
/// without Comm Channel or Comch.
class SocketTrips {
public:
    enum class Wait : bool { poll, sleep };

    SocketTrips();

    /// For the process that starts: sends a message and receives the answer into @p room; returns its length.
    std::size_t trip(Wait wait, std::span<const std::byte> message, std::span<std::byte> room) const;
    /// For the other process: sends back what arrives.
    void answer(Wait wait, std::span<std::byte> room) const;

private:
    UniqueFd here_;
    UniqueFd there_;
};

} // namespace opendoca::tools
