// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doca_pe.h>

#include "member.hpp"

/// A progress engine: the contexts and graphs of one thread, polled in turn. Owned by the program; only its thread may
/// use it. One descriptor notifies for all of them. Must outlive its members.
///
/// A member that has had nothing to do for a while is quiet: progress() polls only the active members in each call, and
/// one quiet member in every 64th call, so that its cost does not grow with their number. At least one member is
/// active. A member becomes active with the next thing that a poll finds, or that its thread submits. A program that
/// blocks relies on each member being polled after it was armed or woken: progress() then returns false only after a
/// poll of all of them.
struct OPENDOCA_INTERNAL doca_pe {
    /// Throws std::bad_alloc. Returns OPERATING_SYSTEM if no descriptor is available.
    [[nodiscard]] static doca_error_t create(doca_pe *&pe);
    doca_pe(const doca_pe &) = delete;
    doca_pe &operator=(const doca_pe &) = delete;

    /// Delivers one completion, or does other pending work. Returns false if there is none.
    [[nodiscard]] bool progress() noexcept
    {
        if (only_queue_ != nullptr && calls_until_quiet_poll_-- != 0) [[likely]]
            return only_->serve(*only_queue_);
        return progress_in_turn();
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
    /// Polls @p member, which is quiet, in each call from now on: its thread has given it something to do.
    void activate(opendoca::v3::Member &member) noexcept;
    [[nodiscard]] const std::shared_ptr<opendoca::EventHandle> &events() const noexcept { return events_; }
    /// Makes the handle readable if the engine is armed: progress has work that no completion queue reports.
    void wake() noexcept;

private:
    explicit doca_pe(std::shared_ptr<opendoca::EventHandle> events) noexcept : events_(std::move(events)) {}

    [[nodiscard]] bool progress_in_turn() noexcept;
    [[nodiscard]] bool poll_active() noexcept;
    [[nodiscard]] bool poll_next_quiet() noexcept;
    [[nodiscard]] bool poll_all_quiet() noexcept;
    void deactivate(opendoca::v3::Member &member) noexcept;
    void exchange(std::size_t one, std::size_t other) noexcept;
    void number_from(std::size_t first) noexcept;
    [[nodiscard]] bool has_at(std::size_t index, const opendoca::v3::Member &member) const noexcept
    {
        return index < members_.size() && members_[index] == &member;
    }

    [[nodiscard]] bool has_quiet() const noexcept { return num_active_ != members_.size(); }
    void update_only() noexcept;

    // The only active member and its completion queue; null if there are several, or if all members have to be polled.
    opendoca::v3::Member *only_ = nullptr;
    opendoca::CompletionQueue *only_queue_ = nullptr;
    std::vector<opendoca::v3::Member *> members_; ///< the active ones, then the quiet ones
    std::size_t num_active_ = 0;
    std::size_t next_ = 0;       ///< index of the active member that is polled next
    std::size_t next_quiet_ = 0; ///< index of the quiet member that is polled next
    /// Calls of progress() before the one that polls an quiet member. Not used while there is none.
    std::uint32_t calls_until_quiet_poll_ = 0;
    std::uint32_t num_polls_ = 0; ///< polls of active members
    bool must_poll_all_ = false;  ///< a call that finds nothing polls the quiet members too, since the last clear()
    std::shared_ptr<opendoca::EventHandle> events_;
    std::uint32_t num_connected_ = 0;
    bool is_armed_ = false;
};
