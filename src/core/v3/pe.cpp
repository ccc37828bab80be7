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

/// Polls of active members without a find of its own after which a member is quiet: with two members tens of
/// microseconds, longer than a round trip; with more, never much longer.
constexpr std::uint32_t polls_until_quiet = 4096;
/// Calls of progress() for each poll of an quiet member.
constexpr std::uint32_t calls_between_quiet_polls = 64;

} // namespace

doca_error_t doca_pe::create(doca_pe *&pe)
{
    auto events = std::make_shared<opendoca::EventHandle>();
    const doca_error_t status = events->open();
    if (status == DOCA_SUCCESS)
        pe = new doca_pe(std::move(events));
    return status;
}

/// Delivers one completion per call, of the next member that has one: a member that is always busy cannot starve
/// others.
bool doca_pe::progress_in_turn() noexcept
{
    // With only_queue_ set, progress() has counted, and this is the call in which an quiet member is polled.
    if (only_queue_ != nullptr || calls_until_quiet_poll_-- == 0) {
        calls_until_quiet_poll_ = has_quiet() ? calls_between_quiet_polls - 1 : UINT32_MAX;
        // First, so that active members that are always busy cannot starve quiet ones.
        if (has_quiet() && poll_next_quiet())
            return true;
    }
    return poll_active() || (has_quiet() && (must_poll_all_ || is_armed_) && poll_all_quiet());
}

bool doca_pe::poll_active() noexcept
{
    for (std::size_t left = num_active_; left != 0; --left) {
        // The next member is chosen before the call that may add and remove members.
        if (next_ >= num_active_)
            next_ = 0;
        const std::size_t index = next_++;
        Member &member = *members_[index];
        const bool is_found = member.progress();
        // The program may have destroyed the member.
        if (has_at(index, member)) {
            if (is_found)
                member.last_found = num_polls_;
            else if (++num_polls_ - member.last_found > polls_until_quiet && num_active_ > 1)
                deactivate(member);
        }
        if (is_found)
            return true;
    }
    return false;
}

bool doca_pe::poll_next_quiet() noexcept
{
    if (next_quiet_ < num_active_ || next_quiet_ >= members_.size())
        next_quiet_ = num_active_;
    const std::size_t index = next_quiet_++;
    Member &member = *members_[index];
    const bool is_found = member.progress();
    if (is_found && has_at(index, member))
        activate(member);
    return is_found;
}

bool doca_pe::poll_all_quiet() noexcept
{
    for (std::size_t left = members_.size() - num_active_; left != 0; --left) {
        if (poll_next_quiet())
            return true;
    }
    must_poll_all_ = false;
    update_only();
    return false;
}

/// Makes @p member the first of the quiet ones. The last active one takes its place, and is polled next.
void doca_pe::deactivate(Member &member) noexcept
{
    --num_active_;
    next_ = member.index;
    exchange(member.index, num_active_);
    member.set_quiet(true);
    calls_until_quiet_poll_ = std::min(calls_until_quiet_poll_, calls_between_quiet_polls - 1);
    update_only();
}

void doca_pe::activate(Member &member) noexcept
{
    if (!member.is_quiet())
        return;
    exchange(member.index, num_active_);
    ++num_active_;
    member.last_found = num_polls_;
    member.set_quiet(false);
    update_only();
}

void doca_pe::exchange(std::size_t one, std::size_t other) noexcept
{
    std::swap(members_[one], members_[other]);
    members_[one]->index = one;
    members_[other]->index = other;
}

/// Stores their places in the members from @p first on.
void doca_pe::number_from(std::size_t first) noexcept
{
    for (std::size_t i = first; i != members_.size(); ++i)
        members_[i]->index = i;
}

void doca_pe::add(Member &member)
{
    members_.insert(members_.begin() + static_cast<std::ptrdiff_t>(num_active_), &member);
    number_from(num_active_);
    ++num_active_;
    member.last_found = num_polls_;
    update_only();
    if (is_armed_)
        wake(); // arm() was not called for this member: the program arms again after it has polled
}

void doca_pe::remove(Member &member) noexcept
{
    if (!has_at(member.index, member))
        return;
    // The members keep their order and the position in it, so that no member misses its turn.
    const std::size_t index = member.index;
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(index));
    number_from(index);
    if (index < num_active_)
        --num_active_;
    if (index < next_)
        --next_;
    if (index < next_quiet_)
        --next_quiet_;
    if (member.is_quiet())
        member.set_quiet(false);
    if (num_active_ == 0 && has_quiet())
        activate(*members_.front());
    update_only();
}

void doca_pe::update_only() noexcept
{
    const bool polls_all = has_quiet() && (must_poll_all_ || is_armed_);
    only_ = num_active_ == 1 && !polls_all ? members_.front() : nullptr;
    only_queue_ = only_ != nullptr ? &only_->completions() : nullptr;
}

void doca_pe::arm() noexcept
{
    (void)clear(); // programs that use PROGRESS_ALL do not clear the notification themselves
    is_armed_ = true;
    update_only();
    for (Member *member : members_)
        member->arm();
}

doca_error_t doca_pe::clear() noexcept
{
    is_armed_ = false;
    must_poll_all_ = true;
    update_only();
    for (Member *member : members_)
        member->clear();
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
