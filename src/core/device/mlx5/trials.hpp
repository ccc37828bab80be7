// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Abilities of an mlx5 device that are tried, because the device's capability bits are not reliable. Each is tried once
// per process, on first use.
#pragma once

#include <cstdint>
#include <string>

namespace opendoca::mlx5 {

class Mlx5Function;

/// Sharing of memory across the PCIe, by keys that other functions of the card may use.
struct Sharing {
    enum class Way : std::uint8_t {
        none,
        indirect, ///< a key that refers to the key of registered memory
        direct,   ///< a key over memory that is registered again for it; slower to create
    };

    Way way = Way::none;  ///< the way of exporting that has worked
    bool imports = false; ///< an alias of a shared key can be created
    std::string reason;   ///< why something does not work
};

/// The DMA engine of a device.
struct Engine {
    bool works = false;
    std::uint64_t max_length = 0; ///< bytes of one request
    std::string reason;           ///< why it does not work
};

// Both are thread-safe.
[[nodiscard]] const Sharing &sharing_of(const Mlx5Function &function) noexcept;
[[nodiscard]] const Engine &engine_of(const Mlx5Function &function) noexcept;

} // namespace opendoca::mlx5
