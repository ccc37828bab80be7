// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "crypt_queue.hpp"

#include <algorithm>

namespace opendoca {

CryptQueue::CryptQueue(CompletionQueue &completions, Device &device, const Limits &limits)
    : SlicedQueue(completions, device.function().order_of_late("AES-GCM")),
      job_(device),
      check_(device, limits.list_elements, limits.size, job_.accesses_imports())
{
}

doca_error_t CryptQueue::submit(Tag tag, CryptRequest &request) noexcept
{
    if (const doca_error_t status = check_.check(request, request.plan); status != DOCA_SUCCESS)
        return status;
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not logged: programs drain the queue and try again
    // The program may change the IV as soon as the submission has returned.
    std::copy_n(request.iv, request.iv_size, request.iv_at_submit.begin());
    if (may_complete_at_once() && request.plan.aad + request.plan.text <= slice_size)
        completions_.done(tag, *this, job_.run(request));
    else
        append(tag).payload<CryptRequest *>() = &request;
    return DOCA_SUCCESS;
}

doca_error_t CryptQueue::begin(Operation &operation) noexcept
{
    // Checked again: operations before this one may have appended to its buffers.
    CryptRequest &request = request_of(operation);
    if (const doca_error_t status = check_.check(request, request.plan); status != DOCA_SUCCESS)
        return status;
    job_.begin(request);
    return DOCA_ERROR_IN_PROGRESS;
}

bool CryptQueue::cancel() noexcept
{
    job_.cancel();
    return true;
}

} // namespace opendoca
