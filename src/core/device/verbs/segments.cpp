// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "segments.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../cursor.hpp"
#include "device.hpp"

namespace opendoca::verbs {

/// Reads the list again at the time of posting, so @p segments is valid only until the next call. The number of
/// segments is within the queue pair's limit, since TransferCheck has limited the buffers of the list.
int gather(const Device &device, const doca_buf *list, TransferPlan plan, bool is_source,
           std::vector<ibv_sge> &segments) noexcept
{
    if (plan.length == 0)
        return 0;
    if (!plan.is_list) [[likely]] {
        const std::byte *const from = is_source || plan.overwrites ? list->data : list->data + list->data_len;
        segments[0] = {reinterpret_cast<std::uintptr_t>(from), plan.length, key_of(device, *list)};
        return 1;
    }
    Cursor cursor = is_source ? Cursor::over_data(*list) : Cursor::over_destination(*list, plan.overwrites);
    int count = 0;
    for (std::size_t left = plan.length; left != 0; ++count) {
        cursor.skip_empty();
        const std::size_t length = std::min(left, cursor.left());
        segments[static_cast<std::size_t>(count)] = {.addr = reinterpret_cast<std::uintptr_t>(cursor.addr()),
                                                     .length = static_cast<std::uint32_t>(length),
                                                     .lkey = key_of(device, cursor.buf())};
        cursor.advance(length);
        left -= length;
    }
    return count;
}

} // namespace opendoca::verbs
