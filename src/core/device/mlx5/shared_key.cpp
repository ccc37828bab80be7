// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "shared_key.hpp"

#include <sys/random.h>

namespace opendoca::mlx5 {

Outcome SharedKey::create(const Commands &commands, ibv_pd &pd, Sharing::Way way, const ibv_mr *region,
                          const MemoryRange &range, bool is_writable)
{
    DeviceKey key;
    Outcome outcome = way == Sharing::Way::indirect ? commands.create_indirect_key(pd, *region, range, is_writable, key)
                                                    : commands.create_direct_key(pd, range, is_writable, key);
    if (!outcome.is_good())
        return outcome;
    while (getrandom(access_key_.data(), access_key_.size(), 0) != static_cast<ssize_t>(access_key_.size()))
        ; // interrupted before the kernel's random generator was ready
    // If this fails, the new key is destroyed, and no function has had access to it.
    outcome = commands.allow_access(key, access_key_);
    if (outcome.is_good())
        key_ = std::move(key);
    return outcome;
}

} // namespace opendoca::mlx5
