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
constexpr std::uint32_t most_messages = 256;
constexpr std::uint32_t least_messages = 16;
/// The end of a message is learned late, since few sends are signaled: there is room for more than can be
/// useful.
constexpr std::uint32_t rooms_per_message = 2;
constexpr std::uint32_t signals_per_round = 4;
/// A device could tell the end of a send a little before that of its receive.
constexpr std::uint32_t spare_receives = 8;
/// Of a message: its segments' lengths have 31 bits on some devices.
constexpr std::uint32_t most_bytes = 1u << 30;

} // namespace

VerbsCopyQueue::VerbsCopyQueue(const VerbsDevice &device, doca_workq &workq, const doca_dev &dev)
    : CopyQueue(dev),
      workq_(workq),
      send_flags_(workq.is_event_driven() ? unsigned{IBV_SEND_SOLICITED} : 0),
      jobs_(std::make_unique<Job[]>(std::bit_ceil(workq.depth()))),
      job_mask_(std::bit_ceil(workq.depth()) - 1),
      device_(device)
{
    const VerbsFunction &function = device.function();
    const RdmaCapabilities &can = function.can.rdma;
    const std::uint32_t wanted =
        rooms_per_message * std::clamp(std::bit_ceil(workq.depth()), least_messages, most_messages);
    send_room_ = std::min({wanted, can.max_send_queue_size, can.max_recv_queue_size});
    signal_period_ = std::max(send_room_ / signals_per_round, 1u);
    until_signal_ = signal_period_;
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
    num_messages_ = send_room_;
    const std::uint32_t most_receives = device_.function().can.rdma.max_recv_queue_size;
    const ReliableConnection::Sizes sizes = {.sends = num_messages_,
                                             .receives =
                                                 std::min(num_messages_ + spare_receives, most_receives),
                                             .send_segments = limits_.segments,
                                             .receive_segments = limits_.segments,
                                             .send_operations = IBV_QP_EX_WITH_SEND};
    if (const doca_error_t status = connection_.create(device_, sizes, 0); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = connect_to_itself(device_, connection_); status != DOCA_SUCCESS)
        return status;
    sender_ = &connection_.sender();
    completions_ = &connection_.completions();
    queue_pair_ = &connection_.queue_pair();
    longest_inline_ = connection_.max_inline();
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
    // Both sides of one message can fail. Then the sender only knows that there is something with the
    // receiver.
    if (failure_.has_cause && failure_.id != (id | is_send))
        return;
    failure_.has_cause = true;
    failure_.id = id;
    failure_.status = status;
}

/// The job that has not ended and is the one of work request @p id, or null. All are special now.
VerbsCopyQueue::Job *VerbsCopyQueue::job_of(std::uint64_t id) noexcept
{
    if ((id & is_special) == 0) {
        for (std::uint32_t number = first_; number != next_; ++number) {
            if (id_of(*job_at(number).slot) == (id & ~id_flags))
                return &job_at(number);
        }
        return nullptr; // it has arrived: what has failed came after that
    }
    const auto is_before = [](std::uint32_t a, std::uint32_t b) {
        return static_cast<std::int32_t>(a - b) < 0;
    };
    const auto position = static_cast<std::uint32_t>(id >> flag_bits);
    if (is_before(position, received_))
        return nullptr; // as above
    for (std::uint32_t number = first_; number != next_; ++number) {
        if (is_before(position, job_at(number).end))
            return &job_at(number);
    }
    return has_begun_ ? &job_at(next_) : nullptr;
}

/// Plain jobs that have not ended go to the front of the ring, as if all of them had arrived up to now.
void VerbsCopyQueue::make_special() noexcept
{
    workq_.each_slot_of(*this, [this](JobSlot &slot) {
        Copy &copy = slot.payload<Copy>();
        if (copy.stage != Stage::plain)
            return;
        job_at(--first_) = {&slot, copy.data_len, received_, DOCA_SUCCESS};
        copy.stage = Stage::special;
        copy.last = copy.dst;
        copy.is_list = copy.overwrites = false;
        slot.write_result = nullptr;
    });
}

/// Finds the job that ends because of the failure. There need not be one, but not twice in a row: the oldest
/// has to make way then.
void VerbsCopyQueue::blame_job() noexcept
{
    Job *job = failure_.has_cause ? job_of(failure_.id) : nullptr;
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
                 (failure_.id & is_send) == 0 ? "destination" : "source");
    job->result = result;
}

/// Ends the job that has failed, and starts all others again: copying twice does no harm.
void VerbsCopyQueue::recover() noexcept
{
    while (poll() != 0) // ends what did go well
        ;
    make_special();
    blame_job();
    doca_error_t status = connection_.reset();
    // Completions of before are gone on some devices, and still there on others.
    while (ReliableConnection::start_completion(*completions_))
        ReliableConnection::end_completion(*completions_);
    if (status == DOCA_SUCCESS)
        status = connect_to_itself(device_, connection_);
    if (status != DOCA_SUCCESS) {
        DOCA_LOG_ERR("queue pair 0x%x can't be used again: %u copies and all later ones fail",
                     connection_.number(), last_ - first_);
        broken_ = DOCA_ERROR_IO_FAILED;
    }
    failure_ = {};
    next_ = first_;
    posted_ = received_ = 0;
    send_room_ = status == DOCA_SUCCESS ? num_messages_ : 0;
    until_signal_ = signal_period_;
    has_begun_ = false;
    post_waiting();
}

} // namespace opendoca::verbs
