// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <memory>

#include <doca_error.h>

#include "../base/memory_range.hpp"
#include "../base/unique_fd.hpp"

namespace opendoca {

/// A part of a dmabuf that is mapped by this library or by the program. Owned by a memory map. Devices register it by
/// its descriptor. The CPU accesses it by its addresses, for example to copy short messages into work requests.
class Dmabuf {
public:
    /// Maps @p len bytes of @p fd from @p offset on, which need not be a multiple of the page size. @p fd stays the
    /// program's. INVALID_VALUE, NOT_SUPPORTED (it cannot be mapped), NO_MEMORY, with a message.
    [[nodiscard]] static doca_error_t map(int fd, std::size_t offset, std::size_t len, std::unique_ptr<Dmabuf> &dmabuf);
    /// Does the same for memory that the program has mapped at @p addr and will unmap.
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

    const UniqueFd fd_;        ///< a duplicate of the program's descriptor
    const std::size_t offset_; ///< of range_ in the dmabuf, in bytes
    const MemoryRange range_;
    const MemoryRange mapped_; ///< the range that the destructor unmaps; empty if the program has mapped it
};

} // namespace opendoca
