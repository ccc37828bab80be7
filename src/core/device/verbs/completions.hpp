// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include <infiniband/verbs.h>

#include <doca_error.h>

#include "../../poll_budget.hpp"
#include "classic_calls.hpp"
#include "device_events.hpp"
#include "handle.hpp"

namespace opendoca::verbs {

class VerbsDevice;

/// Of polls that find nothing, between two checks for failures that the device reports otherwise: these take a system
/// call.
using FailureCheckBudget = PollBudget<1024>;

/// Drivers differ in how they refuse what they do not know.
[[nodiscard]] bool may_be_unknown(int error) noexcept;

/// A completion queue of the device, with what else the queue pairs on it have in common: the thread domain, the
/// completion channel, and the listener for failures. It outlives them. One thread polls it, and nothing else of it,
/// and no call that takes completions away (destroying or resetting a queue pair), may run at that time: the queue has
/// no lock.
class VerbsCompletions {
public:
    VerbsCompletions() = default;
    VerbsCompletions(const VerbsCompletions &) = delete;
    VerbsCompletions &operator=(const VerbsCompletions &) = delete;
    ~VerbsCompletions();

    /// For at most @p size completions at a time. @p has_channel: completions can wake somebody.
    [[nodiscard]] doca_error_t create(const VerbsDevice &device, std::uint32_t size, bool has_channel);

    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] bool has_channel() const noexcept { return channel_ != nullptr; }
    [[nodiscard]] ibv_cq &queue() const noexcept { return *queue_; }
    [[nodiscard]] ibv_cq_ex &polled() const noexcept { return *polled_; }
    /// That queue pairs are created in.
    [[nodiscard]] ibv_pd &domain() const noexcept { return *domain_; }

    /// Takes the next completion of @p queue, which can be read until end_one(). One at a time: where ibv_next_poll()
    /// finds none, ibv_end_poll() is still due with most devices, and with rdma_rxe (rdma-core 44) takes one more that
    /// is not there.
    [[nodiscard]] static bool start_one(ibv_cq_ex &queue) noexcept
    {
        static ibv_poll_cq_attr attributes{}; // nobody writes to it
        return ibv_start_poll(&queue, &attributes) == 0;
    }
    static void end_one(ibv_cq_ex &queue) noexcept { ibv_end_poll(&queue); }
    /// Takes all that there are away.
    void drop_all() noexcept;

    /// Becomes readable with the next completion after request_event(), until take_events(). With a channel.
    [[nodiscard]] int event_fd() const noexcept { return channel_->fd; }
    /// False when the device refuses. @p only_solicited: not for completions of sends, nor for those of
    /// receives whose message was not sent with IBV_SEND_SOLICITED; errors count.
    [[nodiscard]] bool request_event(bool only_solicited) noexcept;
    /// Gives their number.
    std::uint32_t take_events() noexcept;

    /// From now on failures of @p queue_pair, which is on this queue, are heard of, until forget().
    void listen_for(ibv_qp &queue_pair);
    void forget(const ibv_qp &queue_pair) noexcept;
    /// Reads the device's asynchronous events, and says whether there is a failure: a new one, or one from before.
    [[nodiscard]] DeviceFailure look_for_failure() noexcept;
    [[nodiscard]] DeviceFailure failure() const noexcept { return listener_.failure(); }
    /// What was suspected is being looked into: it is suspected no more.
    void forget_failure() noexcept { listener_.forget(); }
    /// Why somebody who waits for a completion is woken: readable while look_for_failure() has something new, which may
    /// turn out to be nothing. -1 on a device whose events are the program's.
    [[nodiscard]] int failure_fd() const noexcept { return listener_.fd(); }
    [[nodiscard]] doca_error_t make_failure_fd() noexcept;

private:
    [[nodiscard]] doca_error_t create_channel(const VerbsDevice &device);
    [[nodiscard]] doca_error_t create_queue(const VerbsDevice &device);
    void create_domain(const VerbsDevice &device);

    FailureListener listener_;
    DeviceEvents *events_ = nullptr; ///< null on a device whose events are the program's
    // In the order in which they depend on each other.
    Handle<ibv_td> thread_domain_;
    Handle<ibv_pd> parent_domain_; ///< null where the device has no thread domains
    Handle<ibv_comp_channel> channel_;
    Handle<ibv_cq> queue_;
    std::unique_ptr<ClassicCompletions> classic_; ///< of a driver without extended calls
    ibv_cq_ex *polled_ = nullptr;
    ibv_pd *domain_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t unacknowledged_ = 0; ///< events; destroying the queue waits for them
};

} // namespace opendoca::verbs
