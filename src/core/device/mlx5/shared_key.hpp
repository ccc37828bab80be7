// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "commands.hpp"
#include "trials.hpp"

namespace opendoca::mlx5 {

/// A key over memory of this process that other functions of the card may use if they present its access key. It is
/// valid as long as this object: destroying it ends all accesses. Owned by the memory map's key or by the counter.
class SharedKey {
public:
    /// Creates the key over @p range. @p region is the registration of @p range; only an indirect key needs it.
    [[nodiscard]] Outcome create(const Commands &commands, ibv_pd &pd, Sharing::Way way, const ibv_mr *region,
                                 const MemoryRange &range, bool is_writable);

    [[nodiscard]] const DeviceKey &key() const noexcept { return key_; }
    /// Returns the secret that protects the key: random, and different for each key.
    [[nodiscard]] const AccessKey &access_key() const noexcept { return access_key_; }

private:
    DeviceKey key_;
    AccessKey access_key_{};
};

} // namespace opendoca::mlx5
