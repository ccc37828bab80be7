// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cerrno>

namespace opendoca::soft {

/// Returns whether a system call that has failed with @p error may succeed later: descriptors or memory have run out.
[[nodiscard]] constexpr bool is_want(int error) noexcept
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/// Two descriptors that this process keeps in reserve, so that it can still check whether other processes live, and
/// wake them, after its descriptors have run out.
class DescriptorReserve {
public:
    /// Opens the reserve if it is not open. Called before something is shared with other processes. Returns whether the
    /// reserve is there.
    static bool fill() noexcept;
};

/// Opens descriptors for a short time, from the reserve if no others are left. Only one thread at a time uses it, from
/// its first open() until its destruction, so that no thread takes a descriptor that another has just closed. Must be
/// declared before the descriptors that it opens, so that these are closed before the reserve is refilled.
class ReserveUse {
public:
    ReserveUse() = default;
    ReserveUse(const ReserveUse &) = delete;
    ReserveUse &operator=(const ReserveUse &) = delete;
    ~ReserveUse();

    /// Runs @p open, which returns a descriptor or -1. If it fails because descriptors have run out, closes the reserve
    /// and runs it once more.
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
