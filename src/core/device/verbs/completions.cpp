// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "completions.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>

#include "../../log/log.hpp"
#include "device.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_COMPLETIONS);

namespace opendoca::verbs {

bool may_be_unknown(int error) noexcept
{
    return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

VerbsCompletions::~VerbsCompletions()
{
    // ibv_destroy_cq() blocks until all events of the queue are acknowledged.
    if (unacknowledged_ != 0)
        ibv_ack_cq_events(queue_.get(), unacknowledged_);
}

doca_error_t VerbsCompletions::create(const VerbsDevice &device, std::uint32_t size, bool has_channel)
{
    // The order matters: the queue is created on the channel. The thread domain is optional, and its absence is no
    // failure.
    events_ = device.events();
    size_ = size;
    doca_error_t status = has_channel ? create_channel(device) : DOCA_SUCCESS;
    if (status == DOCA_SUCCESS)
        status = create_queue(device);
    if (status == DOCA_SUCCESS)
        create_domain(device);
    return status;
}

doca_error_t VerbsCompletions::create_channel(const VerbsDevice &device)
{
    // Non-blocking, since take_events() reads until the channel is empty. A forked child must not inherit the
    // descriptor: it would read events of its parent.
    channel_.reset(ibv_create_comp_channel(&device.context()));
    if (channel_ != nullptr)
        close_in_children(channel_->fd);
    if (channel_ != nullptr && fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK) == 0)
        return DOCA_SUCCESS;
    LOG_ERR("creating a completion channel of device %s: %s", device.port().name.c_str(), std::strerror(errno));
    return DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t VerbsCompletions::create_queue(const VerbsDevice &device)
{
    // Three attempts, from the fastest to poll to the one that every driver supports: an extended queue without a lock,
    // an extended queue with a lock, and a classic queue behind an adapter.
    ibv_cq_init_attr_ex attributes{};
    attributes.cqe = size_;
    attributes.channel = channel_.get();
    attributes.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM;
    attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    attributes.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED; // one thread polls the queue, see the class comment
    extended_cq_ = ibv_create_cq_ex(&device.context(), &attributes);
    // The driver may not support the flag.
    if (extended_cq_ == nullptr && may_be_unknown(errno)) {
        attributes.comp_mask = 0;
        attributes.flags = 0;
        extended_cq_ = ibv_create_cq_ex(&device.context(), &attributes);
    }
    if (extended_cq_ != nullptr)
        queue_.reset(ibv_cq_ex_to_cq(extended_cq_));
    // The driver may have no extended queues at all.
    else if (may_be_unknown(errno))
        queue_.reset(ibv_create_cq(&device.context(), static_cast<int>(size_), nullptr, channel_.get(), 0));
    if (queue_ == nullptr) {
        LOG_ERR("creating a completion queue of %u entries on device %s: %s", size_, device.port().name.c_str(),
                std::strerror(errno));
        return errno == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER;
    }
    if (extended_cq_ == nullptr) {
        classic_ = std::make_unique<ClassicCompletions>(*queue_);
        extended_cq_ = &classic_->extended();
    }
    return DOCA_SUCCESS;
}

/// Creates a thread domain for the queue pairs on this queue. Only one thread at a time uses them, so they then need no
/// lock, and they share no doorbell with other threads.
void VerbsCompletions::create_domain(const VerbsDevice &device)
{
    ibv_td_init_attr domain{};
    // Drivers without thread domains return null for either object. The queue pairs are then created in the device's
    // own domain, and posting takes the driver's lock.
    thread_domain_.reset(ibv_alloc_td(&device.context(), &domain));
    if (thread_domain_ != nullptr) {
        ibv_parent_domain_init_attr parent{};
        parent.pd = &device.pd();
        parent.td = thread_domain_.get();
        parent_domain_.reset(ibv_alloc_parent_domain(&device.context(), &parent));
    }
    domain_ = parent_domain_ != nullptr ? parent_domain_.get() : &device.pd();
}

void VerbsCompletions::discard_all() noexcept
{
    while (begin_poll(*extended_cq_))
        end_poll(*extended_cq_);
}

bool VerbsCompletions::request_event(bool only_solicited) noexcept
{
    return ibv_req_notify_cq(queue_.get(), only_solicited ? 1 : 0) == 0;
}

std::uint32_t VerbsCompletions::take_events() noexcept
{
    constexpr std::uint32_t most_unacknowledged = 1024; // acknowledging takes a lock, so it is done in batches
    ibv_cq *queue = nullptr;
    void *context = nullptr;
    std::uint32_t count = 0;
    // The channel is non-blocking: the call fails with EAGAIN once all events were read. All events are of queue_,
    // which is the only queue on the channel.
    while (ibv_get_cq_event(channel_.get(), &queue, &context) == 0)
        ++count;
    unacknowledged_ += count;
    if (unacknowledged_ >= most_unacknowledged) {
        ibv_ack_cq_events(queue_.get(), unacknowledged_);
        unacknowledged_ = 0;
    }
    return count;
}

void VerbsCompletions::watch_failures_of(ibv_qp &queue_pair)
{
    if (events_ != nullptr)
        events_->add(listener_, queue_pair);
}

void VerbsCompletions::unwatch_failures_of(const ibv_qp &queue_pair) noexcept
{
    if (events_ != nullptr)
        events_->remove(queue_pair);
}

DeviceFailure VerbsCompletions::check_for_failure() noexcept
{
    if (events_ != nullptr)
        events_->read();
    return listener_.failure();
}

doca_error_t VerbsCompletions::make_failure_fd() noexcept
{
    // Created once, when the first event-driven user attaches. Without events of the device there is nothing to wait
    // for.
    return events_ == nullptr || listener_.fd() >= 0 ? DOCA_SUCCESS : events_->make_waitable(listener_);
}

} // namespace opendoca::verbs
