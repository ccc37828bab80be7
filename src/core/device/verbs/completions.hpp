// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include <infiniband/verbs.h>

#include <doca_error.h>

#include "../../base/poll_budget.hpp"
#include "classic_calls.hpp"
#include "device_events.hpp"
#include "handle.hpp"

namespace opendoca::verbs {

class VerbsDevice;

/// Counts polls without a completion. Once it is spent, the device is checked for failures that it reports by events;
/// the check takes a system call.
using FailureCheckBudget = PollBudget<1024>;

/// Returns whether @p error may mean that the driver does not support the requested attribute. Drivers differ in the
/// error that they return.
[[nodiscard]] bool may_be_unknown(int error) noexcept;

/// A completion queue of the device, together with what the queue pairs on it share: the thread domain, the completion
/// channel and the listener for failures. It must outlive these queue pairs. The queue has no lock: only one thread may
/// poll it, and no other thread may meanwhile destroy or reset one of its queue pairs, since both remove completions.
class VerbsCompletions {
public:
    VerbsCompletions() = default;
    VerbsCompletions(const VerbsCompletions &) = delete;
    VerbsCompletions &operator=(const VerbsCompletions &) = delete;
    ~VerbsCompletions();

    /// Creates a queue for at most @p size completions. @p has_channel: completions can raise events.
    [[nodiscard]] doca_error_t create(const VerbsDevice &device, std::uint32_t size, bool has_channel);

    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] bool has_channel() const noexcept { return channel_ != nullptr; }
    [[nodiscard]] ibv_cq &queue() const noexcept { return *queue_; }
    [[nodiscard]] ibv_cq_ex &extended_cq() const noexcept { return *extended_cq_; }
    /// Returns the protection domain to create queue pairs in.
    [[nodiscard]] ibv_pd &domain() const noexcept { return *domain_; }

    /// Begins a poll, which stands at the next completion of @p queue: its fields can be read until end_poll(). Returns
    /// false, without a poll to end, if there is no completion. A poll takes one completion only: after ibv_next_poll()
    /// finds none, most devices still require ibv_end_poll(), which on rdma_rxe (rdma-core 44) removes a completion
    /// that does not exist.
    [[nodiscard]] static bool begin_poll(ibv_cq_ex &queue) noexcept
    {
        static ibv_poll_cq_attr attributes{}; // never written to
        return ibv_start_poll(&queue, &attributes) == 0;
    }
    /// Ends the poll: the driver returns the completion's entry to the device. The fields of
    /// the completion cannot be read any more.
    static void end_poll(ibv_cq_ex &queue) noexcept { ibv_end_poll(&queue); }
    /// Takes and discards all completions. For a queue whose only queue pair was reset.
    void discard_all() noexcept;

    /// Returns a descriptor that becomes readable with the next completion after request_event(), until take_events().
    /// Only with a channel.
    [[nodiscard]] int event_fd() const noexcept { return channel_->fd; }
    /// Requests an event. Returns false if the device refuses. @p only_solicited: errors raise it, and receives of
    /// messages that were sent with IBV_SEND_SOLICITED; other successful completions do not.
    [[nodiscard]] bool request_event(bool only_solicited) noexcept;
    /// Takes all pending events and returns their number.
    std::uint32_t take_events() noexcept;

    /// Reports failures of @p queue_pair, which is on this queue, to the listener, until unwatch_failures_of().
    void watch_failures_of(ibv_qp &queue_pair);
    void unwatch_failures_of(const ibv_qp &queue_pair) noexcept;
    /// Reads the device's asynchronous events. Returns the current failure: a new one, or one from an earlier call.
    [[nodiscard]] DeviceFailure check_for_failure() noexcept;
    [[nodiscard]] DeviceFailure failure() const noexcept { return listener_.failure(); }
    /// Clears a suspected failure before the queue pairs are checked. A fatal one is permanent.
    void clear_failure() noexcept { listener_.clear(); }
    /// Returns a descriptor that is readable while check_for_failure() has something new, which may turn out to be no
    /// failure. -1 if the program owns the device's events.
    [[nodiscard]] int failure_fd() const noexcept { return listener_.fd(); }
    [[nodiscard]] doca_error_t make_failure_fd() noexcept;

private:
    [[nodiscard]] doca_error_t create_channel(const VerbsDevice &device);
    [[nodiscard]] doca_error_t create_queue(const VerbsDevice &device);
    void create_domain(const VerbsDevice &device);

    FailureListener listener_;
    DeviceEvents *events_ = nullptr; ///< null if the program owns the device's events
    // In order of dependency: each member is destroyed before those above it.
    Handle<ibv_td> thread_domain_;
    Handle<ibv_pd> parent_domain_; ///< null if the device has no thread domains
    Handle<ibv_comp_channel> channel_;
    Handle<ibv_cq> queue_;
    std::unique_ptr<ClassicCompletions> classic_; ///< null if the driver has the extended calls
    ibv_cq_ex *extended_cq_ = nullptr;            ///< the same queue for the extended calls: the driver's or classic_'s
    ibv_pd *domain_ = nullptr;                    ///< parent_domain_, or the device's protection domain
    std::uint32_t size_ = 0;                      ///< entries; work requests in flight on the queue never exceed it
    /// Events not acknowledged yet; destroying the queue would wait for their acknowledgement.
    std::uint32_t unacknowledged_ = 0;
};

} // namespace opendoca::verbs
