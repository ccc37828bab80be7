// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "word_queue_pair.hpp"

#include <cerrno>
#include <cstring>

#include <sched.h>

#include "../../log/log.hpp"
#include "../verbs/completion_status.hpp"
#include "device.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MLX5_WORDS);

namespace opendoca::mlx5 {

namespace {

constexpr std::uint32_t max_polls_without_yield = 256;

} // namespace

/// Registers the local buffer, and creates a queue pair that is connected to itself.
doca_error_t WordQueuePair::open(const Mlx5Device &device)
{
    int access = IBV_ACCESS_LOCAL_WRITE; // not a constant: ibv_reg_mr() is a macro that would mix enumerations
    region_.reset(ibv_reg_mr(&device.pd(), &word_, sizeof(word_), access));
    if (region_ == nullptr) {
        LOG_ERR("device %s cannot register memory for a sync event: %s", device.port().name.c_str(),
                std::strerror(errno));
        return errno == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER;
    }
    const verbs::ReliableConnection::Sizes sizes = {
        .sends = 1,
        .receives = 1,
        .send_segments = 1,
        .receive_segments = 1,
        .send_operations = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD};
    doca_error_t status = completions_.create(device, sizes.num_requests(), false);
    if (status == DOCA_SUCCESS)
        status = connection_.create(device, completions_, sizes,
                                    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
    return status == DOCA_SUCCESS ? device.connect_to_itself(connection_) : status;
}

/// Posts one signaled request with the local buffer as its only segment.
doca_error_t WordQueuePair::post(ibv_send_wr &request) noexcept
{
    if (is_unreachable_)
        return DOCA_ERROR_CONNECTION_RESET;
    ibv_sge segment = {reinterpret_cast<std::uintptr_t>(&word_), sizeof(word_), region_->lkey};
    request.sg_list = &segment;
    request.num_sge = 1;
    request.send_flags = IBV_SEND_SIGNALED;
    ibv_send_wr *refused = nullptr;
    if (const int error = ibv_post_send(&connection_.queue_pair(), &request, &refused); error != 0) {
        LOG_ERR("posting a work request for a sync event: %s", std::strerror(error));
        return DOCA_ERROR_IO_FAILED;
    }
    is_busy_ = true;
    return DOCA_SUCCESS;
}

/// Polls for the completion. Occasionally checks whether the device has failed, in which case there may be none.
bool WordQueuePair::has_completed(doca_error_t &status) noexcept
{
    ibv_cq_ex &completions = completions_.extended_cq();
    bool has_completion = verbs::VerbsCompletions::begin_poll(completions);
    if (!has_completion) {
        if (!idle_polls_.is_spent() || completions_.check_for_failure() == verbs::DeviceFailure::none)
            return false;
        // As in CopyQueue: cleared first, so that a failure that is reported meanwhile is found by the next check.
        completions_.clear_failure();
        if (!connection_.is_broken())
            return false;
        has_completion = verbs::VerbsCompletions::begin_poll(completions); // otherwise there will be none
    }
    is_busy_ = false;
    status = DOCA_ERROR_IO_FAILED;
    // The queue pair is broken, and its completion is lost.
    if (!has_completion)
        return true;
    status = verbs::to_error(completions.status);
    verbs::VerbsCompletions::end_poll(completions);
    // The key was destroyed, or the process that had the memory has ended. The failure has also broken the queue pair.
    if (status == DOCA_ERROR_NOT_PERMITTED || status == DOCA_ERROR_SHUTDOWN || status == DOCA_ERROR_INVALID_VALUE) {
        status = DOCA_ERROR_CONNECTION_RESET;
        is_unreachable_ = true;
    }
    return true;
}

/// Polls until the operation has completed; yields the CPU after max_polls_without_yield polls.
doca_error_t WordQueuePair::wait_for_completion() noexcept
{
    doca_error_t status = DOCA_SUCCESS;
    for (std::uint32_t polls = 0; !has_completed(status); ++polls) {
        if (polls >= max_polls_without_yield)
            sched_yield();
    }
    return status;
}

doca_error_t WordQueuePair::post_read(const DeviceWord &word) noexcept
{
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_READ;
    request.wr.rdma = {word.address, word.key};
    return post(request);
}

doca_error_t WordQueuePair::read(const DeviceWord &word, std::uint64_t &value) noexcept
{
    doca_error_t status = post_read(word);
    if (status == DOCA_SUCCESS)
        status = wait_for_completion();
    if (status == DOCA_SUCCESS)
        value = word_;
    return status;
}

doca_error_t WordQueuePair::write(const DeviceWord &word, std::uint64_t value) noexcept
{
    // The device reads word_ when it executes the request, so it must not change until the completion.
    word_ = value;
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_WRITE;
    request.wr.rdma = {word.address, word.key};
    const doca_error_t status = post(request);
    return status == DOCA_SUCCESS ? wait_for_completion() : status;
}

doca_error_t WordQueuePair::add(const DeviceWord &word, std::uint64_t value, std::uint64_t &fetched) noexcept
{
    ibv_send_wr request{};
    // The device adds at the word's address, and writes the old value to word_.
    request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    request.wr.atomic.remote_addr = word.address;
    request.wr.atomic.rkey = word.key;
    request.wr.atomic.compare_add = value;
    doca_error_t status = post(request);
    if (status == DOCA_SUCCESS)
        status = wait_for_completion();
    if (status == DOCA_SUCCESS)
        fetched = word_;
    return status;
}

} // namespace opendoca::mlx5
