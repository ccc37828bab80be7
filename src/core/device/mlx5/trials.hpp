// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What an mlx5 device says that it can do is not always so: it is tried, at the first question, once a process.
#pragma once

#include <cstdint>
#include <string>

namespace opendoca::mlx5 {

class Mlx5Function;

/// Memory across the PCIe, by keys that other functions of the card may use.
struct Sharing {
    enum class Way : std::uint8_t {
        none,
        indirect, ///< of a key over registered memory
        direct,   ///< of a key over memory that is registered for it: slower to make
    };

    Way way = Way::none;
    bool imports = false;
    std::string reason; ///< why not
};

/// The DMA engine.
struct Engine {
    bool works = false;
    std::uint64_t max_length = 0; ///< bytes of a request
    std::string reason;           ///< why not
};

// Thread-safe.
[[nodiscard]] const Sharing &sharing_of(const Mlx5Function &function) noexcept;
[[nodiscard]] const Engine &engine_of(const Mlx5Function &function) noexcept;

} // namespace opendoca::mlx5
