// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "crypt_queue.hpp"

#include <algorithm>

namespace opendoca {

CryptQueue::CryptQueue(CompletionQueue &completions, Device &device, const Limits &limits)
    : completions_(completions),
      job_(device),
      check_(device, limits.list_elements, limits.size, job_.accesses_imports()),
      waiting_(std::make_unique<Operation *[]>(completions.depth()))
{
    completions_.reserve_polled();
}

CryptQueue::~CryptQueue()
{
    completions_.stop_polling(*this);
    completions_.unreserve_polled();
}

doca_error_t CryptQueue::submit(Tag tag, CryptRequest &request) noexcept
{
    if (const doca_error_t status = check_.check(request, request.plan); status != DOCA_SUCCESS)
        return status;
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not logged: programs drain the queue and try again
    // The program may change the IV as soon as the submission has returned.
    std::copy_n(request.iv, request.iv_size, request.iv_at_submit.begin());
    if (num_waiting_ == 0 && request.plan.aad + request.plan.text <= slice) {
        completions_.done(tag, *this, job_.run(request));
        return DOCA_SUCCESS;
    }
    Operation &operation = completions_.begin(tag, *this);
    operation.payload<CryptRequest *>() = &request;
    waiting_[(first_waiting_ + num_waiting_) % completions_.depth()] = &operation;
    if (num_waiting_++ == 0) {
        is_waiting_.store(true, std::memory_order_relaxed);
        completions_.start_polling(*this); // wakes an armed queue
    }
    return DOCA_SUCCESS;
}

bool CryptQueue::is_in_use(const GcmKey &key) const noexcept
{
    for (std::uint32_t i = 0; i != num_waiting_; ++i) {
        if (request_of(*waiting_[(first_waiting_ + i) % completions_.depth()]).key == &key)
            return true;
    }
    return false;
}

bool CryptQueue::process_slice() noexcept
{
    if (num_waiting_ == 0)
        return false;
    if (!is_in_progress_) {
        job_.begin(request_of(oldest()));
        is_in_progress_ = true;
    }
    if (const doca_error_t status = job_.advance(slice); status != DOCA_ERROR_IN_PROGRESS)
        complete_oldest(status);
    if (num_waiting_ != 0)
        completions_.wake_if_armed(); // or the thread would block while there is work
    return true;
}

void CryptQueue::flush() noexcept
{
    if (is_in_progress_)
        job_.cancel();
    while (num_waiting_ != 0)
        complete_oldest(DOCA_ERROR_SHUTDOWN);
}

void CryptQueue::complete_oldest(doca_error_t status) noexcept
{
    Operation &operation = oldest();
    first_waiting_ = (first_waiting_ + 1) % completions_.depth();
    is_in_progress_ = false;
    if (--num_waiting_ == 0) {
        is_waiting_.store(false, std::memory_order_relaxed);
        completions_.stop_polling(*this);
    }
    completions_.done(operation, status);
}

} // namespace opendoca
