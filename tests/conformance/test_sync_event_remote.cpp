// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events between processes: operations, sleep, and death at any time; and exports that lie.
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/forged_export.hpp"
#include "support/log_capture.hpp"
#include "support/process_traits.hpp"
#include "support/sanitizers.hpp"
#include "support/sync_event.hpp"

using namespace doca_test;
using Order = RemoteEvent::Order;

namespace {

/// Where the counter is: null for the library's memory.
struct PlaceParam {
    DevicePair pair;
    std::optional<MemoryKind> kind;
};

std::ostream &operator<<(std::ostream &stream, const PlaceParam &param)
{
    return stream << param.pair << ", " << (param.kind ? name_of(*param.kind) : "library");
}

std::vector<PlaceParam> place_params()
{
    std::vector<PlaceParam> params;
    for (const DevicePair &pair : one_device_pair()) {
        for (const auto kind :
             {std::optional<MemoryKind>(), std::optional(MemoryKind::memfd), std::optional(MemoryKind::heap)})
            params.push_back({pair, kind});
    }
    return params;
}

std::string place_name(const testing::TestParamInfo<PlaceParam> &info)
{
    return info.param.kind ? name_of(*info.param.kind) : "library";
}

class SyncRemoteTest : public testing::TestWithParam<PlaceParam> {
protected:
    /// This process is the host and holds the counter.
    Event host_event(Publisher publisher)
    {
        if (!GetParam().kind)
            return Event(host, publisher);
        memory.emplace(*GetParam().kind, 4096);
        auto *const word = reinterpret_cast<std::uint64_t *>(memory->data());
        *word = 0;
        return Event(host, publisher, word);
    }
    Event dpu_event(std::span<const std::uint8_t> blob) { return Event(dpu, blob); }
    [[nodiscard]] RemoteEvent remote_host(Publisher publisher) const
    {
        return RemoteEvent(GetParam().pair.exporter, publisher, GetParam().kind);
    }
    [[nodiscard]] RemoteEvent remote_dpu(const Event &event) const
    {
        return RemoteEvent(GetParam().pair.importer, event.export_to_dpu(host));
    }

    DevHandle host{open_device(GetParam().pair.exporter)};
    DevHandle dpu{open_device(GetParam().pair.importer)};
    std::optional<Memory> memory;
    std::uint64_t value = 77;
};

doca_error_t status_of(const doca_event &event)
{
    return static_cast<doca_error_t>(event.result.u64);
}

} // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SyncRemoteTest);
INSTANTIATE_TEST_SUITE_P(place, SyncRemoteTest, testing::ValuesIn(place_params()), place_name);

TEST_P(SyncRemoteTest, both_sides_see_one_counter)
{
    Event event = host_event(Publisher::cpu);
    event.start();
    RemoteEvent there = remote_dpu(event);
    must(doca_sync_event_update_set(event, 0x0123'4567'89ab'cdef));
    EXPECT_EQ(there.run(Order::get).value, 0x0123'4567'89ab'cdefu);
    must(there.run(Order::set, all_bits).status);
    EXPECT_EQ(event.get(), all_bits);
    EXPECT_EQ(there.run(Order::add, 2).value, 0u) << "what was there before the second addition";
    EXPECT_EQ(event.get(), 1u);
    if (memory) {
        const std::uint64_t written = *reinterpret_cast<volatile std::uint64_t *>(memory->data());
        EXPECT_EQ(written, 1u);
    }

    const auto count = static_cast<std::uint64_t>(times(20'000));
    must(doca_sync_event_update_set(event, 0));
    there.begin(Order::add, count);
    for (std::uint64_t i = 0; i < count; ++i)
        must(doca_sync_event_update_add(event, 1, &value));
    must(there.finish().status);
    EXPECT_EQ(event.get(), 2 * count);
}

TEST_P(SyncRemoteTest, each_side_waits_for_the_other)
{
    Event event = host_event(Publisher::cpu);
    event.start();
    RemoteEvent there = remote_dpu(event);
    std::uint64_t i = 0;
    for (const Order how : {Order::wait, Order::wait_yield, Order::sleep}) {
        there.begin(how, i);
        must(doca_sync_event_update_set(event, ++i));
        EXPECT_EQ(there.finish().status, DOCA_SUCCESS);
        there.begin(how, 5, 0xff);
        must(doca_sync_event_update_set(event, 0xf05));
        must(doca_sync_event_update_set(event, 0x006));
        EXPECT_EQ(there.finish().status, DOCA_SUCCESS);
        must(doca_sync_event_update_set(event, i));
        there.begin(Order::set, 100);
        EXPECT_EQ(doca_sync_event_wait_gt(event, 99, all_bits), DOCA_SUCCESS);
        (void)there.finish();
        there.begin(Order::add, 100);
        EXPECT_EQ(doca_sync_event_wait_gt_yield(event, 199, all_bits), DOCA_SUCCESS);
        (void)there.finish();
        must(doca_sync_event_update_set(event, i));
    }
}

TEST_P(SyncRemoteTest, sleeper_is_woken_by_the_other_process)
{
    Event event = host_event(Publisher::dpu);
    event.start_as_ctx();
    EventQueue queue(4, true);
    queue.add(event);
    RemoteEvent there = remote_dpu(event);
    for (std::uint64_t i = 0; i < 20; ++i) {
        must(queue.submit_wait(event, i));
        there.begin(Order::add, 1);
        EXPECT_EQ(queue.sleep_for_result(), DOCA_SUCCESS);
        (void)there.finish();
    }
}

/// Also one after the other, by an updater that has not woken them before.
TEST_P(SyncRemoteTest, update_without_descriptors_wakes)
{
    Event event = host_event(Publisher::dpu);
    event.start_as_ctx();
    EventQueue queues[] = {EventQueue(4, true), EventQueue(4, true), EventQueue(4, true)};
    RemoteEvent there = remote_dpu(event);
    must(there.run(Order::starve).status);
    std::uint64_t count = 0;
    for (int round = 0; round < 3; ++round) {
        for (EventQueue &queue : queues) {
            if (round == 0)
                queue.add(event);
            must(queue.submit_wait(event, count++));
            there.begin(Order::add, 1);
            EXPECT_EQ(queue.sleep_for_result(), DOCA_SUCCESS);
            (void)there.finish();
        }
    }
}

/// Not even by the descriptors that are kept back, and the updater does nothing else ever.
TEST_P(SyncRemoteTest, update_that_can_wake_nobody_is_found)
{
    RemoteEvent there = remote_host(Publisher::cpu);
    Event event = dpu_event(there.blob());
    event.start_as_ctx();
    EventQueue queue(4, true);
    queue.add(event);
    must(queue.submit_wait(event, 0));
    queue.arm();
    must(there.run(Order::starve_for_good).status);
    must(there.run(Order::set, 1).status);
    ASSERT_TRUE(queue.is_signalled(10'000));
    queue.clear();
    doca_event ended{};
    EXPECT_EQ(queue.retrieve(ended), DOCA_SUCCESS);
    EXPECT_EQ(ended.result.u64, DOCA_SUCCESS);
    queue.arm();
    EXPECT_FALSE(queue.is_signalled()) << "what it was woken by is taken back";
}

// Death

TEST_P(SyncRemoteTest, death_of_the_holder_ends_everything)
{
    RemoteEvent there = remote_host(Publisher::cpu);
    Event event = dpu_event(there.blob());
    event.start();
    Event awaited = dpu_event(there.blob());
    awaited.start_as_ctx();
    EventQueue sleeping(4, true), polling(4);
    sleeping.add(awaited);
    polling.add(awaited);
    must(there.run(Order::set, 5).status);
    must(sleeping.submit_wait(awaited, 5));
    must(polling.submit_wait(awaited, 5));
    sleeping.arm();
    EXPECT_FALSE(sleeping.is_signalled());
    std::thread spinning([&] { EXPECT_EQ(doca_sync_event_wait_gt(event, 5, all_bits), DOCA_ERROR_CONNECTION_RESET); });
    std::thread yielding(
        [&] { EXPECT_EQ(doca_sync_event_wait_gt_yield(event, 5, all_bits), DOCA_ERROR_CONNECTION_RESET); });
    const LogCapture log;
    there.kill();
    spinning.join();
    yielding.join();
    EXPECT_LOGGED(log, "has ended");
    EXPECT_TRUE(sleeping.is_signalled(EventQueue::patience));
    sleeping.clear();
    EXPECT_EQ(status_of(sleeping.poll()), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(status_of(polling.poll()), DOCA_ERROR_CONNECTION_RESET);
    sleeping.arm();
    EXPECT_FALSE(sleeping.is_signalled()) << "the end is told once";
    sleeping.clear();
    EXPECT_EQ(doca_sync_event_get(event, &value), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(doca_sync_event_update_set(event, 1), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(doca_sync_event_update_add(event, 1, &value), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(value, 77u);
    must(polling.submit_set(awaited, 1));
    EXPECT_EQ(status_of(polling.poll()), DOCA_ERROR_CONNECTION_RESET);
}

TEST_P(SyncRemoteTest, holder_that_destroys_the_event_ends_everything)
{
    RemoteEvent there = remote_host(Publisher::cpu);
    Event event = dpu_event(there.blob());
    event.start();
    Event awaited = dpu_event(there.blob());
    awaited.start_as_ctx();
    EventQueue queue(4, true);
    queue.add(awaited);
    must(queue.submit_wait(awaited, 5));
    queue.arm();
    std::thread spinning([&] { EXPECT_EQ(doca_sync_event_wait_gt(event, 5, all_bits), DOCA_ERROR_CONNECTION_RESET); });
    must(there.run(Order::destroy).status);
    spinning.join();
    EXPECT_TRUE(queue.is_signalled(EventQueue::patience));
    queue.clear();
    EXPECT_EQ(status_of(queue.poll()), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(doca_sync_event_update_set(event, 1), DOCA_ERROR_CONNECTION_RESET);
    const auto blob = there.blob();
    doca_sync_event *made = untouched<doca_sync_event>();
    EXPECT_EQ(doca_sync_event_create_from_export(dpu, blob.data(), blob.size(), &made), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(made, untouched<doca_sync_event>());
}

TEST_P(SyncRemoteTest, death_of_the_last_publisher_ends_waits)
{
    Event event = host_event(Publisher::dpu);
    event.start_as_ctx();
    EventQueue sleeping(4, true), polling(4);
    sleeping.add(event);
    polling.add(event);
    must(sleeping.submit_wait(event, 100));
    must(polling.submit_wait(event, 100));
    sleeping.arm(); // before there is anybody who could die
    RemoteEvent orderly = remote_dpu(event);
    RemoteEvent first = remote_dpu(event);
    RemoteEvent second = remote_dpu(event);
    must(orderly.run(Order::destroy).status);
    first.kill();
    // A publisher is left: what these signals, if there are any, lead to is nothing.
    while (sleeping.is_signalled()) {
        sleeping.clear();
        EXPECT_TRUE(sleeping.has_nothing());
        sleeping.arm();
    }
    EXPECT_TRUE(polling.has_nothing());
    must(second.run(Order::set, 50).status);
    second.kill();
    EXPECT_EQ(sleeping.sleep_for_result(), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(status_of(polling.poll()), DOCA_ERROR_CONNECTION_RESET);
    must(polling.submit_wait(event, 49)); // but what was reached counts
    EXPECT_EQ(status_of(polling.poll()), DOCA_SUCCESS);

    RemoteEvent third = remote_dpu(event); // who takes over
    must(sleeping.submit_wait(event, 50));
    third.begin(Order::add, 1);
    EXPECT_EQ(sleeping.sleep_for_result(), DOCA_SUCCESS);
    (void)third.finish();
}

/// It was found while its end could not be watched for want of descriptors.
/// Few polls, each a while after the one before: the time counts as well.
TEST_P(SyncRemoteTest, PolledWaitWithPausesEndsSoonAfterThePublisherDies)
{
    constexpr int most_polls = 200; ///< at 10 ms; by the number of polls alone it takes 4,096
    Event event = host_event(Publisher::dpu);
    event.start_as_ctx();
    EventQueue queue(4);
    queue.add(event);
    RemoteEvent there = remote_dpu(event);
    must(queue.submit_wait(event, 5));
    there.kill();
    doca_event ended{};
    doca_error_t status = DOCA_ERROR_AGAIN;
    int num_polls = 0;
    for (; num_polls != most_polls && status == DOCA_ERROR_AGAIN; ++num_polls) {
        status = queue.retrieve(ended);
        std::this_thread::sleep_for(std::chrono::milliseconds(10)); // the pause is what is tested
    }
    EXPECT_EQ(status, DOCA_ERROR_IO_FAILED);
    EXPECT_LT(num_polls, most_polls);
    if (status == DOCA_ERROR_AGAIN)
        must(doca_sync_event_update_set(event, 6)); // ends the wait, for the destructors
}

TEST_P(SyncRemoteTest, death_of_a_publisher_that_came_in_want_ends_waits)
{
    Event event = host_event(Publisher::dpu);
    event.start_as_ctx();
    EventQueue queue(4, true);
    queue.add(event);
    must(queue.submit_wait(event, 5));
    RemoteEvent there = remote_dpu(event);
    rlimit limit{};
    must_hold(getrlimit(RLIMIT_NOFILE, &limit) == 0, "the limit is known");
    const std::vector<int> taken = take_all_descriptors();
    queue.arm(); // which finds it
    EXPECT_FALSE(queue.is_signalled());
    for (const int fd : taken)
        close(fd);
    must_hold(setrlimit(RLIMIT_NOFILE, &limit) == 0, "descriptors are back");
    queue.clear();
    queue.arm();
    EXPECT_FALSE(queue.is_signalled());
    there.kill();
    EXPECT_TRUE(queue.is_signalled(EventQueue::patience));
    queue.clear();
    EXPECT_EQ(status_of(queue.poll()), DOCA_ERROR_CONNECTION_RESET);
}

TEST_P(SyncRemoteTest, death_of_the_publisher_ends_synchronous_waits)
{
    Event event = host_event(Publisher::dpu);
    event.start();
    RemoteEvent there = remote_dpu(event);
    std::thread spinning([&] { EXPECT_EQ(doca_sync_event_wait_gt(event, 5, all_bits), DOCA_ERROR_CONNECTION_RESET); });
    std::thread yielding(
        [&] { EXPECT_EQ(doca_sync_event_wait_gt_yield(event, 5, all_bits), DOCA_ERROR_CONNECTION_RESET); });
    there.kill();
    spinning.join();
    yielding.join();
    EXPECT_EQ(event.get(), 0u) << "the counter stays";
}

TEST_P(SyncRemoteTest, value_that_was_reached_before_the_death_counts)
{
    RemoteEvent there = remote_host(Publisher::cpu);
    Event awaited = dpu_event(there.blob());
    awaited.start_as_ctx();
    EventQueue queue(4, true);
    queue.add(awaited);
    must(queue.submit_wait(awaited, 5));
    queue.arm();
    must(there.run(Order::set, 6).status);
    EXPECT_TRUE(queue.is_signalled(EventQueue::patience));
    there.kill();
    queue.clear();
    // Memory of the program that nobody shares goes with its process.
    EXPECT_EQ(status_of(queue.poll()),
              GetParam().kind == MemoryKind::heap ? DOCA_ERROR_CONNECTION_RESET : DOCA_SUCCESS);
}

TEST_P(SyncRemoteTest, killed_in_the_middle_of_updates)
{
    Event event = host_event(Publisher::cpu);
    event.start();
    Event awaited = dpu_event(event.export_to_dpu(host));
    awaited.start_as_ctx();
    EventQueue queue(4, true);
    queue.add(awaited);
    std::mt19937 random(1);
    for (int round = 0; round < times(50); ++round) {
        RemoteEvent there = remote_dpu(event);
        there.begin(Order::storm);
        for (auto i = random() % 2000; i > 0; --i)
            must(doca_sync_event_update_add(event, 1, &value));
        there.kill();
        must(doca_sync_event_update_set(event, 3));
        must(queue.submit_wait(awaited, 3));
        queue.arm();
        must(doca_sync_event_update_add(event, 1, &value));
        EXPECT_EQ(value, 3u);
        EXPECT_EQ(queue.sleep_for_result(), DOCA_SUCCESS);
        EXPECT_EQ(event.get(), 4u);
    }
}

TEST_P(SyncRemoteTest, places_of_the_killed_are_taken_over)
{
    Event event = host_event(Publisher::cpu);
    event.start_as_ctx();
    EventQueue polling(4);
    polling.add(event);
    RemoteEvent sleepers = remote_dpu(event);
    const RemoteEvent::Reply queues = sleepers.run(Order::fill_queues);
    EXPECT_EQ(queues.status, DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(queues.value, 63u);
    const RemoteEvent::Reply handles = sleepers.run(Order::fill_handles);
    EXPECT_EQ(handles.status, DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(handles.value, 64u - 2);
    EventQueue queue(4, true);
    EXPECT_EQ(doca_ctx_workq_add(event.ctx(), queue), DOCA_ERROR_NO_MEMORY);
    sleepers.kill();

    must(polling.submit_set(event, all_bits)); // which all of the dead were waiting for
    EXPECT_EQ(status_of(polling.poll()), DOCA_SUCCESS);
    must(polling.submit_set(event, 0));
    EXPECT_EQ(status_of(polling.poll()), DOCA_SUCCESS);
    queue.add(event);
    RemoteEvent there = remote_dpu(event);
    must(queue.submit_wait(event, 5));
    queue.arm();
    EXPECT_FALSE(queue.is_signalled());
    must(there.run(Order::set, 6).status);
    EXPECT_EQ(queue.sleep_for_result(), DOCA_SUCCESS);
}

// Exports that lie

namespace {

class SyncBlobTest : public SyncRemoteTest {
protected:
    [[nodiscard]] doca_error_t import(std::span<const std::byte> blob) const
    {
        doca_sync_event *event = untouched<doca_sync_event>();
        const doca_error_t status = doca_sync_event_create_from_export(
            dpu, reinterpret_cast<const std::uint8_t *>(blob.data()), blob.size(), &event);
        if (status == DOCA_SUCCESS) {
            EXPECT_EQ(doca_sync_event_destroy(event), DOCA_SUCCESS);
        } else {
            EXPECT_EQ(event, untouched<doca_sync_event>());
        }
        return status;
    }
};

std::vector<std::byte> bytes_of(std::span<const std::uint8_t> blob)
{
    const auto bytes = std::as_bytes(blob);
    return {bytes.begin(), bytes.end()};
}

using opendoca::soft::CounterDescriptor;

CounterDescriptor parse_counter(std::span<const std::byte> bytes)
{
    CounterDescriptor d{};
    must_hold(opendoca::from_bytes(bytes, opendoca::DescriptorKind::soft_counter, d) ==
                  opendoca::DescriptorReader::Fault::none,
              "a sync event's descriptor");
    return d;
}

std::vector<std::byte> seal(const CounterDescriptor &d)
{
    return opendoca::to_bytes(opendoca::DescriptorKind::soft_counter, d);
}

} // namespace

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SyncBlobTest);
INSTANTIATE_TEST_SUITE_P(place, SyncBlobTest, testing::ValuesIn(place_params()), place_name);

TEST_P(SyncBlobTest, every_flipped_byte_and_every_truncation_is_refused_and_nothing_leaks)
{
    RemoteEvent there = remote_host(Publisher::cpu);
    std::vector<std::byte> blob = bytes_of(there.blob());
    ASSERT_LE(blob.size(), 256u);
    ASSERT_EQ(import(blob), DOCA_SUCCESS);
    const Resources before = resources_in_use();
    for (std::byte &byte : blob) {
        for (const int flip : {0x01, 0x80, 0xff}) {
            byte ^= static_cast<std::byte>(flip);
            EXPECT_EQ(import(blob), DOCA_ERROR_INVALID_VALUE) << "byte " << &byte - blob.data();
            byte ^= static_cast<std::byte>(flip);
        }
    }
    for (std::size_t size = 1; size < blob.size(); ++size)
        EXPECT_EQ(import(std::span(blob).first(size)), DOCA_ERROR_INVALID_VALUE) << size << " bytes";
    EXPECT_EQ(resources_in_use(), before);
    EXPECT_EQ(import(blob), DOCA_SUCCESS);
    blob.resize(1024); // as programs pass what they have received into
    EXPECT_EQ(import(blob), DOCA_SUCCESS);
    there.kill();
    EXPECT_EQ(import(blob), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(SyncBlobTest, memory_maps_and_events_are_not_mixed_up)
{
    RemoteEvent there = remote_host(Publisher::cpu);
    const std::vector<std::byte> blob = bytes_of(there.blob());
    doca_mmap *mmap = untouched<doca_mmap>();
    EXPECT_EQ(doca_mmap_create_from_export(nullptr, blob.data(), blob.size(), dpu, &mmap), DOCA_ERROR_INVALID_VALUE);
    const CounterDescriptor parts = parse_counter(blob);
    for (const ExportDescriptor &part : {parts.page, parts.word}) {
        const std::vector<std::byte> as_map = seal(part);
        EXPECT_EQ(doca_mmap_create_from_export(nullptr, as_map.data(), as_map.size(), dpu, &mmap),
                  DOCA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(mmap, untouched<doca_mmap>());

    Memory exported(MemoryKind::memfd, 64 << 10);
    MmapHandle map;
    must(doca_mmap_create(nullptr, map.out()));
    must(doca_mmap_set_memrange(map, exported.data(), exported.size()));
    must(doca_mmap_set_permissions(map, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE));
    must(doca_mmap_dev_add(map, host));
    must(doca_mmap_start(map));
    const void *descriptor = nullptr;
    std::size_t size = 0;
    must(doca_mmap_export_dpu(map, host, &descriptor, &size));
    const std::span bytes(static_cast<const std::byte *>(descriptor), size);
    EXPECT_EQ(import(bytes), DOCA_ERROR_INVALID_VALUE);
    // The kind that is asked for, of an entry of another kind.
    ExportDescriptor d = parse_descriptor(bytes);
    for (const std::uint16_t kind : std::initializer_list<std::uint16_t>{0, 3, 4, 5, 0xffff}) {
        d.kind = kind;
        EXPECT_EQ(import(seal(d)), DOCA_ERROR_INVALID_VALUE) << kind;
        EXPECT_EQ(import(seal(CounterDescriptor{.page = d, .word = {}})), DOCA_ERROR_INVALID_VALUE) << kind;
    }
}

TEST_P(SyncBlobTest, words_of_two_events_are_not_put_together)
{
    if (!GetParam().kind)
        GTEST_SKIP() << "an event in the library's memory has no word of its own";
    RemoteEvent first = remote_host(Publisher::cpu);
    RemoteEvent second = remote_host(Publisher::cpu);
    CounterDescriptor mixed = parse_counter(bytes_of(first.blob()));
    ASSERT_EQ(import(seal(mixed)), DOCA_SUCCESS);
    mixed.word = parse_counter(bytes_of(second.blob())).word;
    const LogCapture log;
    EXPECT_EQ(import(seal(mixed)), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "different sync events");
}

TEST_P(SyncBlobTest, devices_of_another_port_are_refused)
{
    const std::vector<DevicePair> strangers = device_pairs(false);
    if (strangers.empty())
        GTEST_SKIP() << "needs a function that is not behind a port";
    const DevHandle exporter = open_device(strangers.front().exporter);
    Event event(exporter, Publisher::cpu);
    event.start();
    const DevHandle importer = open_device(strangers.front().importer);
    const auto blob = event.export_to_dpu(exporter);
    doca_sync_event *made = untouched<doca_sync_event>();
    EXPECT_EQ(doca_sync_event_create_from_export(importer, blob.data(), blob.size(), &made), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(made, untouched<doca_sync_event>());
}
