// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "commands.hpp"
#include "trials.hpp"

namespace opendoca::mlx5 {

/// A key of memory of this process that other functions of the card may use as long as it is there, if they know its
/// access key.
class SharedKey {
public:
    /// @p region is of @p range, and needed for the indirect way alone.
    [[nodiscard]] Outcome create(const Commands &commands, ibv_pd &pd, Sharing::Way way, const ibv_mr *region,
                                 const MemoryRange &range, bool is_writable);

    [[nodiscard]] const DeviceKey &key() const noexcept { return key_; }
    /// The only secret: random, and another one for each key.
    [[nodiscard]] const AccessKey &access_key() const noexcept { return access_key_; }

private:
    DeviceKey key_;
    AccessKey access_key_{};
};

} // namespace opendoca::mlx5
