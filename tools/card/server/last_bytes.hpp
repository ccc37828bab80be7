// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../../src/core/base/unique_fd.hpp"

namespace opendoca::card {

/// Writes the first bytes to a program, as many as its socket takes, and removes them. Returns their number. Sets
/// `is_deaf`, and removes all of them, if the program does not take bytes any more.
std::size_t write_first(const UniqueFd &socket, std::vector<std::uint8_t> &bytes, bool &is_deaf);

/// The last bytes for programs of which the connections have ended otherwise. Used by the event loop's thread only.
class LastBytes {
public:
    /// Closes the socket once the program has read the bytes, or has ended.
    void add(UniqueFd socket, UniqueFd process, std::vector<std::uint8_t> bytes);
    /// Writes what programs take. Returns whether they took any. To be called a few times a second.
    bool deliver();
    [[nodiscard]] std::size_t size() const { return all_.size(); }

private:
    struct One {
        UniqueFd socket, process;
        std::vector<std::uint8_t> bytes;
    };

    std::vector<One> all_;
};

} // namespace opendoca::card
