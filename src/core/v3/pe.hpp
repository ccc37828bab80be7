// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <doca_pe.h>

#include "member.hpp"

/// A progress engine: the contexts and graphs of one thread, polled in turns. One descriptor notifies for all of them.
struct OPENDOCA_INTERNAL doca_pe {
    /// Throws std::bad_alloc. OPERATING_SYSTEM when there are no descriptors left.
    [[nodiscard]] static doca_error_t create(doca_pe *&pe);
    doca_pe(const doca_pe &) = delete;
    doca_pe &operator=(const doca_pe &) = delete;

    [[nodiscard]] bool progress() noexcept
    {
        return only_queue_ != nullptr ? only_->serve(*only_queue_) : progress_in_turn();
    }

    [[nodiscard]] int event_handle() const noexcept { return events_->fd(); }
    void arm() noexcept;
    [[nodiscard]] bool is_armed() const noexcept { return is_armed_; }
    [[nodiscard]] doca_error_t clear() noexcept;

    [[nodiscard]] std::size_t num_in_flight() const noexcept;

    // What members call.

    /// Members for life, which the engine must outlive.
    void connected() noexcept { ++num_connected_; }
    void disconnected() noexcept { --num_connected_; }
    [[nodiscard]] std::uint32_t num_connected() const noexcept { return num_connected_; }
    /// Those that are served.
    void add(opendoca::v3::Member &member);
    void remove(opendoca::v3::Member &member) noexcept;
    [[nodiscard]] const std::shared_ptr<opendoca::EventHandle> &events() const noexcept { return events_; }
    /// Something came up that progress has to do, outside of all completion queues.
    void wake() noexcept;

private:
    explicit doca_pe(std::shared_ptr<opendoca::EventHandle> events) noexcept : events_(std::move(events)) {}

    [[nodiscard]] bool progress_in_turn() noexcept;

    void remember_only() noexcept;

    // The element of members_ where there is one, and its queue: null otherwise.
    opendoca::v3::Member *only_ = nullptr;
    opendoca::CompletionQueue *only_queue_ = nullptr;
    std::vector<opendoca::v3::Member *> members_;
    std::size_t next_ = 0; ///< the index of the member that is polled next
    std::shared_ptr<opendoca::EventHandle> events_;
    std::uint32_t num_connected_ = 0;
    bool is_armed_ = false;
};
