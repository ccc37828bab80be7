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
    waiting(num_waiting_) = &operation;
    if (num_waiting_++ == 0) {
        is_waiting_.store(true, std::memory_order_relaxed);
        completions_.start_polling(*this); // wakes an armed queue
    }
    return DOCA_SUCCESS;
}

bool CryptQueue::is_in_use(const GcmKey &key) const noexcept
{
    for (std::uint32_t i = 0; i != num_waiting_; ++i) {
        if (request_of(*waiting(i)).key == &key)
            return true;
    }
    return false;
}

bool CryptQueue::process_slice() noexcept
{
    if (num_waiting_ == 0)
        return false;
    if (!is_in_progress_) {
        job_.begin(request_of(*waiting(0)));
        is_in_progress_ = true;
    }
    if (const doca_error_t status = job_.advance(slice); status != DOCA_ERROR_IN_PROGRESS)
        complete_oldest(status);
    if (num_waiting_ != 0)
        completions_.wake_if_armed(); // or the thread would block while there is work
    return true;
}

void CryptQueue::drop(const CryptRequest &request) noexcept
{
    std::uint32_t index = 0;
    while (index != num_waiting_ && &request_of(*waiting(index)) != &request)
        ++index;
    if (index == num_waiting_)
        return;
    const bool was_in_progress = is_in_progress_;
    if (index == 0 && was_in_progress)
        job_.cancel();
    // Those before it move back by one, so that it can be completed as the oldest; they keep their order.
    Operation *const dropped = waiting(index);
    const bool is_oldest = index == 0;
    for (; index != 0; --index)
        waiting(index) = waiting(index - 1);
    waiting(0) = dropped;
    complete_oldest(DOCA_ERROR_SHUTDOWN);
    is_in_progress_ = was_in_progress && !is_oldest;
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
    Operation &operation = *waiting(0);
    first_waiting_ = (first_waiting_ + 1) % completions_.depth();
    is_in_progress_ = false;
    if (--num_waiting_ == 0) {
        is_waiting_.store(false, std::memory_order_relaxed);
        completions_.stop_polling(*this);
    }
    completions_.done(operation, status);
}

} // namespace opendoca
