// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <memory>

#include <doca_error.h>

#include "memory_range.hpp"
#include "unique_fd.hpp"

namespace opendoca {

/// A part of a dmabuf, mapped, by us or by the program: devices find it by its file, and the CPU, which puts small
/// messages into work requests, by its addresses.
class Dmabuf {
public:
    [[nodiscard]] static doca_error_t map(int fd, std::size_t offset, std::size_t len, std::unique_ptr<Dmabuf> &dmabuf);
    /// The program has mapped it at @p addr.
    [[nodiscard]] static doca_error_t adopt(int fd, std::byte *addr, std::size_t offset, std::size_t len,
                                            std::unique_ptr<Dmabuf> &dmabuf);
    Dmabuf(const Dmabuf &) = delete;
    Dmabuf &operator=(const Dmabuf &) = delete;
    ~Dmabuf();

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
    [[nodiscard]] const MemoryRange &range() const noexcept { return range_; }

private:
    Dmabuf(UniqueFd fd, std::size_t offset, const MemoryRange &range, const MemoryRange &mapped) noexcept
        : fd_(std::move(fd)),
          offset_(offset),
          range_(range),
          mapped_(mapped)
    {
    }

    const UniqueFd fd_;
    const std::size_t offset_;
    const MemoryRange range_;
    const MemoryRange mapped_; ///< whole pages, to be unmapped; none of a program's
};

} // namespace opendoca
