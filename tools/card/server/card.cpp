// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "card.hpp"

#include <algorithm>

#include <time.h>

#include "completion.hpp"

namespace opendoca::card {

std::uint64_t now_ns()
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

CompletionQueue::~CompletionQueue()
{
    std::erase(file.card.late_queues, this);
    std::erase(file.card.moderated_queues, this);
    if (process != nullptr)
        std::erase(process->completion_queues, this);
}

QueuePair::~QueuePair()
{
    if (send_cq && receive_cq)
        forget_late_entries(*this);
    if (process != nullptr)
        std::erase(process->queue_pairs, this);
}

MemoryKey::~MemoryKey()
{
    file.card.keys.remove(*this);
}

void OpenFile::send_event(std::uint64_t element, std::uint32_t type, std::uint32_t *counter) const
{
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
    return sent - std::min(sent, events->take_back(element, sizeof(ib_uverbs_async_event_desc)));
}

Card::Card(const Profile &its_profile) : profile(its_profile)
{
    std::uint32_t numbers[2] = {};
    for (FunctionProfile &function : functions_of(profile)) {
        const std::uint32_t number = numbers[static_cast<int>(function.side)]++;
        functions.push_back({std::move(function), number});
    }
}

Card::~Card()
{
    while (!files.empty())
        close(files.front());
}

std::shared_ptr<Process> Card::process(pid_t pid)
{
    // The dead are forgotten with the last that refers to them: their number may come again.
    std::erase_if(processes, [](const auto &known) { return known.use_count() == 1 && known->is_dead(); });
    for (const auto &known : processes) {
        if (known->pid() == pid && !known->is_dead())
            return known;
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
    const auto found = std::ranges::find_if(files, [&](const OpenFile &other) { return &other == &file; });
    files.erase(found);
    // Those that wait for an answer of what is gone now, and those that wait for what it held.
    look_at_all();
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
    const auto found = std::ranges::find_if(
        functions, [&](const Function &function) { return function.profile.vhca_id == vhca_id; });
    return found == functions.end() ? nullptr : &*found;
}

void Card::set_port(Function &function, bool is_up)
{
    constexpr std::uint32_t port_active = 9, port_error = 10, port = 1; // ib_event_type
    if (function.is_port_up == is_up)
        return;
    function.is_port_up = is_up;
    for (const OpenFile &file : files) {
        if (&file.function == &function)
            file.send_event(port, is_up ? port_active : port_error);
    }
    look_at_all();
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
    look_at_all();
}

void Card::look_at_all()
{
    for (const auto &process : processes)
        process->has_news = true;
}

} // namespace opendoca::card
