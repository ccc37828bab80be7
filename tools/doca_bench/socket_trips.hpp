// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <span>

#include "../../src/core/unique_fd.hpp"

namespace opendoca::tools {

/// Messages over a bare Unix socket pair between this process and one that is forked after it was made: what a program
/// without Comm Channel or Comch would use.
class SocketTrips {
public:
    enum class Wait : bool { poll, sleep };

    SocketTrips();

    /// Of the process that starts: a message there, and the answer into @p room; its length.
    std::size_t trip(Wait wait, std::span<const std::byte> message, std::span<std::byte> room) const;
    /// Of the other one: sends what comes back.
    void answer(Wait wait, std::span<std::byte> room) const;

private:
    UniqueFd here_;
    UniqueFd there_;
};

} // namespace opendoca::tools
