// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events of a process on the host's side of a card that shares memory: this process is on the DPU's side. The
// counter is in the host's memory, of the library or of the program.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "../../src/core/device/descriptor.hpp"
#include "../../src/core/device/mlx5/memory_descriptor.hpp"
#include "../conformance/support/sync_event.hpp"
#include "card.hpp"

namespace {

using namespace mlx5_test;
using Order = RemoteEvent::Order;
using opendoca::DescriptorKind;
using opendoca::mlx5::SharedMemoryDescriptor;

class SyncEventsAcrossPcie : public DeviceTest {
protected:
    /// On the host.
    [[nodiscard]] static std::unique_ptr<RemoteEvent> host_event(Publisher publisher = Publisher::cpu,
                                                                 std::optional<MemoryKind> kind = std::nullopt)
    {
        const HostSide host_side;
        return std::make_unique<RemoteEvent>(DeviceParam{"mlx5_0", ""}, publisher, kind);
    }
    [[nodiscard]] Event import(const RemoteEvent &host) const
    {
        Event event(dev, host.blob());
        event.start();
        return event;
    }
    [[nodiscard]] doca_error_t import(std::span<const std::byte> bytes) const
    {
        SyncEventHandle event;
        return doca_sync_event_create_from_export(dev, reinterpret_cast<const std::uint8_t *>(bytes.data()),
                                                  bytes.size(), event.out());
    }
    [[nodiscard]] static SharedMemoryDescriptor parse(const RemoteEvent &host)
    {
        SharedMemoryDescriptor d{};
        must_hold(opendoca::from_bytes(std::as_bytes(host.blob()), DescriptorKind::mlx5_counter, d) ==
                      opendoca::DescriptorReader::Fault::none,
                  "a descriptor of a sync event of an mlx5 device");
        return d;
    }
};

INSTANTIATE_FOR_EVERY_DEVICE(SyncEventsAcrossPcie, exists);

TEST_P(SyncEventsAcrossPcie, BothSidesSeeOneCounterWhereverItIs)
{
    for (const auto kind : {std::optional<MemoryKind>(), std::optional(MemoryKind::heap)}) {
        const auto host = host_event(Publisher::cpu, kind);
        EXPECT_LE(host->blob().size(), 256u);
        Event event = import(*host);
        const std::uint64_t uses = card_count("alias-uses"), accesses = card_count("remote-accesses");
        must(host->run(Order::set, 0x0123'4567'89ab'cdef).status);
        EXPECT_EQ(event.get(), 0x0123'4567'89ab'cdefu);
        must(doca_sync_event_update_set(event, all_bits));
        EXPECT_EQ(host->run(Order::get).value, all_bits);
        std::uint64_t fetched = 0;
        must(doca_sync_event_update_add(event, 2, &fetched));
        EXPECT_EQ(fetched, all_bits);
        EXPECT_EQ(host->run(Order::add, 1).value, 1u) << "what was there before";
        EXPECT_EQ(event.get(), 2u);
        EXPECT_EQ(card_count("alias-uses"), uses + 4) << "two reads, a write and an addition";
        EXPECT_EQ(card_count("remote-accesses"), accesses + 6)
            << "and what the host has set and added, but for its look";
    }
}

TEST_P(SyncEventsAcrossPcie, AdditionsOfBothSidesAtOnceAreAllCounted)
{
    constexpr std::uint64_t count = 300;
    const auto host = host_event();
    const Event event = import(*host);
    host->begin(Order::add, count);
    for (std::uint64_t i = 0; i < count; ++i)
        must(doca_sync_event_update_add(event, 1, nullptr));
    must(host->finish().status);
    EXPECT_EQ(event.get(), 2 * count);
}

TEST_P(SyncEventsAcrossPcie, EachSideWaitsForTheOther)
{
    for (const Order how : {Order::wait, Order::wait_yield}) {
        const auto host = host_event(Publisher::dpu);
        const Event event = import(*host);
        host->begin(how, 4);
        must(doca_sync_event_update_set(event, 5));
        EXPECT_EQ(host->finish().status, DOCA_SUCCESS);
        must(host->run(Order::set, 6).status);
        EXPECT_EQ(doca_sync_event_wait_gt(event, 5, all_bits), DOCA_SUCCESS);
        EXPECT_EQ(doca_sync_event_wait_gt_yield(event, 5, all_bits), DOCA_SUCCESS);
    }
}

TEST_P(SyncEventsAcrossPcie, JobsOfAWorkQueue)
{
    const auto host = host_event();
    Event event(dev, host->blob());
    event.start_as_ctx();
    for (const bool is_event_driven : {false, true}) {
        EventQueue queue(8, is_event_driven);
        queue.add(event);
        must(queue.submit_set(event, 10));
        EXPECT_EQ(queue.poll().result.u64, std::uint64_t{DOCA_SUCCESS});
        std::uint64_t value = 0;
        must(queue.submit_add(event, 5, &value));
        EXPECT_EQ(queue.poll().result.u64, std::uint64_t{DOCA_SUCCESS});
        EXPECT_EQ(value, 10u);
        // The one that is met later was submitted first.
        must(queue.submit_wait(event, 20, all_bits, 20));
        must(queue.submit_wait(event, 14, all_bits, 14));
        const auto next = [&] { return is_event_driven ? queue.sleep().value() : queue.poll(); };
        EXPECT_EQ(next().user_data.u64, 14u);
        EXPECT_TRUE(queue.has_nothing());
        must(host->run(Order::set, 21).status);
        const doca_event last = next();
        EXPECT_EQ(last.user_data.u64, 20u);
        EXPECT_EQ(last.result.u64, std::uint64_t{DOCA_SUCCESS});
        // One that is left ends with the queue.
        must(queue.submit_wait(event, 1000));
        EXPECT_EQ(doca_ctx_workq_rm(event.ctx(), queue), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(queue.poll().result.u64, std::uint64_t{DOCA_ERROR_SHUTDOWN});
    }
}

TEST_P(SyncEventsAcrossPcie, AWaitIsNotMetByAReadThatBeganBeforeIt)
{
    const auto host = host_event();
    Event event(dev, host->blob());
    event.start_as_ctx();
    EventQueue queue(4);
    queue.add(event);
    must(host->run(Order::set, 5).status);
    const std::uint64_t uses = card_count("alias-uses");
    must(queue.submit_wait(event, 1000, all_bits, 1000));
    EXPECT_TRUE(queue.has_nothing()); // a read has begun
    while (card_count("alias-uses") == uses)
        sched_yield();
    must(host->run(Order::set, 0).status);
    must(queue.submit_wait(event, 4, all_bits, 4));
    while (card_count("alias-uses") < uses + 3)
        ASSERT_TRUE(queue.has_nothing()) << "5 was there before";
    must(host->run(Order::set, 6).status);
    EXPECT_EQ(queue.poll().user_data.u64, 4u);
    must(host->run(Order::set, 1001).status);
    EXPECT_EQ(queue.poll().user_data.u64, 1000u);
}

TEST_P(SyncEventsAcrossPcie, OwnerOfTheCounterBlocksUntilTheOtherSideSignals)
{
    Event event(dev, Publisher::dpu);
    event.start_as_ctx();
    EventQueue queue(4, true);
    queue.add(event);
    const HostSide host_side;
    RemoteEvent other(DeviceParam{"mlx5_0", ""}, event.export_to_dpu(dev));
    must(queue.submit_wait(event, 4));
    EXPECT_TRUE(queue.has_nothing());
    queue.arm();
    must(other.run(Order::set, 5).status);
    EXPECT_TRUE(queue.is_signalled(EventQueue::patience));
    queue.clear();
    EXPECT_EQ(queue.poll().result.u64, std::uint64_t{DOCA_SUCCESS});
}

TEST_P(SyncEventsAcrossPcie, TheHostBlocksUntilTheDpuSignals)
{
    const HostSide host_side;
    RemoteEvent sleeper(DeviceParam{"mlx5_0", ""}, Publisher::dpu);
    // A second process of the host with a handle: to sleep, an event has to be a context.
    RemoteEvent importer(DeviceParam{"mlx5_1", ""}, sleeper.blob());
    const Event event = import(sleeper);
    importer.begin(Order::sleep, 8);
    must(doca_sync_event_update_set(event, 9));
    EXPECT_EQ(importer.finish().status, DOCA_SUCCESS);
}

TEST_P(SyncEventsAcrossPcie, ADestroyedEventIsOutOfReach)
{
    const auto host = host_event();
    const Event event = import(*host);
    Event waiting(dev, host->blob());
    waiting.start_as_ctx();
    EventQueue queue(4);
    queue.add(waiting);
    must(queue.submit_wait(waiting, 100));
    must(host->run(Order::destroy).status);
    std::uint64_t value = 77;
    EXPECT_EQ(doca_sync_event_get(event, &value), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(value, 77u);
    // Nothing is asked of the card any more: it would tell of the broken queue pair sooner than of the request.
    ASSERT_EQ(ask_card("delay-completion 1000 count 3"), "ok");
    EXPECT_EQ(doca_sync_event_update_set(event, 1), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(doca_sync_event_update_add(event, 1, nullptr), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(doca_sync_event_wait_gt(event, 5, all_bits), DOCA_ERROR_CONNECTION_RESET);
    ASSERT_EQ(ask_card("clear"), "ok");
    EXPECT_EQ(queue.poll().result.u64, std::uint64_t{DOCA_ERROR_CONNECTION_RESET});
    EXPECT_EQ(import(std::as_bytes(host->blob())), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(SyncEventsAcrossPcie, AHostThatDiesIsNoticed)
{
    const auto host = host_event();
    const Event event = import(*host);
    host->kill();
    // Until the card has seen the end of its files, the memory is gone and the key is not.
    EXPECT_EQ(doca_sync_event_wait_gt(event, 5, all_bits), DOCA_ERROR_CONNECTION_RESET);
}

TEST_P(SyncEventsAcrossPcie, ForgedDescriptorsAreRefused)
{
    const auto host = host_event();
    const SharedMemoryDescriptor right = parse(*host);
    const auto with = [&](auto change) {
        SharedMemoryDescriptor d = right;
        change(d);
        return import(opendoca::to_bytes(DescriptorKind::mlx5_counter, d));
    };
    EXPECT_EQ(with([](auto &) {}), DOCA_SUCCESS);
    EXPECT_EQ(with([](auto &d) { d.access_key[31] ^= 1; }), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with([](auto &d) { d.card_guid ^= 1; }), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with([](auto &d) { d.len = 16; }), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with([](auto &d) { d.addr += 4; }), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(with([](auto &d) { d.access = DOCA_ACCESS_DPU_READ_ONLY; }), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(import(opendoca::to_bytes(DescriptorKind::mlx5_memory, right)), DOCA_ERROR_INVALID_VALUE)
        << "a memory map";
    std::vector<std::byte> bytes = opendoca::to_bytes(DescriptorKind::mlx5_counter, right);
    for (std::byte &byte : bytes) {
        byte ^= std::byte{0x10};
        EXPECT_EQ(import(bytes), DOCA_ERROR_INVALID_VALUE) << "byte " << &byte - bytes.data();
        byte ^= std::byte{0x10};
    }
    // A word beyond the export: the card is who refuses, and the handle is of no use from then on.
    SharedMemoryDescriptor beyond = right;
    beyond.addr += 8;
    bytes = opendoca::to_bytes(DescriptorKind::mlx5_counter, beyond);
    Event forged(dev, std::span(reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()));
    forged.start();
    EXPECT_EQ(doca_sync_event_update_set(forged, 1), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(host->run(Order::get).value, 0u);
}

} // namespace
