// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "fast_path.hpp"

#include <algorithm>

#include <sys/eventfd.h>

#include "../../core/guard.hpp"
#include "../../core/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_FAST_PATH);

namespace opendoca::comch {

bool Mailbox::open() noexcept
{
    event_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return event_.is_open();
}

void Mailbox::put(const ControlMessage &message)
{
    {
        const std::lock_guard guard(lock_);
        messages_.push_back(message);
    }
    wake();
}

void Mailbox::wake() noexcept
{
    has_mail_.store(true, std::memory_order_release);
    (void)eventfd_write(event_.get(), 1);
}

bool Mailbox::take(ControlMessage &message) noexcept
{
    const std::lock_guard guard(lock_);
    if (messages_.empty()) {
        has_mail_.store(false, std::memory_order_relaxed);
        eventfd_t count;
        (void)eventfd_read(event_.get(), &count);
        return false;
    }
    message = messages_.front();
    messages_.pop_front();
    return true;
}

std::uint32_t FastPath::join(Role role, Mailbox &mailbox)
{
    const std::lock_guard guard(lock_);
    const std::uint32_t number = ++num_joined_; // 0 is what programs call none
    members(role).emplace(number, &mailbox);
    return number;
}

void FastPath::leave(Role role, std::uint32_t number) noexcept
{
    const std::lock_guard guard(lock_);
    members(role).erase(number);
}

std::uint32_t FastPath::num_members() const noexcept
{
    const std::lock_guard guard(lock_);
    return static_cast<std::uint32_t>(consumers_.size() + producers_.size());
}

bool FastPath::deliver(Role role, std::uint32_t number, const ControlMessage &message) noexcept
{
    const std::lock_guard guard(lock_);
    const auto found = members(role).find(number);
    if (found == members(role).end())
        return false;
    const doca_error_t status = guarded([&] { return found->second->put(message), DOCA_SUCCESS; });
    if (status != DOCA_SUCCESS)
        fail();
    return true;
}

void FastPath::tell_peer(const ControlMessage &message) noexcept
{
    if (guarded([&] { return to_peer.put(message), DOCA_SUCCESS; }) != DOCA_SUCCESS)
        fail();
}

void FastPath::note_consumer(std::uint32_t number, bool is_there) noexcept
{
    const std::lock_guard guard(lock_);
    std::erase(of_peer_, number);
    if (is_there && guarded([&] { return of_peer_.push_back(number), DOCA_SUCCESS; }) != DOCA_SUCCESS)
        fail();
}

bool FastPath::has_consumer(std::uint32_t number) const noexcept
{
    const std::lock_guard guard(lock_);
    return std::ranges::find(of_peer_, number) != of_peer_.end();
}

void FastPath::fail() noexcept
{
    LOG_ERR("memory is short: the connection is given up");
    has_failed_.store(true, std::memory_order_relaxed);
    to_peer.wake();
}

void FastPath::end() noexcept
{
    has_ended_.store(true, std::memory_order_release);
    const std::lock_guard guard(lock_);
    for (const auto &[number, mailbox] : consumers_)
        mailbox->wake();
    for (const auto &[number, mailbox] : producers_)
        mailbox->wake();
}

} // namespace opendoca::comch
