// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Channels of DEVX events, and subscriptions to them.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "command.hpp"
#include "message.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t max_event_numbers = 16; // of events in one call, as in the kernel

/// Returns whether programs may subscribe to an event of an object, or of the device: those that the kernel permits for
/// a device that does not list its events.
bool is_event(EventNumber number, bool is_of_object)
{
    switch (number) {
    case EventNumber::port_change:
        return !is_of_object;
    case EventNumber::completion:
    case EventNumber::path_migrated:
    case EventNumber::communication_established:
    case EventNumber::send_queue_drained:
    case EventNumber::cq_error:
    case EventNumber::work_queue_fatal:
    case EventNumber::path_migration_failed:
    case EventNumber::work_queue_request_error:
    case EventNumber::work_queue_access_error:
    case EventNumber::srq_fatal:
    case EventNumber::srq_last_request:
    case EventNumber::srq_limit:
    case EventNumber::xrq_error:
    case EventNumber::dct_drained:
        return is_of_object;
    }
    return false;
}

/// Reads the list of events. Returns false if it is empty, too long or not readable.
bool read_numbers(const Command &command, std::vector<EventNumber> &numbers)
{
    constexpr auto id = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST;
    const std::size_t bytes = command.length(id);
    if (bytes == 0 || bytes % sizeof(EventNumber) != 0 || bytes > max_event_numbers * sizeof(EventNumber))
        return false;
    numbers.resize(bytes / sizeof(EventNumber));
    return command.get(id, numbers.data(), bytes);
}

/// Takes the program's eventfd. Returns an errno, or 0. EAGAIN: the preloaded library has to attach it.
int take_eventfd(Command &command, UniqueFd &eventfd)
{
    const auto fd = static_cast<std::int32_t>(command.number32(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM));
    if (fd < 0)
        return EBADF;
    if (!command.attached.is_open()) {
        command.wanted_descriptor = fd;
        return EAGAIN;
    }
    if (!is_eventfd(command.attached.get()))
        return EINVAL;
    eventfd = std::move(command.attached);
    return 0;
}

} // namespace

int create_devx_channel(Command &command)
{
    const std::uint64_t flags = command.number(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS);
    if ((flags & ~std::uint64_t{MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA}) != 0)
        return EINVAL;
    UniqueFd program_end;
    std::shared_ptr<EventChannel> channel =
        EventChannel::create(flags != 0, program_end, command.file.subscriptions.waiting_events());
    if (channel == nullptr || !command.file.subscriptions.add(std::move(channel)))
        return EMFILE;
    // If this fails, the program's end is closed, and the channel with it.
    return command.put_descriptor(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, std::move(program_end));
}

int subscribe_devx_events(Command &command)
{
    const bool is_of_object = command.has(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
    auto *object = command.object<DevxObject>(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
    if (is_of_object && object == nullptr)
        return EINVAL;
    EventSubscriptions &subscriptions = command.file.subscriptions;
    Subscription wanted;
    wanted.channel = subscriptions.find(
        *command.process, static_cast<std::int32_t>(command.number32(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE)));
    if (wanted.channel == nullptr)
        return EBADF;
    wanted.cookie = command.number(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE);
    const bool has_eventfd = command.has(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM);
    if (has_eventfd && command.has(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE))
        return EINVAL;
    std::vector<EventNumber> numbers;
    if (!read_numbers(command, numbers) ||
        !std::ranges::all_of(numbers, [&](EventNumber number) { return is_event(number, is_of_object); }))
        return EINVAL;
    if (const int error = has_eventfd ? take_eventfd(command, wanted.eventfd) : 0)
        return error;
    Object *const source = is_of_object ? object->created : nullptr;
    if (const int error = subscriptions.add(source, numbers, wanted))
        return error;
    if (source != nullptr && source->kind == Kind::completion_queue &&
        std::ranges::find(numbers, EventNumber::completion) != numbers.end())
        static_cast<CompletionQueue *>(source)->is_subscribed = true;
    return 0;
}

} // namespace opendoca::card
