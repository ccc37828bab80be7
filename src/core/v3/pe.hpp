// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doca_pe.h>

#include "../engine/ready_descriptors.hpp"
#include "member.hpp"

/// A progress engine: the contexts and graphs of one thread, polled in turn. Owned by the program; only its thread may
/// use it. One descriptor notifies for all of them. Must outlive its members.
///
/// A call of progress() polls the active members only. A member in which nothing was found for a while is parked, if
/// all that can give it work resumes it: its own thread, and what the root polls in each call. So the cost of a call
/// does not grow with such members. The last active member is not parked if there are few.
struct OPENDOCA_INTERNAL doca_pe final : private opendoca::QueueListener {
    /// Throws std::bad_alloc. Returns OPERATING_SYSTEM if no descriptor is available.
    [[nodiscard]] static doca_error_t create(doca_pe *&pe);
    doca_pe(const doca_pe &) = delete;
    doca_pe &operator=(const doca_pe &) = delete;

    /// Delivers one completion, or does other pending work. Returns false if there is none.
    [[nodiscard]] bool progress() noexcept
    {
        return only_queue_ != nullptr ? opendoca::v3::Member::serve(*only_queue_) : progress_root();
    }

    [[nodiscard]] int event_handle() const noexcept { return events_->fd(); }
    /// Requests a notification for the next completion of any member. The program polls once more before it blocks.
    void arm() noexcept;
    [[nodiscard]] bool is_armed() const noexcept { return is_armed_; }
    /// Ends the request and makes the handle unreadable. Returns OPERATING_SYSTEM if the handle cannot be read.
    [[nodiscard]] doca_error_t clear() noexcept;

    [[nodiscard]] std::size_t num_in_flight() const noexcept;

    // Functions for members.

    /// Count the contexts and graphs that refer to this engine, idle or not.
    void connected() noexcept { ++num_connected_; }
    void disconnected() noexcept { --num_connected_; }
    [[nodiscard]] std::uint32_t num_connected() const noexcept { return num_connected_; }
    /// Add and remove a member that is polled.
    void add(opendoca::v3::Member &member);
    void remove(opendoca::v3::Member &member) noexcept;
    /// Polls @p member, which was parked, again.
    void activate(opendoca::v3::Member &member) noexcept;
    /// The completion queue with the pollables that serve all members.
    [[nodiscard]] opendoca::CompletionQueue &root() noexcept { return root_; }
    /// Makes the handle readable if the engine is armed: progress has work that no completion queue reports.
    void wake() noexcept;

private:
    explicit doca_pe(std::shared_ptr<opendoca::EventHandle> events);

    [[nodiscard]] bool progress_root() noexcept;
    [[nodiscard]] bool progress_only() noexcept;
    [[nodiscard]] bool progress_in_turn() noexcept;
    [[nodiscard]] bool park_only() noexcept;
    void park_idle() noexcept;
    void exchange(std::size_t one, std::size_t other) noexcept;
    void update_only() noexcept;
    void polled_changed() noexcept override { update_only(); }

    opendoca::v3::Member *only_ = nullptr;            ///< the only active member; null if there are none or several
    opendoca::CompletionQueue *only_queue_ = nullptr; ///< its completion queue; null if the root is polled as well
    std::vector<opendoca::v3::Member *> members_;     ///< the active ones, then the parked ones
    std::size_t num_active_ = 0;
    std::size_t next_ = 0;           ///< the index of the active member that is polled next
    std::uint32_t num_polls_ = 0;    ///< polls of active members that have found nothing
    bool has_idle_ = false;          ///< park_idle() has work
    bool has_activated_ = false;     ///< a member was activated since this call of progress() began
    opendoca::CompletionQueue root_; ///< without operations of its own
    opendoca::ReadyDescriptors descriptors_{root_};
    std::shared_ptr<opendoca::EventHandle> events_;
    std::uint32_t num_connected_ = 0;
    bool is_armed_ = false;
};
