// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sync_event.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include <sys/resource.h>

#include "process_traits.hpp"

namespace doca_test {

namespace {

using Order = RemoteEvent::Order;
using Reply = RemoteEvent::Reply;

struct Setup {
    char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
    Publisher publisher;
    bool has_memory;
    MemoryKind kind;
};

struct Command {
    Order order;
    std::uint64_t value;
    std::uint64_t mask;
};

std::span<const std::uint8_t> as_blob(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()};
}

/// Sleeps in epoll for one wait, with a handle of its own: the other one is not a context.
Reply sleep_for(doca_dev *dev, std::span<const std::uint8_t> blob, const Command &command, Channel &parent)
{
    Event event(dev, blob);
    event.start_as_ctx();
    EventQueue queue(4, true);
    queue.add(event);
    must(queue.submit_wait(event, command.value, command.mask));
    parent.send(Reply{}); // about to sleep
    return {queue.sleep_for_result(), 0};
}

/// Never ends: others must cope with that, and with its death.
[[noreturn]] void storm(const Event &event)
{
    for (std::uint64_t i = 0;; ++i) {
        must(i % 2 == 0 ? doca_sync_event_update_add(event, 1, nullptr) : doca_sync_event_update_set(event, i));
        std::uint64_t value = 0;
        must(doca_sync_event_get(event, &value));
    }
}

/// As many work queues that sleep for the event as there can be.
Reply fill_queues(doca_dev *dev, std::span<const std::uint8_t> blob, std::vector<std::unique_ptr<EventQueue>> &queues,
                  std::optional<Event> &event)
{
    event.emplace(dev, blob);
    event->start_as_ctx();
    for (;;) {
        auto queue = std::make_unique<EventQueue>(4, true);
        if (const doca_error_t status = doca_ctx_workq_add(event->ctx(), *queue); status != DOCA_SUCCESS)
            return {status, queues.size()};
        must(queue->submit_wait(*event, all_bits - 1));
        queue->arm();
        queues.push_back(std::move(queue));
    }
}

Reply fill_handles(doca_dev *dev, std::span<const std::uint8_t> blob, std::vector<doca_sync_event *> &handles)
{
    for (;;) {
        doca_sync_event *event = nullptr;
        const doca_error_t status = doca_sync_event_create_from_export(dev, blob.data(), blob.size(), &event);
        if (status != DOCA_SUCCESS)
            return {status, handles.size()};
        handles.push_back(event);
    }
}

void run_peer(Channel &parent)
{
    const auto setup = parent.receive<Setup>();
    const std::vector<std::byte> descriptor = parent.receive_bytes();
    const std::span<const std::uint8_t> blob = as_blob(descriptor);
    const bool is_importer = blob.size() > 1;
    const DevHandle dev = open_device(std::string(setup.ibdev));
    std::optional<Memory> memory;
    if (setup.has_memory)
        memory.emplace(setup.kind, 4096);
    if (memory)
        std::memset(memory->data(), 0, 4096);
    std::optional<Event> event;
    if (is_importer) {
        event.emplace(dev, blob);
    } else {
        event.emplace(dev, setup.publisher, memory ? reinterpret_cast<std::uint64_t *>(memory->data() + 8) : nullptr);
    }
    event->start();
    parent.send_bytes(std::as_bytes(is_importer ? blob : event->export_to_dpu(dev)));

    std::vector<std::unique_ptr<EventQueue>> queues;
    std::optional<Event> event_of_queues;
    std::vector<doca_sync_event *> handles;
    for (;;) {
        const auto command = parent.receive<Command>();
        Reply reply;
        switch (command.order) {
        case Order::get:
            reply.status = doca_sync_event_get(*event, &reply.value);
            break;
        case Order::set:
            reply.status = doca_sync_event_update_set(*event, command.value);
            break;
        case Order::add: // value times 1
            for (std::uint64_t i = 0; i < command.value && reply.status == DOCA_SUCCESS; ++i)
                reply.status = doca_sync_event_update_add(*event, 1, &reply.value);
            break;
        case Order::wait:
            parent.send(Reply{});
            reply.status = doca_sync_event_wait_gt(*event, command.value, command.mask);
            break;
        case Order::wait_yield:
            parent.send(Reply{});
            reply.status = doca_sync_event_wait_gt_yield(*event, command.value, command.mask);
            break;
        case Order::sleep:
            reply = sleep_for(dev, blob, command, parent);
            break;
        case Order::storm:
            parent.send(Reply{});
            storm(*event);
        case Order::fill_queues:
            reply = fill_queues(dev, blob, queues, event_of_queues);
            break;
        case Order::fill_handles:
            reply = fill_handles(dev, blob, handles);
            break;
        case Order::starve:
            take_all_descriptors();
            break;
        case Order::starve_for_good: {
            const rlimit none{};
            must_hold(setrlimit(RLIMIT_NOFILE, &none) == 0, "descriptors are limited");
            break;
        }
        case Order::destroy:
            event->reset();
            break;
        }
        parent.send(reply);
    }
}

const ChildProgram peer_program("sync_event", run_peer);

bool announces(Order order)
{
    return order == Order::wait || order == Order::wait_yield || order == Order::sleep || order == Order::storm;
}

} // namespace

RemoteEvent::RemoteEvent(const DeviceParam &device, Publisher publisher, std::optional<MemoryKind> kind)
{
    send_setup(device, publisher, kind);
    process_.channel().send(char{});
    const std::vector<std::byte> bytes = process_.channel().receive_bytes();
    blob_.assign(as_blob(bytes).begin(), as_blob(bytes).end());
}

RemoteEvent::RemoteEvent(const DeviceParam &device, std::span<const std::uint8_t> blob)
{
    send_setup(device, Publisher::cpu, std::nullopt);
    process_.channel().send_bytes(std::as_bytes(blob));
    must_hold(process_.channel().receive_bytes().size() == blob.size(), "the event was imported");
}

void RemoteEvent::send_setup(const DeviceParam &device, Publisher publisher, std::optional<MemoryKind> kind)
{
    Setup setup{{}, publisher, kind.has_value(), kind.value_or(MemoryKind::heap)};
    device.ibdev.copy(setup.ibdev, sizeof(setup.ibdev) - 1);
    process_.channel().send(setup);
}

void RemoteEvent::begin(Order order, std::uint64_t value, std::uint64_t mask)
{
    process_.channel().send(Command{order, value, mask});
    if (announces(order))
        (void)process_.channel().receive<Reply>();
}

void RemoteEvent::kill()
{
    process_.kill();
    process_.wait();
}

} // namespace doca_test
