// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Progress engines: polling of members in turn, event-driven mode, and the C functions.
#include "pe.hpp"

#include <algorithm>
#include <cstddef>

#include "../log/log.hpp"
#include "call.hpp"
#include "ctx.hpp"

OPENDOCA_LOG_SOURCE(DOCA_PE);

using opendoca::v3::call;
using opendoca::v3::Member;

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
    for (std::size_t left = members_.size(); left != 0; --left) {
        // The next member is chosen before the call that may add and remove members.
        Member &member = *members_[next_];
        next_ = next_ + 1 < members_.size() ? next_ + 1 : 0;
        if (member.progress())
            return true;
    }
    return false;
}

void doca_pe::add(Member &member)
{
    members_.push_back(&member);
    update_only();
    if (is_armed_)
        wake(); // arm() was not called for this member: the program arms again after it has polled
}

void doca_pe::remove(Member &member) noexcept
{
    const auto place = std::ranges::find(members_, &member);
    if (place == members_.end())
        return;
    // The members keep their order and the position in it, so that no member misses its turn.
    if (static_cast<std::size_t>(place - members_.begin()) < next_)
        --next_;
    members_.erase(place);
    if (next_ >= members_.size())
        next_ = 0;
    update_only();
}

void doca_pe::update_only() noexcept
{
    only_ = members_.size() == 1 ? members_.front() : nullptr;
    only_queue_ = only_ != nullptr ? &only_->completions() : nullptr;
}

void doca_pe::arm() noexcept
{
    (void)clear(); // programs that use PROGRESS_ALL do not clear the notification themselves
    is_armed_ = true;
    for (Member *member : members_)
        member->arm();
}

doca_error_t doca_pe::clear() noexcept
{
    is_armed_ = false;
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
