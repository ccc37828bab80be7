// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>

#include "../../memory_copier.hpp"
#include "../device.hpp"
#include "copier.hpp"

namespace opendoca::soft {

/// Copies between this process and others as the DMA of the software device does.
class SoftMemoryCopier final : public MemoryCopier {
public:
    /// @p device must outlive the object. Throws std::bad_alloc.
    explicit SoftMemoryCopier(const SoftDevice &device) : device_(device) {}

    [[nodiscard]] doca_error_t read(const doca_buf &buf, std::byte *address, std::byte *here,
                                    std::size_t length) noexcept override
    {
        return copier_.copy(nullptr, here, memory_of(buf), address, length, length);
    }
    [[nodiscard]] doca_error_t write(const doca_buf &buf, std::byte *address, std::byte *here,
                                     std::size_t length) noexcept override
    {
        return copier_.copy(memory_of(buf), address, nullptr, here, length, length);
    }

private:
    [[nodiscard]] const RemoteMemory *memory_of(const doca_buf &buf) const noexcept
    {
        return static_cast<const SoftKey &>(*buf.mmap->key_for(device_)).remote();
    }

    const SoftDevice &device_;
    Copier copier_;
};

} // namespace opendoca::soft
