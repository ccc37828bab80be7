// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Progress engines: polling of members in turn, event-driven mode, and the C functions.
#include "pe.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../log/log.hpp"
#include "call.hpp"
#include "ctx.hpp"

OPENDOCA_LOG_SOURCE(DOCA_PE);

using opendoca::v3::call;
using opendoca::v3::Member;

namespace {

/// Active members for each one that a call parks.
constexpr std::size_t active_for_each_parked = 16;
/// The most members of which one is always active. A program with few is served without a peer's doorbell and without a
/// resumption; one with many, in a call that finds nothing, without a visit to the last of them.
constexpr std::size_t most_with_active_one = 8;

} // namespace

doca_pe::doca_pe(std::shared_ptr<opendoca::EventHandle> events) : root_(1), events_(std::move(events))
{
    root_.share_events(events_);
    root_.set_listener(*this);
    root_.descriptors = &descriptors_;
}

doca_error_t doca_pe::create(doca_pe *&pe)
{
    auto events = std::make_shared<opendoca::EventHandle>();
    const doca_error_t status = events->open();
    if (status == DOCA_SUCCESS)
        pe = new doca_pe(std::move(events));
    return status;
}

/// A function of its own, so that progress() saves no registers for it.
[[gnu::noinline]] bool doca_pe::progress_root() noexcept
{
    has_activated_ = false;
    (void)root_.poll(); // activates members
    return only_ != nullptr ? progress_only() : progress_in_turn();
}

/// Polls the only active member, and parks it as well if there are many and it has been idle for long.
[[gnu::noinline]] bool doca_pe::progress_only() noexcept
{
    Member &member = *only_;
    if (members_.size() <= most_with_active_one)
        return member.progress();
    const std::uint32_t last_found = std::exchange(member.last_found, num_polls_);
    if (member.progress())
        return true; // the program may have destroyed the member, and this engine with the last one
    if (only_ != &member)
        return false;
    member.last_found = last_found;
    if (++num_polls_ - last_found > member.polls_until_parked && !park_only())
        member.last_found = num_polls_;
    return false;
}

/// Returns false if the only active member stays active: it is tried again later.
bool doca_pe::park_only() noexcept
{
    if (is_armed_ || !only_->park())
        return false;
    num_active_ = 0;
    update_only();
    return true;
}

/// Delivers one completion per call, of the next member that has one: a member that is always busy cannot starve
/// others.
[[gnu::noinline]] bool doca_pe::progress_in_turn() noexcept
{
    // Before any callback of the program, and also for a program that always finds something.
    if (std::exchange(has_idle_, false) && !is_armed_)
        park_idle();
    for (std::size_t left = num_active_; left != 0; --left) {
        if (next_ >= num_active_)
            next_ = 0;
        // The next member is chosen before the call that may add, remove and park members.
        const std::size_t index = next_++;
        Member &member = *members_[index];
        const std::uint32_t last_found = std::exchange(member.last_found, num_polls_);
        if (member.progress())
            return true; // the program may have destroyed the member, and this engine with the last one
        member.last_found = last_found;
        has_idle_ = ++num_polls_ - last_found > member.polls_until_parked || has_idle_;
    }
    return false;
}

/// Parks members that have been idle for long, and moves them behind the active ones. Only some in one call: to park a
/// member takes as long as to poll it a few times.
void doca_pe::park_idle() noexcept
{
    std::size_t left = num_active_ / active_for_each_parked + 1;
    for (std::size_t i = num_active_; i-- != 0 && num_active_ > 1 && left != 0;) {
        Member &member = *members_[i];
        if (num_polls_ - member.last_found <= member.polls_until_parked)
            continue;
        if (member.park()) {
            --left;
            exchange(i, --num_active_);
        } else {
            member.last_found = num_polls_; // tried again later
        }
    }
    update_only();
}

/// The member becomes the next in turn: what has activated it came before what the others find from now on.
void doca_pe::activate(Member &member) noexcept
{
    exchange(member.index, num_active_);
    if (!std::exchange(has_activated_, true))
        next_ = num_active_;
    ++num_active_;
    member.last_found = num_polls_;
    update_only();
    if (is_armed_)
        wake(); // arm() was not called for this member: the program arms again after it has polled
}

void doca_pe::exchange(std::size_t one, std::size_t other) noexcept
{
    std::swap(members_[one], members_[other]);
    members_[one]->index = one;
    members_[other]->index = other;
}

void doca_pe::add(Member &member)
{
    members_.push_back(&member);
    member.index = members_.size() - 1;
    exchange(member.index, num_active_++);
    member.last_found = num_polls_;
    update_only();
    if (is_armed_)
        wake(); // arm() was not called for this member: the program arms again after it has polled
}

/// The active members keep their order and the position in it, so that none of them misses its turn. (Where others are
/// parked, one may be polled a turn earlier or later.)
void doca_pe::remove(Member &member) noexcept
{
    const std::size_t index = member.index;
    if (index >= members_.size() || members_[index] != &member)
        return;
    const bool is_active = index < num_active_;
    if (is_active) {
        std::rotate(members_.begin() + static_cast<std::ptrdiff_t>(index),
                    members_.begin() + static_cast<std::ptrdiff_t>(index) + 1,
                    members_.begin() + static_cast<std::ptrdiff_t>(num_active_));
        for (std::size_t i = index; i != num_active_; ++i)
            members_[i]->index = i;
        --num_active_;
        if (index < next_)
            --next_;
    }
    exchange(member.index, members_.size() - 1);
    members_.pop_back();
    update_only();
}

void doca_pe::update_only() noexcept
{
    only_ = num_active_ == 1 ? members_.front() : nullptr;
    only_queue_ = only_ != nullptr && !root_.has_polled() ? &only_->completions() : nullptr;
}

/// Parked members need not be armed: what can resume them is polled by the root.
void doca_pe::arm() noexcept
{
    (void)clear(); // programs that use PROGRESS_ALL do not clear the notification themselves
    is_armed_ = true;
    root_.arm();
    for (std::size_t i = 0; i != num_active_; ++i)
        members_[i]->arm();
}

doca_error_t doca_pe::clear() noexcept
{
    is_armed_ = false;
    (void)root_.clear(); // clears the shared descriptor, as do the members; the last one reports errors
    for (std::size_t i = 0; i != num_active_; ++i)
        members_[i]->clear();
    return events_->clear();
}

void doca_pe::wake() noexcept
{
    if (is_armed_)
        events_->wake();
}

std::size_t doca_pe::num_in_flight() const noexcept
{
    std::size_t sum = 0;
    for (const Member *member : members_)
        sum += member->num_in_flight();
    return sum;
}

doca_error_t doca_pe_create(struct doca_pe **pe)
{
    return call({pe}, [&] { return doca_pe::create(*pe); });
}

doca_error_t doca_pe_destroy(struct doca_pe *pe)
{
    return call({pe}, [&] {
        if (pe->num_connected() != 0) {
            LOG_ERR("the progress engine still has %u contexts or graphs", pe->num_connected());
            return DOCA_ERROR_IN_USE;
        }
        delete pe;
        return DOCA_SUCCESS;
    });
}

uint8_t doca_pe_progress(struct doca_pe *pe)
{
    if (pe == nullptr) [[unlikely]]
        return 0;
    return pe->progress();
}

doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
    return call({pe, ctx}, [&] { return ctx->connect(*pe); });
}

doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe, doca_notification_handle_t *handle)
{
    return call({pe, handle}, [&] { *handle = pe->event_handle(); });
}

doca_error_t doca_pe_request_notification(struct doca_pe *pe)
{
    return call({pe}, [&] { pe->arm(); });
}

doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t)
{
    // The handle argument is meaningful on Windows only: programs pass 0.
    return call({pe}, [&] { return pe->clear(); });
}

doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks)
{
    return call({pe, num_inflight_tasks}, [&] { *num_inflight_tasks = pe->num_in_flight(); });
}

doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode)
{
    return call({pe}, [&] {
        if (event_mode != DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE && event_mode != DOCA_PE_EVENT_MODE_PROGRESS_ALL) {
            LOG_ERR("%d is no event mode", static_cast<int>(event_mode));
            return DOCA_ERROR_INVALID_VALUE;
        }
        return DOCA_SUCCESS; // both modes poll all contexts
    });
}
