// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the processes of the storm do by the API of one generation.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "scenario.hpp"

namespace attack {

/// Memory that is exported to a DPU.
class Export {
public:
    Export(Walk &walk, doca_dev *dev, std::span<std::byte> memory);
    Export(const Export &) = delete;
    Export &operator=(const Export &) = delete;
    ~Export();

    /// Empty when it failed.
    [[nodiscard]] std::span<const std::byte> descriptor() const noexcept { return descriptor_; }
    /// Its map's.
    [[nodiscard]] doca_error_t stop();

private:
    struct Objects;

    Walk &walk_;
    std::unique_ptr<Objects> objects_;
    std::span<const std::byte> descriptor_;
};

/// What a DPU makes of such an export: copies between it and memory of its own.
class Import {
public:
    Import(Walk &walk, doca_dev *dev, std::span<const std::byte> descriptor, std::span<std::byte> own);
    Import(const Import &) = delete;
    Import &operator=(const Import &) = delete;
    ~Import();

    [[nodiscard]] bool is_made() const noexcept { return is_made_; }
    /// The first @p bytes of the own memory to the exporter's, or back.
    [[nodiscard]] doca_error_t copy(bool is_write, std::size_t bytes);

private:
    struct Objects;

    Walk &walk_;
    std::unique_ptr<Objects> objects_;
    std::span<std::byte> own_;
    std::byte *there_ = nullptr; ///< an address of the exporter
    bool is_made_ = false;
};

} // namespace attack
