// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "strict_queue_pair.hpp"

namespace opendoca::soft {

doca_error_t StrictQueuePair::post(Tag tag, const Request &request) noexcept
{
    if (late_.include(request.opcode))
        return post_late(tag, request);
    execute_queued();
    return SoftQueuePair::post(tag, request);
}

void StrictQueuePair::flush() noexcept
{
    execute_queued();
    SoftQueuePair::flush();
}

} // namespace opendoca::soft
