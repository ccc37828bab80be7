// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies: setting up and taking down the queue pair, and what happens when it breaks. One failed message ends
// the work of a queue pair: the others' are flushed, and are posted once more.
#include "copy_engine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "../../log.hpp"
#include "completion_status.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_COPY_SETUP);

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

VerbsCopyEngine::VerbsCopyEngine(const VerbsDevice &device, CompletionQueue &completions)
    : completions_(completions),
      send_flags_(completions.is_event_driven() ? unsigned{IBV_SEND_SOLICITED} : 0),
      specials_(std::make_unique<Special[]>(std::bit_ceil(completions.depth()))),
      special_mask_(std::bit_ceil(completions.depth()) - 1),
      device_(device)
{
    const VerbsFunction &function = device.port();
    const RdmaCapabilities &can = function.can.rdma;
    const std::uint32_t wanted =
        rooms_per_message * std::clamp(std::bit_ceil(completions.depth()), least_messages, most_messages);
    send_credits_ = std::min(wanted, can.max_queue_size);
    signal_period_ = std::max(send_credits_ / signals_per_round, 1u);
    until_signal_ = signal_period_;
    limits_ = {std::min(can.max_message_size, most_bytes),
               std::min(function.max_segments(), SegmentList::capacity)};
}

doca_error_t VerbsCopyEngine::create(const VerbsDevice &device, CompletionQueue &completions,
                                     std::unique_ptr<CopyEngine> &engine)
{
    completions.reserve_polled();
    std::unique_ptr<VerbsCopyEngine> created(new VerbsCopyEngine(device, completions));
    if (const doca_error_t status = created->connect(); status != DOCA_SUCCESS)
        return status;
    completions.poll_also(*created);
    engine = std::move(created);
    return DOCA_SUCCESS;
}

doca_error_t VerbsCopyEngine::connect()
{
    num_messages_ = send_credits_;
    const std::uint32_t most_receives = device_.port().can.rdma.max_queue_size;
    const ReliableConnection::Sizes sizes = {.sends = num_messages_,
                                             .receives =
                                                 std::min(num_messages_ + spare_receives, most_receives),
                                             .send_segments = limits_.segments,
                                             .receive_segments = limits_.segments,
                                             .send_operations = IBV_QP_EX_WITH_SEND};
    if (const doca_error_t status = connection_.create(device_, sizes, 0); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = device_.connect_to_itself(connection_); status != DOCA_SUCCESS)
        return status;
    sender_ = &connection_.sender();
    polled_ = &connection_.completions();
    queue_pair_ = &connection_.queue_pair();
    // Inline data is read by the CPU, which must not touch a host's memory.
    longest_inline_ = device_.function().can_import_dpu() ? 0 : connection_.max_inline();
    return events_.attach(completions_);
}

void VerbsCopyEngine::posting_failed(int error, const char *what) noexcept
{
    LOG_ERR("posting %s of a copy on queue pair 0x%x: %s", what, connection_.number(),
                 std::strerror(error));
    failure_.has_happened = true;
    if (completions_.is_armed())
        completions_.wake(); // recovery is in retrieve
}

void VerbsCopyEngine::note_failure(std::uint64_t id, ibv_wc_status status) noexcept
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
VerbsCopyEngine::Special *VerbsCopyEngine::special_of(std::uint64_t id) noexcept
{
    if ((id & is_special) == 0) {
        for (std::uint32_t number = first_; number != next_; ++number) {
            if (id_of(*special_at(number).operation) == (id & ~id_flags))
                return &special_at(number);
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
        if (is_before(position, special_at(number).end))
            return &special_at(number);
    }
    return has_begun_ ? &special_at(next_) : nullptr;
}

/// Plain jobs that have not ended go to the front of the ring, as if all of them had arrived up to now.
void VerbsCopyEngine::make_special() noexcept
{
    completions_.each_operation_of(*this, [this](Operation &operation) {
        Copy &copy = operation.payload<Copy>();
        if (operation.status != Operation::in_flight || copy.stage != Stage::plain)
            return;
        special_at(--first_) = {&operation, copy.data_len, received_, DOCA_SUCCESS};
        copy.stage = Stage::special;
        copy.last = copy.dst;
        copy.is_list = copy.overwrites = false;
    });
}

/// Finds the job that ends because of the failure. There need not be one, but not twice in a row: the oldest
/// has to make way then.
void VerbsCopyEngine::blame_copy() noexcept
{
    Special *special = failure_.has_cause ? special_of(failure_.id) : nullptr;
    doca_error_t result = to_error(failure_.status);
    if (special == nullptr && first_ == recovered_at_ && first_ != last_) {
        special = &special_at(first_);
        result = DOCA_ERROR_IO_FAILED;
    }
    recovered_at_ = first_;
    if (special == nullptr)
        return;
    const Copy &copy = special->operation->payload<Copy>();
    LOG_ERR("copying %u bytes from %p to %p by queue pair 0x%x: %s at the %s", copy.length,
                 static_cast<void *>(copy.src->data), static_cast<void *>(copy.dst->data),
                 connection_.number(),
                 failure_.has_cause ? ibv_wc_status_str(failure_.status) : "flushed again",
                 (failure_.id & is_send) == 0 ? "destination" : "source");
    special->result = result;
}

/// Ends the job that has failed, and starts all others again: copying twice does no harm.
void VerbsCopyEngine::recover() noexcept
{
    while (poll() != 0) // ends what did go well
        ;
    make_special();
    blame_copy();
    doca_error_t status = connection_.reset();
    // Completions of before are gone on some devices, and still there on others.
    while (ReliableConnection::start_completion(*polled_))
        ReliableConnection::end_completion(*polled_);
    if (status == DOCA_SUCCESS)
        status = device_.connect_to_itself(connection_);
    if (status != DOCA_SUCCESS) {
        LOG_ERR("queue pair 0x%x can't be used again: %u copies and all later ones fail",
                     connection_.number(), last_ - first_);
        broken_ = DOCA_ERROR_IO_FAILED;
    }
    failure_ = {};
    next_ = first_;
    posted_ = received_ = 0;
    send_credits_ = status == DOCA_SUCCESS ? num_messages_ : 0;
    until_signal_ = signal_period_;
    has_begun_ = false;
    post_waiting();
}

} // namespace opendoca::verbs
