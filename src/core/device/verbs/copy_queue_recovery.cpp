// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies: setting up and taking down the queue pair, and what happens when it breaks. One failed message ends
// the work of a queue pair: the others' are flushed, and are posted once more.
#include "copy_queue.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <doca_log.h>

#include "../../workq.hpp"
#include "completion_status.hpp"
#include "loopback.hpp"

DOCA_LOG_REGISTER(DOCA_VERBS_COPY_SETUP);

namespace opendoca::verbs {

namespace {

// More is not faster, and a job can take several messages.
constexpr std::uint32_t most_receives = 256;
constexpr std::uint32_t least_receives = 16;
/// The end of a message's send is learned late, since few are signaled: there are more slots for sends.
constexpr std::uint32_t sends_per_receive = 2;
constexpr std::uint32_t signals_per_round = 4;
/// Of a message: its segments' lengths have 31 bits on some devices.
constexpr std::uint32_t most_bytes = 1u << 30;

} // namespace

VerbsCopyQueue::VerbsCopyQueue(const VerbsDevice &device, doca_workq &workq, const doca_dev &dev)
    : CopyQueue(dev),
      workq_(workq),
      jobs_(std::make_unique<Job[]>(std::bit_ceil(workq.depth()))),
      job_mask_(std::bit_ceil(workq.depth()) - 1),
      send_flags_(workq.is_event_driven() ? unsigned{IBV_SEND_SOLICITED} : 0),
      device_(device)
{
    const VerbsFunction &function = device.function();
    const RdmaCapabilities &can = function.can.rdma;
    const std::uint32_t wanted = std::clamp(std::bit_ceil(workq.depth()), least_receives, most_receives);
    num_receives_ = std::min(wanted, can.max_recv_queue_size);
    num_sends_ = std::min(num_receives_ * sends_per_receive, can.max_send_queue_size);
    signal_mask_ = std::max(num_sends_ / signals_per_round, 1u) - 1;
    limits_ = {std::min(can.max_message_size, most_bytes),
               std::min(function.max_segments(), SegmentList::capacity)};
}

doca_error_t VerbsCopyQueue::create(const VerbsDevice &device, doca_workq &workq, const doca_dev &dev,
                                    std::shared_ptr<JobQueue> &queue)
{
    std::unique_ptr<VerbsCopyQueue> created(new VerbsCopyQueue(device, workq, dev));
    if (const doca_error_t status = created->connect(); status != DOCA_SUCCESS)
        return status;
    queue = std::move(created);
    return DOCA_SUCCESS;
}

doca_error_t VerbsCopyQueue::connect()
{
    const ReliableConnection::Sizes sizes = {.sends = num_sends_,
                                             .receives = num_receives_,
                                             .send_segments = limits_.segments,
                                             .receive_segments = limits_.segments,
                                             .send_operations = IBV_QP_EX_WITH_SEND};
    if (const doca_error_t status = connection_.create(device_, sizes, 0); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = connect_to_itself(device_, connection_); status != DOCA_SUCCESS)
        return status;
    return events_.attach(workq_);
}

void VerbsCopyQueue::posting_failed(int error, const char *what) noexcept
{
    DOCA_LOG_ERR("posting %s of a copy on queue pair 0x%x: %s", what, connection_.number(),
                 std::strerror(error));
    failure_.has_happened = true;
    if (workq_.is_armed())
        workq_.wake(); // recovery is in retrieve
}

void VerbsCopyQueue::note_failure(std::uint64_t id, ibv_wc_status status) noexcept
{
    failure_.has_happened = true;
    if (status == IBV_WC_WR_FLUSH_ERR)
        return; // the consequence of another one
    const auto position = static_cast<std::uint32_t>(id >> 1);
    const bool is_receive = (id & 1) != 0;
    // Both sides of one message can fail. Then the sender only knows that there is something with the
    // receiver.
    if (failure_.has_cause && !(is_receive && !failure_.is_receive && failure_.position == position))
        return;
    failure_.has_cause = true;
    failure_.is_receive = is_receive;
    failure_.position = position;
    failure_.status = status;
}

/// The job that has not ended and a part of which is at @p position, or null.
VerbsCopyQueue::Job *VerbsCopyQueue::job_of(std::uint32_t position) noexcept
{
    const auto is_before = [](std::uint32_t a, std::uint32_t b) {
        return static_cast<std::int32_t>(a - b) < 0;
    };
    if (is_before(position, received_))
        return nullptr; // it has arrived: what has failed came after that
    for (std::uint32_t number = first_; number != next_; ++number) {
        if (is_before(position, job_at(number).end))
            return &job_at(number);
    }
    return has_begun_ ? &job_at(next_) : nullptr;
}

/// Finds the job that ends because of the failure. There need not be one, but not twice in a row: the oldest
/// has to make way then.
void VerbsCopyQueue::blame_job() noexcept
{
    Job *job = failure_.has_cause ? job_of(failure_.position) : nullptr;
    doca_error_t result = to_error(failure_.status);
    if (job == nullptr && first_ == recovered_at_ && first_ != last_) {
        job = &job_at(first_);
        result = DOCA_ERROR_IO_FAILED;
    }
    recovered_at_ = first_;
    if (job == nullptr)
        return;
    const Copy &copy = job->slot->payload<Copy>();
    DOCA_LOG_ERR("copying %u bytes from %p to %p by queue pair 0x%x: %s at the %s", copy.length,
                 static_cast<void *>(copy.src->data), static_cast<void *>(copy.dst->data),
                 connection_.number(),
                 failure_.has_cause ? ibv_wc_status_str(failure_.status) : "flushed again",
                 failure_.is_receive ? "destination" : "source");
    job->result = result;
}

/// Ends the job that has failed, and starts all others again: copying twice does no harm.
void VerbsCopyQueue::recover() noexcept
{
    while (poll() != 0) // ends what did go well
        ;
    blame_job();
    doca_error_t status = connection_.reset();
    // Completions of before are gone on some devices, and still there on others.
    while (ReliableConnection::start_completion(connection_.completions()))
        ReliableConnection::end_completion(connection_.completions());
    if (status == DOCA_SUCCESS)
        status = connect_to_itself(device_, connection_);
    if (status != DOCA_SUCCESS) {
        DOCA_LOG_ERR("queue pair 0x%x can't be used again: %u copies and all later ones fail",
                     connection_.number(), last_ - first_);
        broken_ = DOCA_ERROR_IO_FAILED;
        num_receives_ = 0; // there is never room
    }
    failure_ = {};
    next_ = first_;
    posted_ = received_ = reclaimed_ = 0;
    has_begun_ = false;
    post_waiting();
}

} // namespace opendoca::verbs
