// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cerrno>

namespace opendoca::soft {

/// Whether a system call that has left @p error in errno may work later: descriptors or memory have run out.
[[nodiscard]] constexpr bool is_want(int error) noexcept
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/// Two descriptors that this process keeps back, so that it can still ask whether others live, and wake them,
/// when it has no other left.
class DescriptorReserve {
public:
    /// For whoever begins to share something with other processes. Says whether the reserve is there.
    static bool fill() noexcept;

    /// Runs @p open, which returns a descriptor or -1. Where it fails for want of descriptors, the reserve is given
    /// up for a second try; the caller calls fill() when it has closed what it got.
    template <typename Open>
    [[nodiscard]] static int open_with(Open open) noexcept
    {
        const int fd = open();
        if (fd >= 0 || (errno != EMFILE && errno != ENFILE) || !give_up())
            return fd;
        return open();
    }

private:
    [[nodiscard]] static bool give_up() noexcept;
};

/// Stands before all descriptors that are opened with the reserve's help: what they gave back goes there.
struct ReserveRefill {
    ReserveRefill() = default;
    ReserveRefill(const ReserveRefill &) = delete;
    ReserveRefill &operator=(const ReserveRefill &) = delete;
    ~ReserveRefill() { DescriptorReserve::fill(); }
};

} // namespace opendoca::soft
