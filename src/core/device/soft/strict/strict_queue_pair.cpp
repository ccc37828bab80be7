// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "strict_queue_pair.hpp"

namespace opendoca::soft {

doca_error_t StrictQueuePair::post(Tag tag, const Request &request) noexcept
{
    return late_.include(request.opcode) ? post_late(tag, request) : post_after_queued(tag, request);
}

void StrictQueuePair::flush() noexcept
{
    execute_queued();
    SoftQueuePair::flush();
}

} // namespace opendoca::soft
