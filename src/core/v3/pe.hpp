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
struct OPENDOCA_INTERNAL doca_pe {
    /// Throws std::bad_alloc. Returns OPERATING_SYSTEM if no descriptor is available.
    [[nodiscard]] static doca_error_t create(doca_pe *&pe);
    doca_pe(const doca_pe &) = delete;
    doca_pe &operator=(const doca_pe &) = delete;

    /// Delivers one completion, or does other pending work. Returns false if there is none.
    [[nodiscard]] bool progress() noexcept
    {
        return only_queue_ != nullptr ? only_->serve(*only_queue_) : progress_in_turn();
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
    [[nodiscard]] const std::shared_ptr<opendoca::EventHandle> &events() const noexcept { return events_; }
    /// Makes the handle readable if the engine is armed: progress has work that no completion queue reports.
    void wake() noexcept;

private:
    explicit doca_pe(std::shared_ptr<opendoca::EventHandle> events) noexcept : events_(std::move(events)) {}

    [[nodiscard]] bool progress_in_turn() noexcept;

    void update_only() noexcept;

    // The only element of members_ and its completion queue; null if there are none or several.
    opendoca::v3::Member *only_ = nullptr;
    opendoca::CompletionQueue *only_queue_ = nullptr;
    std::vector<opendoca::v3::Member *> members_; ///< in the order in which they started
    std::size_t next_ = 0;                        ///< the index of the member that is polled next
    std::shared_ptr<opendoca::EventHandle> events_;
    std::uint32_t num_connected_ = 0;
    bool is_armed_ = false;
};
