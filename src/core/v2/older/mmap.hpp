// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../../objects/mmap.hpp"

namespace opendoca::v2 {

/// A map of DOCA 1.3 to 2.0: ranges and devices can be added after its start. Owned by the program. Each added range is
/// a map of its own, started and with the same devices. A buffer refers to the map of its range, so jobs need no
/// special case. A range that was set before the start is, as in any map, the map's own.
class OlderMmap final : public doca_mmap {
public:
    explicit OlderMmap(doca_data data) noexcept : doca_mmap(data, Devices::any_time) {}

    /// Set before the first start. INVALID_VALUE for 0.
    [[nodiscard]] doca_error_t set_max_num_ranges(std::uint32_t count) noexcept;
    [[nodiscard]] std::uint32_t max_num_ranges() const noexcept { return max_num_ranges_; }
    /// Adds a range to a started map, and registers it with all devices. Nothing has changed after a failure.
    [[nodiscard]] doca_error_t populate(std::byte *addr, std::size_t len, FreeCallback *callback, void *cookie);

    /// Returns the only range of a map that export_to() has accepted.
    [[nodiscard]] const MemoryRange &exported_range() const noexcept
    {
        return has_range() ? range() : ranges_.front()->range();
    }

    // Each of these applies to the map's own range and to all added ones, or to none.
    [[nodiscard]] doca_error_t destroy() noexcept override;
    [[nodiscard]] Status dev_add(doca_dev &dev) override;
    [[nodiscard]] Status dev_rm(doca_dev &dev) noexcept override;
    [[nodiscard]] doca_error_t start() override;
    [[nodiscard]] doca_error_t stop() noexcept override;
    [[nodiscard]] Status export_to(ExportKind kind, const doca_dev &dev, const void *&descriptor,
                                   std::size_t &size) override;
    [[nodiscard]] bool is_exported() const noexcept override;
    [[nodiscard]] std::uint32_t num_bufs() const noexcept override;
    /// Returns the map of the range that contains the memory, or this map if none does; the caller then reports the
    /// error.
    [[nodiscard]] const doca_mmap &with_range(std::byte *addr, std::size_t len) const noexcept override;

private:
    std::vector<std::shared_ptr<doca_mmap>> ranges_; ///< added by populate(), in this order
    std::uint32_t max_num_ranges_ = 1024;            ///< limit of ranges_, unless the program sets another
};

} // namespace opendoca::v2
