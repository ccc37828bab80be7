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
};

/// For who opens something for a moment. Where descriptors have run out, it is opened by those of the reserve. One
/// thread at a time does so, from its first open() on, so that none takes what another one has just closed. It stands
/// before all descriptors that are opened by it: what they give back goes there.
class ReserveUse {
public:
    ReserveUse() = default;
    ReserveUse(const ReserveUse &) = delete;
    ReserveUse &operator=(const ReserveUse &) = delete;
    ~ReserveUse();

    /// Runs @p open, which returns a descriptor or -1. Where it fails for want of descriptors, it is run once more with
    /// what is kept back.
    template <typename Open>
    [[nodiscard]] int open(Open open) noexcept
    {
        begin();
        const int fd = open();
        if (fd >= 0 || (errno != EMFILE && errno != ENFILE) || !give_up_reserve()) [[likely]]
            return fd;
        return open();
    }

private:
    void begin() noexcept;
    [[nodiscard]] bool give_up_reserve() const noexcept;

    bool is_user_ = false;
};

} // namespace opendoca::soft
