// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Provider contract for work that the CPU does on imported memory.
#pragma once

#include <cstddef>

#include "../base/guard.hpp"
#include "../objects/buf.hpp"

namespace opendoca {

/// Copies at once, on the calling thread, between memory of this process and memory that the device has imported. Owned
/// by a context; used by the thread of its progress engine.
class OPENDOCA_INTERNAL MemoryCopier {
public:
    MemoryCopier() = default;
    MemoryCopier(const MemoryCopier &) = delete;
    MemoryCopier &operator=(const MemoryCopier &) = delete;
    virtual ~MemoryCopier();

    /// Copy @p length bytes from @p address, or to it, which is in the memory of @p buf. The memory map of @p buf has a
    /// key of this device. NOT_PERMITTED if the export was revoked, CONNECTION_RESET if its process has ended, or
    /// another error, after a log line.
    [[nodiscard]] virtual doca_error_t read(const doca_buf &buf, std::byte *address, std::byte *here,
                                            std::size_t length) noexcept = 0;
    [[nodiscard]] virtual doca_error_t write(const doca_buf &buf, std::byte *address, std::byte *here,
                                             std::size_t length) noexcept = 0;
};

} // namespace opendoca
