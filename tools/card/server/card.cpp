// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "card.hpp"

#include <algorithm>

#include <time.h>

#include "completion.hpp"
#include "connection_manager.hpp"
#include "device_events.hpp"
#include "link.hpp"
#include "roce_network.hpp"
#include "sysfs.hpp"
#include "work_request.hpp"

namespace opendoca::card {

std::uint64_t now_ns()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// The destructors remove the objects from lists of plain pointers.
CompletionQueue::~CompletionQueue()
{
    std::erase(file.card.delayed_queues, this);
    std::erase(file.card.moderated_queues, this);
    if (process != nullptr)
        std::erase(process->completion_queues, this);
}

QueuePair::QueuePair(Kind kind_of_it, OpenFile &its_file, std::uint32_t its_handle)
    : Object(kind_of_it, its_file, its_handle)
{
}

QueuePair::~QueuePair()
{
    drop_delayed_entries(*this);
    if (process != nullptr)
        std::erase(process->queue_pairs, this);
}

SharedReceiveQueue::~SharedReceiveQueue()
{
    if (cq)
        drop_delayed_entries(*this);
}

MemoryKey::~MemoryKey()
{
    if (remote_session != 0)
        file.card.link->requester().close(remote_session, remote_handle);
    file.card.keys.remove(*this);
}

DeviceMemory::~DeviceMemory()
{
    file.function.memory.release(first_page, page_count);
}

OpenFile::OpenFile(Card &its_card, Function &its_function, UniqueFd its_socket)
    : card(its_card),
      function(its_function),
      socket(std::move(its_socket)),
      subscriptions(its_card.waiting_channels, its_card.eventfd_signals)
{
}

void OpenFile::send_event(std::uint64_t element, std::uint32_t type, std::uint32_t *counter) const
{
    // A full pipe drops the event: the program has not read its events for long. Only events that were written count.
    ib_uverbs_async_event_desc event{};
    event.element = element;
    event.event_type = type;
    if (events != nullptr && events->write(&event, sizeof(event)) && counter != nullptr)
        ++*counter;
}

std::uint32_t OpenFile::delivered_events(std::uint64_t element, std::uint32_t sent) const
{
    if (sent == 0 || events == nullptr)
        return sent;
    return sent - std::min(sent, events->remove_unread(element, sizeof(ib_uverbs_async_event_desc)));
}

Card::Card(const Profile &its_profile, std::optional<Side> only_side)
    : profile(its_profile),
      own_side(only_side),
      connections(std::make_unique<ConnectionManager>(*this))
{
    // Next uverbs number of each side.
    std::uint32_t numbers[2] = {};
    for (FunctionProfile &function : functions_of(profile)) {
        const std::uint32_t number = numbers[static_cast<int>(function.side)]++;
        functions.push_back({std::move(function), number});
        if (!is_elsewhere(functions.back()))
            continue;
        // Nothing here has its addresses, and it appears with the link.
        functions.back().is_present = false;
        std::ranges::fill(functions.back().profile.gids, Gid{});
    }
}

Card::~Card()
{
    // Objects refer to the card and to its tables, so they are destroyed before these.
    while (!files.empty())
        close(files.front());
}

std::shared_ptr<Process> Card::process(pid_t pid)
{
    // Dead processes are dropped when nothing else refers to them, so that a new process with the same number gets an
    // entry of its own.
    std::erase_if(processes, [](const auto &other) { return other.use_count() == 1 && other->is_dead(); });
    for (const auto &other : processes) {
        if (other->pid() == pid && !other->is_dead())
            return other;
    }
    std::shared_ptr<Process> process = Process::open(pid);
    if (process != nullptr)
        processes.push_back(process);
    return process;
}

OpenFile &Card::open(Function &function, UniqueFd socket)
{
    return files.emplace_back(*this, function, std::move(socket));
}

void Card::close(OpenFile &file)
{
    objects.destroy_all_of(file);
    if (link != nullptr)
        link->requester().forget(file);
    const auto found = std::ranges::find_if(files, [&](const OpenFile &other) { return &other == &file; });
    files.erase(found);
    // Requests of peers may wait for this file's objects, or for the resources that they held.
    request_polls();
}

Function *Card::function(Side side, std::uint32_t number)
{
    const auto found = std::ranges::find_if(functions, [&](const Function &function) {
        return function.profile.side == side && function.number == number;
    });
    return found == functions.end() ? nullptr : &*found;
}

Function *Card::function_of_vhca(std::uint32_t vhca_id)
{
    const auto found =
        std::ranges::find_if(functions, [&](const Function &function) { return function.profile.vhca_id == vhca_id; });
    return found == functions.end() ? nullptr : &*found;
}

void Card::set_port(Function &function, bool is_up)
{
    if (function.is_port_up == is_up)
        return;
    function.is_port_up = is_up;
    show_port_state(*this, function);
    for (OpenFile &file : files) {
        if (&file.function == &function)
            report_port(file, is_up);
    }
    request_polls();
}

void Card::kill_function(Function &function)
{
    constexpr std::uint32_t device_fatal = 8; // ib_event_type
    if (function.is_dead)
        return;
    function.is_dead = true;
    for (const OpenFile &file : files) {
        if (&file.function == &function)
            file.send_event(0, device_fatal);
    }
    connections->remove_device(function);
    request_polls();
}

void Card::request_polls()
{
    for (const auto &process : processes)
        process->needs_poll = true;
}

} // namespace opendoca::card
