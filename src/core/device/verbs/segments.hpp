// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <vector>

#include <infiniband/verbs.h>

#include "../../checks/transfer_check.hpp"
#include "../../objects/mmap.hpp"
#include "device.hpp"

namespace opendoca::verbs {

/// Returns the local key of the memory of @p buf. Almost every memory map is registered with one device, whose key is
/// found without a search.
[[gnu::always_inline]] [[nodiscard]] inline std::uint32_t key_of(const Device &device, const doca_buf &buf) noexcept
{
    const FirstKey &first = buf.mmap->first();
    if (first.device == &device) [[likely]]
        return verbs_key(first.number);
    return verbs_key(buf.mmap->key_for(device)->number);
}

/// Writes the scatter/gather list of a source's data, or of the free space that a destination is to receive, for the
/// length of @p plan, to the beginning of @p segments. Returns the number of segments.
[[nodiscard]] int gather(const Device &device, const doca_buf *list, TransferPlan plan, bool is_source,
                         std::vector<ibv_sge> &segments) noexcept;

} // namespace opendoca::verbs
