// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The first message to a receiver that sleeps, while memory or descriptors lack: the message counts as sent, and so its
// receiver has to be woken, if not by this submit then by the sender's next polls.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <poll.h>
#include <sys/resource.h>

#include "../conformance/support/rdma_fixture.hpp"
#include "failing.hpp"

using namespace doca_test;
using namespace attack;

namespace {

/// A sender and a receiver of this process, whose work queue is event-driven.
class WakeTest : public testing::Test {
protected:
    static constexpr std::size_t length = 32;

    static std::string device()
    {
        for (const DeviceParam &device : few_devices_that(can_connect)) {
            if (device.is_soft())
                return device.ibdev;
        }
        return {};
    }

    struct Pair {
        Pair(doca_dev *dev, bool is_receiver_attached_first, bool is_sender_event_driven = false)
            : sender(dev, {.is_event_driven = is_sender_event_driven}),
              receiver(dev, {.is_event_driven = true, .has_workq = false})
        {
            if (is_receiver_attached_first)
                must(doca_ctx_workq_add(receiver.ctx(), receiver.workq()));
            must(sender.connect(receiver.details()));
            must(receiver.connect(sender.details()));
            if (!is_receiver_attached_first)
                must(doca_ctx_workq_add(receiver.ctx(), receiver.workq()));
        }
        ~Pair()
        {
            while (doca_ctx_workq_rm(receiver.ctx(), receiver.workq()) == DOCA_ERROR_NOT_PERMITTED)
                (void)receiver.try_retrieve();
        }
        void sleep(doca_buf *dst) const
        {
            must(receiver.receive(dst));
            must(doca_workq_event_handle_arm(receiver.workq()));
        }

        RdmaEnd sender;
        RdmaEnd receiver;
    };

    [[nodiscard]] static bool is_signalled(const RdmaEnd &end)
    {
        pollfd handle = {.fd = -1, .events = POLLIN, .revents = 0};
        must(doca_workq_get_event_handle(end.workq(), &handle.fd));
        return poll(&handle, 1, 0) == 1;
    }
    /// Whether the receiver is woken while the sender polls.
    [[nodiscard]] static bool is_woken(const Pair &pair)
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!is_signalled(pair.receiver)) {
            if (std::chrono::steady_clock::now() > end)
                return false;
            EXPECT_EQ(pair.sender.try_retrieve().status, DOCA_ERROR_AGAIN);
        }
        return true;
    }
    [[nodiscard]] static doca_error_t clear(const RdmaEnd &end)
    {
        doca_event_handle_t handle = -1;
        must(doca_workq_get_event_handle(end.workq(), &handle));
        return doca_workq_event_handle_clear(end.workq(), handle);
    }

    /// Lets number 1, 2, and so on fail in the first send to a receiver that sleeps, until nothing is left to fail.
    /// Calls @p check after each.
    template <typename Check>
    void each_failure(Failing what, Check check)
    {
        constexpr std::uint64_t fewest = 5; // where everything is opened in the send
        const char *failed = nullptr;
        std::uint64_t k = 0;
        do {
            const Pair pair(dev, false);
            must(doca_buf_reset_data_len(dst));
            pair.sleep(dst);
            fail_at(what, ++k);
            {
                const Inside inside;
                ASSERT_EQ(pair.sender.send(src), DOCA_SUCCESS);
            }
            failed = failed_function();
            fail_at(Failing::nothing, 0);
            SCOPED_TRACE("number " + std::to_string(k) + ", " + (failed != nullptr ? failed : "nothing") + " failed");
            check(pair);
            if (HasFatalFailure())
                return;
        } while (failed != nullptr);
        EXPECT_GT(k, fewest);
    }

    DevHandle dev{open_device(device())};
    Memory memory{MemoryKind::heap, 4096};
    LocalMap map{dev, memory.bytes(), exposed};
    Inventory inventory{8};
    BufHandle src{inventory.full(map, memory.data(), length)};
    BufHandle dst{inventory.empty(map, memory.data() + 2048, length)};
};

class WakeInWant : public WakeTest, public testing::WithParamInterface<Failing> {};

std::string failing_name(const testing::TestParamInfo<Failing> &param)
{
    return param.param == Failing::allocations ? "allocations" : "system_calls";
}

class WakeWithoutDescriptors : public WakeTest {};

/// Nothing that takes a descriptor works for as long as it lives, not even with those that were kept back.
class NoDescriptors {
public:
    NoDescriptors()
    {
        must_hold(getrlimit(RLIMIT_NOFILE, &before_) == 0, "the limit is known");
        const rlimit none = {0, before_.rlim_max};
        must_hold(setrlimit(RLIMIT_NOFILE, &none) == 0, "descriptors are limited");
    }
    NoDescriptors(const NoDescriptors &) = delete;
    NoDescriptors &operator=(const NoDescriptors &) = delete;
    ~NoDescriptors() { must_hold(setrlimit(RLIMIT_NOFILE, &before_) == 0, "descriptors are back"); }

private:
    rlimit before_{};
};

} // namespace

INSTANTIATE_TEST_SUITE_P(of, WakeInWant, testing::Values(Failing::allocations, Failing::system_calls), failing_name);

/// The receiver's doorbells are first seen in the send.
TEST_P(WakeInWant, ThePollsAfterTheFirstSendWakeWhateverFailsInIt)
{
    each_failure(GetParam(), [&](const Pair &pair) {
        EXPECT_EQ(pair.sender.result(), DOCA_SUCCESS);
        ASSERT_TRUE(is_woken(pair));
        must(clear(pair.receiver));
        EXPECT_EQ(pair.receiver.result(), DOCA_SUCCESS);
    });
}

TEST_P(WakeInWant, TheSecondSendWakesWhateverFailsInTheFirst)
{
    each_failure(GetParam(), [&](const Pair &pair) {
        const BufHandle other = inventory.empty(map, memory.data() + 3072, length);
        must(pair.receiver.receive(other));
        ASSERT_EQ(pair.sender.send(src), DOCA_SUCCESS);
        ASSERT_TRUE(is_signalled(pair.receiver));
        must(clear(pair.receiver));
        for (int i = 0; i < 2; ++i)
            EXPECT_EQ(pair.receiver.result(), DOCA_SUCCESS);
    });
}

TEST_P(WakeInWant, TheFirstSendTakesNothingButTheWakeUpByAPipe)
{
    const Pair pair(dev, true);
    pair.sleep(dst);
    fail_at(GetParam(), UINT64_MAX);
    {
        const Inside inside;
        ASSERT_EQ(pair.sender.send(src), DOCA_SUCCESS);
    }
    EXPECT_EQ(counted(), GetParam() == Failing::allocations ? 0u : 1u);
    fail_at(Failing::nothing, 0);
    EXPECT_TRUE(is_signalled(pair.receiver));
    must(clear(pair.receiver));
    EXPECT_EQ(pair.receiver.result(), DOCA_SUCCESS);
    EXPECT_EQ(pair.sender.result(), DOCA_SUCCESS);
}

TEST_F(WakeWithoutDescriptors, IsMadeByThePollAfterTheyAreBack)
{
    const Pair pair(dev, false);
    pair.sleep(dst);
    {
        const NoDescriptors none;
        ASSERT_EQ(pair.sender.send(src), DOCA_SUCCESS);
        EXPECT_EQ(pair.sender.result(), DOCA_SUCCESS);
        for (int i = 0; i < 100; ++i)
            EXPECT_EQ(pair.sender.try_retrieve().status, DOCA_ERROR_AGAIN);
    }
    EXPECT_FALSE(is_signalled(pair.receiver));
    EXPECT_TRUE(is_woken(pair));
}

TEST_F(WakeWithoutDescriptors, KeepsTheSenderFromSleeping)
{
    const Pair pair(dev, false, true);
    pair.sleep(dst);
    {
        const NoDescriptors none;
        ASSERT_EQ(pair.sender.send(src), DOCA_SUCCESS);
        EXPECT_EQ(pair.sender.result(), DOCA_SUCCESS);
        must(doca_workq_event_handle_arm(pair.sender.workq()));
    }
    EXPECT_TRUE(is_signalled(pair.sender)) << "it has to look after its ring";
    must(clear(pair.sender));
    EXPECT_TRUE(is_woken(pair));
    must(doca_workq_event_handle_arm(pair.sender.workq()));
    EXPECT_FALSE(is_signalled(pair.sender)) << "nothing is owed any more";
}
