// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../../mmap.hpp"

namespace opendoca::v2 {

/// A map with ranges and devices that come and go after its start. Each range that is added is a map of its own,
/// started and with the same devices, which buffers are of: so jobs do not know the difference. Besides, it can have a
/// range that was set before the start, as any map.
class OlderMmap final : public doca_mmap {
public:
    explicit OlderMmap(doca_data data) noexcept : doca_mmap(data, Devices::any_time) {}

    [[nodiscard]] doca_error_t set_max_num_ranges(std::uint32_t count) noexcept;
    [[nodiscard]] std::uint32_t max_num_ranges() const noexcept { return max_num_ranges_; }
    [[nodiscard]] doca_error_t populate(std::byte *addr, std::size_t len, FreeCallback *callback, void *cookie);

    /// The only range of a map that export_to() accepts.
    [[nodiscard]] const MemoryRange &exported_range() const noexcept
    {
        return has_range() ? range() : ranges_.front()->range();
    }

    [[nodiscard]] doca_error_t destroy() noexcept override;
    [[nodiscard]] Status dev_add(doca_dev &dev) override;
    [[nodiscard]] Status dev_rm(doca_dev &dev) noexcept override;
    [[nodiscard]] doca_error_t start() override;
    [[nodiscard]] doca_error_t stop() noexcept override;
    [[nodiscard]] Status export_to(ExportKind kind, const doca_dev &dev, const void *&descriptor,
                                   std::size_t &size) override;
    [[nodiscard]] bool is_exported() const noexcept override;
    [[nodiscard]] std::uint32_t num_bufs() const noexcept override;
    [[nodiscard]] const doca_mmap &with_range(std::byte *addr, std::size_t len) const noexcept override;

private:
    std::vector<std::shared_ptr<doca_mmap>> ranges_;
    std::uint32_t max_num_ranges_ = 1024;
};

} // namespace opendoca::v2
