// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The protocol with both ends in one process, each in a thread of its own, so that thread sanitizers see
// both.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <poll.h>

#include "support/rdma_fixture.hpp"

namespace {

using namespace doca_test;

constexpr std::uint32_t num_messages = 4000;
constexpr std::size_t slot_size = 1024;
constexpr std::uint32_t window = 8;

/// How long message @p number is: of every kind.
std::size_t length_of(std::uint32_t number)
{
    constexpr std::size_t lengths[] = {8, 0, 40, 41, 1000, 17, 300, 1};
    return lengths[number % 8];
}

/// One end and its memory: sends and receives num_messages at the same time.
class Talker {
public:
    Talker(doca_dev *dev, std::uint32_t seed, bool is_event_driven)
        : seed_(seed),
          is_event_driven_(is_event_driven),
          map_(dev, memory_.bytes(), exposed),
          end(dev, {.depth = 4 * window, .is_event_driven = is_event_driven})
    {
        std::printf("seed of the checks before waits: %u\n", checks_seed_);
        for (std::uint32_t i = 0; i < window; ++i) {
            receives_.push_back(inventory_.empty(map_, memory_.data() + i * slot_size, slot_size));
            sends_.push_back(inventory_.empty(map_, memory_.data() + (window + i) * slot_size, slot_size));
        }
    }

    void talk(std::uint32_t peers_seed)
    {
        std::uint32_t sent = 0, posted = 0, done_sends = 0, done_receives = 0;
        while (done_sends < num_messages || done_receives < num_messages) {
            while (posted < num_messages && posted < done_receives + window) {
                must(doca_buf_reset_data_len(receives_[posted % window]));
                must(end.receive(receives_[posted % window], posted));
                ++posted;
            }
            while (sent < num_messages && sent < done_sends + window) {
                const std::span<std::byte> bytes = slot(window + sent % window).first(length_of(sent));
                fill(bytes, seed_ + sent);
                must(doca_buf_set_data(sends_[sent % window], bytes.data(), bytes.size()));
                must(end.send(sends_[sent % window], sent, sent));
                ++sent;
            }
            const RdmaEnded ended = next();
            must(ended.result.result);
            if (ended.type == DOCA_RDMA_JOB_RECV) {
                must_hold(ended.user_data == done_receives && ended.result.immediate_data == done_receives,
                          "messages come in order");
                must_hold(
                    ended.result.length == length_of(done_receives) &&
                        is_filled(slot(done_receives % window).first(ended.result.length), peers_seed + done_receives),
                    "messages come whole");
                ++done_receives;
            } else {
                must_hold(ended.user_data == done_sends, "sends end in order");
                ++done_sends;
            }
        }
    }

private:
    [[nodiscard]] std::span<std::byte> slot(std::uint32_t i)
    {
        return memory_.bytes().subspan(i * slot_size, slot_size);
    }

    /// Blocks as programs do: arms, mostly checks once more or a few times, and waits.
    [[nodiscard]] RdmaEnded next()
    {
        if (!is_event_driven_)
            return end.wait();
        doca_event_handle_t handle = -1;
        must(doca_workq_get_event_handle(end.workq(), &handle));
        for (;;) {
            const RdmaEnded ended = end.try_retrieve();
            if (ended.status != DOCA_ERROR_AGAIN)
                return ended;
            must(doca_workq_event_handle_arm(end.workq()));
            for (auto checks = random_() % 4; checks != 0; --checks) {
                const RdmaEnded once_more = end.try_retrieve();
                if (once_more.status == DOCA_ERROR_AGAIN)
                    continue;
                must(doca_workq_event_handle_clear(end.workq(), handle));
                return once_more;
            }
            pollfd wish = {.fd = handle, .events = POLLIN, .revents = 0};
            must_hold(poll(&wish, 1, 60'000) == 1, "the handle wakes its waiter");
            must(doca_workq_event_handle_clear(end.workq(), handle));
        }
    }

    std::uint32_t seed_;
    bool is_event_driven_;
    const std::uint32_t checks_seed_ = std::random_device{}(); ///< whatever it is, no wake-up is lost
    std::minstd_rand random_{checks_seed_};
    Memory memory_{MemoryKind::heap, 2 * window *slot_size};
    LocalMap map_;
    Inventory inventory_{2 * window};
    std::vector<BufHandle> receives_;
    std::vector<BufHandle> sends_;

public:
    RdmaEnd end;
};

class RdmaThreads : public DeviceTest {};
INSTANTIATE_FOR_FEW_DEVICES(RdmaThreads, can_connect);

/// Runs @p body in a thread; an exception fails the test.
template <typename Body>
std::thread in_thread(Body body)
{
    return std::thread([body] {
        try {
            body();
        } catch (const std::exception &error) {
            ADD_FAILURE() << error.what();
        }
    });
}

TEST_P(RdmaThreads, BothEndsTalkAtOnce)
{
    for (const bool is_event_driven : {false, true}) {
        Talker left(dev, 1, is_event_driven), right(dev, 1000, is_event_driven);
        std::thread one = in_thread([&] {
            must(left.end.connect(right.end.details()));
            left.talk(1000);
        });
        std::thread two = in_thread([&] {
            must(right.end.connect(left.end.details()));
            right.talk(1);
        });
        one.join();
        two.join();
    }
}

TEST_P(RdmaThreads, AtomicsOfManyThreadsAddUp)
{
    constexpr std::uint32_t num_threads = 4, count = 2000;
    Memory memory(MemoryKind::heap, 4096);
    std::memset(memory.data(), 0, memory.size());
    const LocalMap map(dev, memory.bytes(), exposed);
    const std::vector<std::byte> descriptor = export_rdma(map, dev);
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < num_threads; ++i) {
        threads.push_back(in_thread([&, i] {
            const RdmaEnd end(dev);
            must(end.connect(end.details()));
            const MmapHandle imported = import_rdma(descriptor, dev);
            Inventory inventory(2);
            const BufHandle target = inventory.full(imported, memory.data(), 8);
            const BufHandle result = inventory.empty(map, memory.data() + 64 * (i + 1), 8);
            for (std::uint32_t k = 0; k < count; ++k) {
                must(end.add(target, result, 1));
                must(end.result());
            }
        }));
    }
    for (std::thread &thread : threads)
        thread.join();
    std::uint64_t sum = 0;
    std::memcpy(&sum, memory.data(), sizeof(sum));
    EXPECT_EQ(sum, num_threads * count);
}

TEST_P(RdmaThreads, WhatCountsAsSentIsReceived)
{
    // Connected through a device, each end of one is only noticed after the last retry of a send.
    const int num_rounds = GetParam().is_soft() ? 300 : 2;
    constexpr std::uint64_t num_receives = 8;
    for (int round = 0; round < num_rounds; ++round) {
        const RdmaEnd left(dev), right(dev);
        must(left.connect(right.details()));
        must(right.connect(left.details()));
        std::atomic<bool> has_begun{false};
        std::uint64_t received = 0;
        std::thread other = in_thread([&] {
            for (std::uint64_t i = 0; i < num_receives; ++i)
                must(right.receive(nullptr, i));
            has_begun.store(true);
            for (int i = 0; i < round * 4; ++i)
                std::atomic_signal_fence(std::memory_order_seq_cst);
            EXPECT_NE(doca_ctx_workq_rm(right.ctx(), right.workq()), DOCA_SUCCESS); // cancels
            for (std::uint64_t i = 0; i < num_receives; ++i)
                received += right.result() == DOCA_SUCCESS ? 1 : 0;
        });
        while (!has_begun.load()) {
        }
        std::uint64_t sent = 0;
        while (left.send(nullptr) == DOCA_SUCCESS && left.result() == DOCA_SUCCESS)
            ++sent;
        other.join();
        ASSERT_LE(sent, received);
    }
}

TEST_P(RdmaThreads, APeerThatStopsInTheMiddleLosesNothingTwice)
{
    const int num_rounds = GetParam().is_soft() ? 30 : 2; // as above
    for (int round = 0; round < num_rounds; ++round) {
        Talker left(dev, 1, false), right(dev, 1000, false);
        must(left.end.connect(right.end.details()));
        must(right.end.connect(left.end.details()));
        std::atomic<bool> has_begun{false};
        std::thread other = in_thread([&] {
            for (std::uint64_t i = 0; i < 8; ++i)
                must(right.end.receive(nullptr, i));
            has_begun.store(true);
            for (int i = 0; i < round; ++i)
                (void)right.end.try_retrieve();
            right.end.stop();
        });
        while (!has_begun.load())
            std::this_thread::yield();
        std::uint64_t submitted = 0, ended = 0;
        for (bool is_over = false; !is_over || ended < submitted;) {
            if (!is_over && submitted < ended + 4) {
                const doca_error_t status = left.end.send(nullptr, {}, submitted);
                is_over = status == DOCA_ERROR_BAD_STATE;
                submitted += status == DOCA_SUCCESS ? 1 : 0;
            }
            const RdmaEnded one = left.end.try_retrieve();
            if (one.status == DOCA_ERROR_AGAIN)
                continue;
            EXPECT_EQ(one.user_data, ended++);
            EXPECT_TRUE(one.result.result == DOCA_SUCCESS || one.result.result == DOCA_ERROR_CONNECTION_RESET ||
                        one.result.result == DOCA_ERROR_SHUTDOWN);
        }
        other.join();
        EXPECT_EQ(left.end.state(), DOCA_RDMA_STATE_ERROR);
    }
}

} // namespace
