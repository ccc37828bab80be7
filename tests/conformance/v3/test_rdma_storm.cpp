// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Random programs of RDMA: four instances of one engine that connect to each other and to processes which are killed.
// Tasks of all kinds are submitted, freed on their way and submitted again, connections made and ended, contexts
// stopped and started, in callbacks and outside of them. Whatever happens, each task comes back once, with the right
// bytes, and each context becomes idle. A failure names its seed.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <arpa/inet.h>

#include "../support/environment.hpp"
#include "rdma_instance.hpp"
#include "storm_peers.hpp"
#include "storm_seeds.hpp"

using namespace doca_test;

namespace {

constexpr std::uint32_t num_instances = 4;
constexpr std::uint32_t slots_of_a_kind = 12;
constexpr std::size_t slot_size = 64;

enum class Kind : std::uint32_t { receive, send, write, read, add };
constexpr std::uint32_t num_kinds = 5;
constexpr std::uint32_t num_slots = num_kinds * slots_of_a_kind;

/// A task's place: its buffers, and where it is.
struct Slot {
    enum class Where { nowhere, in_flight, given_up };

    Kind kind{};
    Outcome outcome;
    Where where = Where::nowhere;
    std::byte *memory = nullptr;
    BufHandle local;
    std::array<BufHandle, num_instances> remote; ///< the same place of the others
    std::uint32_t to = 0;                        ///< an instance
    bool is_to_client = false;                   ///< by a connection that may be gone when the task has ended
};

/// One side of a connection. The connection is valid until its context is idle, or, if a client has asked for it, until
/// it ends: then it is removed from ends_.
struct End {
    doca_rdma_connection *connection;
    std::uint32_t peer; ///< the instance at the other side, or num_instances: a process, or a side that never connects
};

class RdmaStorm {
public:
    RdmaStorm(doca_dev *device, std::uint32_t seed) : random_(seed), dev_(device)
    {
        must(doca_pe_create(pe_.out()));
        inventory_ = inventory_of(num_instances * num_slots * (1 + num_instances));
        for (std::uint32_t i = 0; i != num_instances; ++i) {
            memory_[i].resize(num_slots * slot_size);
            maps_[i] = map_of(dev_, memory_[i], rdma_rights);
            const void *descriptor = nullptr;
            std::size_t length = 0;
            must(doca_mmap_export_rdma(maps_[i], dev_, &descriptor, &length));
            must(doca_mmap_create_from_export(nullptr, descriptor, length, dev_, imported_[i].out()));
            instances_[i] = std::make_unique<RdmaInstance>(dev_, 1, pe_);
            instances_[i]->on_request = [this, i](doca_rdma_connection *connection) { answer(i, connection); };
            instances_[i]->on_end = [this, i](doca_rdma_connection *connection) { remove_client(i, connection); };
            instances_[i]->on_failure = instances_[i]->on_end;
        }
        for (std::uint32_t i = 0; i != num_instances; ++i) {
            for (std::uint32_t k = 0; k != num_slots; ++k)
                prepare(i, k);
        }
    }

    void run(std::uint32_t num_steps, StormPeers *peers)
    {
        for (std::uint32_t step = 0; step != num_steps && !testing::Test::HasFailure(); ++step) {
            const std::uint32_t i = pick(num_instances);
            if (is_idle(i))
                begin(i, peers);
            switch (pick(16)) {
            case 0:
                if (pick(12) == 0)
                    (void)doca_ctx_stop(instances_[i]->ctx());
                break;
            case 1:
                if (pick(4) == 0)
                    give_one_up(i);
                break;
            case 2:
                doze(i);
                break;
            case 3:
                if (pick(8) == 0)
                    disconnect_one(i);
                break;
            case 4:
                if (ends_[i].size() < 16)
                    connect(i, pick(num_instances));
                break;
            case 5:
                if (peers != nullptr && pick(16) == 0)
                    peers->kill_one(pick(1000));
                [[fallthrough]];
            case 6:
            case 7:
            case 8:
                progress();
                break;
            default:
                submit_one(i);
            }
        }
        is_over_ = true;
        for (std::uint32_t i = 0; i != num_instances; ++i) {
            (void)doca_ctx_stop(instances_[i]->ctx());
            while (!is_idle(i))
                progress();
            note_idle(i);
        }
        EXPECT_EQ(num_submitted, num_ended + num_given_up);
    }

    std::uint64_t num_submitted = 0;
    std::uint64_t num_ended = 0;
    std::uint64_t num_succeeded = 0;
    std::uint64_t num_given_up = 0;
    std::uint64_t num_accepted = 0;

private:
    std::uint32_t pick(std::size_t below) { return static_cast<std::uint32_t>(random_() % below); }
    [[nodiscard]] bool is_idle(std::uint32_t i) const { return state_of(instances_[i]->ctx()) == DOCA_CTX_STATE_IDLE; }
    [[nodiscard]] bool is_running(std::uint32_t i) const
    {
        return state_of(instances_[i]->ctx()) == DOCA_CTX_STATE_RUNNING;
    }

    void prepare(std::uint32_t i, std::uint32_t k)
    {
        Slot &slot = slots_[i][k];
        slot.kind = static_cast<Kind>(k / slots_of_a_kind);
        slot.memory = &memory_[i][k * slot_size];
        must(doca_buf_inventory_buf_get_by_addr(inventory_, maps_[i], slot.memory, slot_size, slot.local.out()));
        for (std::uint32_t j = 0; j != num_instances; ++j)
            must(doca_buf_inventory_buf_get_by_addr(inventory_, imported_[j], &memory_[j][k * slot_size], slot_size,
                                                    slot.remote[j].out()));
        slot.outcome.then = [this, i, k](doca_task *task) { ended(i, slots_[i][k], task); };
    }

    void progress()
    {
        // Contexts are parked after a long time without work.
        for (std::uint32_t left = pick(500) == 0 ? polls_until_parked : 1; left != 0; --left)
            (void)doca_pe_progress(pe_);
        for (std::uint32_t i = 0; i != num_instances; ++i) {
            if (is_idle(i))
                note_idle(i);
        }
    }

    void begin(std::uint32_t i, const StormPeers *peers)
    {
        note_idle(i);
        instances_[i]->start();
        if (peers != nullptr && i == 0) // another instance of the test may have the port: then it gets none
            (void)doca_rdma_start_listen_to_port(instances_[i]->get(), peers->port());
    }

    void note_idle(std::uint32_t i)
    {
        clients_[i].clear();
        ends_[i].clear();
        EXPECT_EQ(in_flight(instances_[i]->ctx()), 0u);
        for (Slot &slot : slots_[i]) {
            EXPECT_NE(slot.where, Slot::Where::in_flight) << "a context is idle, and has not given this task back";
            slot.where = Slot::Where::nowhere;
        }
    }

    void answer(std::uint32_t i, doca_rdma_connection *connection)
    {
        if (pick(8) == 0) {
            (void)doca_rdma_connection_reject(connection);
            return;
        }
        if (doca_rdma_connection_accept(connection, nullptr, 0) != DOCA_SUCCESS)
            return; // it was killed meanwhile
        ++num_accepted;
        clients_[i].insert(connection);
        ends_[i].push_back({connection, num_instances});
    }

    void disconnect_one(std::uint32_t i)
    {
        if (ends_[i].empty())
            return;
        doca_rdma_connection *const connection = ends_[i][pick(ends_[i].size())].connection;
        must(doca_rdma_connection_disconnect(connection));
        remove_client(i, connection);
    }

    /// A connection that a client has asked for may be freed once it has ended.
    void remove_client(std::uint32_t i, const doca_rdma_connection *connection)
    {
        if (clients_[i].erase(connection) != 0)
            std::erase_if(ends_[i], [&](const End &end) { return end.connection == connection; });
    }

    void connect(std::uint32_t i, std::uint32_t j)
    {
        if (!is_running(i) || !is_running(j))
            return;
        const void *details[2];
        std::size_t sizes[2];
        std::array<doca_rdma_connection *, 2> made{};
        must(doca_rdma_export(instances_[i]->get(), &details[0], &sizes[0], &made[0]));
        must(doca_rdma_export(instances_[j]->get(), &details[1], &sizes[1], &made[1]));
        const bool is_half = pick(16) == 0; // the other side never connects
        must(doca_rdma_connect(instances_[i]->get(), details[1], sizes[1], made[0]));
        ends_[i].push_back({made[0], is_half ? num_instances : j});
        if (!is_half) {
            must(doca_rdma_connect(instances_[j]->get(), details[0], sizes[0], made[1]));
            ends_[j].push_back({made[1], i});
        }
    }

    void submit_one(std::uint32_t i)
    {
        Slot &slot = slots_[i][pick(num_slots)];
        if (slot.where != Slot::Where::nowhere || !is_running(i) || (slot.kind != Kind::receive && ends_[i].empty()))
            return;
        const End end = slot.kind != Kind::receive ? ends_[i][pick(ends_[i].size())] : End{};
        if (end.peer == num_instances && slot.kind != Kind::send)
            return; // nothing is known of its memory
        slot.to = end.peer;
        slot.is_to_client = clients_[i].contains(end.connection);
        fill(slot);
        doca_task *task = nullptr;
        const doca_error_t status = allocate(i, slot, end.connection, task);
        if (status == DOCA_ERROR_NO_MEMORY) // those that were given up are not back yet
            return;
        ASSERT_EQ(status, DOCA_SUCCESS);
        submit(slot, task);
    }

    /// A message is of @p n bytes whose value is n.
    void fill(Slot &slot)
    {
        const std::uint32_t length = 1 + pick(slot_size);
        must(doca_buf_reset_data_len(slot.local));
        for (BufHandle &remote : slot.remote)
            must(doca_buf_reset_data_len(remote));
        switch (slot.kind) {
        case Kind::send:
        case Kind::write:
            std::fill_n(slot.memory, length, static_cast<std::byte>(length));
            must(doca_buf_set_data_len(slot.local, length));
            break;
        case Kind::read:
            must(doca_buf_set_data_len(slot.remote[slot.to], length));
            break;
        case Kind::add:
            must(doca_buf_set_data_len(slot.remote[slot.to], 8));
            must(doca_buf_set_data_len(slot.local, 8));
            break;
        case Kind::receive:
            break;
        }
    }

    template <typename Task>
    static doca_error_t as_base(doca_error_t status, Task *const &made, doca_task *&task)
    {
        task = reinterpret_cast<doca_task *>(made);
        return status;
    }
    doca_error_t allocate(std::uint32_t i, Slot &slot, doca_rdma_connection *to, doca_task *&task)
    {
        doca_rdma *const rdma = instances_[i]->get();
        const doca_data data = {.ptr = &slot.outcome};
        switch (slot.kind) {
        case Kind::receive: {
            doca_rdma_task_receive *made = nullptr;
            return as_base(doca_rdma_task_receive_allocate_init(rdma, slot.local, data, &made), made, task);
        }
        case Kind::send: {
            doca_rdma_task_send *made = nullptr;
            return as_base(doca_rdma_task_send_allocate_init(rdma, to, slot.local, data, &made), made, task);
        }
        case Kind::write: {
            doca_rdma_task_write *made = nullptr;
            return as_base(doca_rdma_task_write_allocate_init(rdma, to, slot.local, slot.remote[slot.to], data, &made),
                           made, task);
        }
        case Kind::read: {
            doca_rdma_task_read *made = nullptr;
            return as_base(doca_rdma_task_read_allocate_init(rdma, to, slot.remote[slot.to], slot.local, data, &made),
                           made, task);
        }
        case Kind::add:
            break;
        }
        doca_rdma_task_atomic_fetch_add *made = nullptr;
        return as_base(
            doca_rdma_task_atomic_fetch_add_allocate_init(rdma, to, slot.remote[slot.to], slot.local, 1, data, &made),
            made, task);
    }

    void submit(Slot &slot, doca_task *task)
    {
        slot.outcome.num_succeeded = slot.outcome.num_failed = 0;
        slot.where = Slot::Where::in_flight;
        in_flight_[&slot] = task;
        const doca_error_t status = doca_task_submit(task);
        if (status == DOCA_SUCCESS) {
            ++num_submitted;
            return;
        }
        EXPECT_TRUE(status == DOCA_ERROR_AGAIN || status == DOCA_ERROR_BAD_STATE) << status;
        slot.where = Slot::Where::nowhere;
        doca_task_free(task);
    }

    void ended(std::uint32_t i, Slot &slot, doca_task *task)
    {
        ++num_ended;
        EXPECT_EQ(slot.where, Slot::Where::in_flight) << "a task came back that was not on its way";
        EXPECT_EQ(slot.outcome.num_succeeded + slot.outcome.num_failed, 1);
        slot.where = Slot::Where::nowhere;
        if (slot.outcome.num_succeeded != 0) {
            ++num_succeeded;
            if (slot.kind == Kind::receive)
                check_message(slot, reinterpret_cast<const doca_rdma_task_receive *>(task));
        } else {
            EXPECT_NE(slot.outcome.status, DOCA_SUCCESS);
        }
        const std::uint32_t what = is_over_ ? 0 : pick(8);
        if (what > 4 && is_running(i) && !slot.is_to_client) {
            slot.outcome.keeps_task = true;
            fill(slot);
            submit(slot, task);
        }
        if (what == 1 && pick(64) == 0) {
            EXPECT_EQ(doca_ctx_stop(instances_[i]->ctx()), DOCA_ERROR_IN_PROGRESS) << "this task still counts";
        }
        if (what == 2)
            submit_one(pick(num_instances));
        if (what == 3 && pick(16) == 0)
            disconnect_one(i);
    }

    static void check_message(const Slot &slot, const doca_rdma_task_receive *task)
    {
        const std::size_t length = doca_rdma_task_receive_get_result_len(task);
        EXPECT_EQ(data_len_of(slot.local), length);
        ASSERT_TRUE(length >= 1 && length <= slot_size) << length;
        EXPECT_EQ(std::count(slot.memory, slot.memory + length, static_cast<std::byte>(length)),
                  static_cast<std::ptrdiff_t>(length));
    }

    /// Frees a task on its way, of which nobody hears again. Its buffers stay until the context is idle.
    void give_one_up(std::uint32_t i)
    {
        Slot &slot = slots_[i][pick(num_slots)];
        if (slot.where != Slot::Where::in_flight)
            return;
        slot.where = Slot::Where::given_up;
        ++num_given_up;
        doca_task_free(in_flight_[&slot]);
    }

    /// Sleeps no time: what is there has to be seen, and what is submitted meanwhile has to work.
    void doze(std::uint32_t i)
    {
        must(doca_pe_request_notification(pe_));
        submit_one(i);
        must(doca_pe_clear_notification(pe_, 0));
    }

    std::minstd_rand random_;
    bool is_over_ = false;
    doca_dev *dev_;
    PeHandle pe_;
    InventoryHandle inventory_;
    std::array<std::vector<std::byte>, num_instances> memory_;
    std::array<MmapHandle, num_instances> maps_, imported_;
    std::array<std::array<Slot, num_slots>, num_instances> slots_{};
    std::map<const Slot *, doca_task *> in_flight_;
    std::array<std::vector<End>, num_instances> ends_;
    /// The connections that clients have asked for. For each instance: one may get the address of another one's that
    /// was freed, before the test notes that the other one is idle.
    std::array<std::set<const doca_rdma_connection *>, num_instances> clients_;
    std::array<std::unique_ptr<RdmaInstance>, num_instances> instances_;
};

class RdmaStormTest : public testing::TestWithParam<std::string> {
protected:
    void storm(std::uint32_t seed, std::uint32_t num_steps, StormPeers *peers = nullptr)
    {
        const DevHandle dev = open_device(GetParam());
        auto one = std::make_unique<RdmaStorm>(dev, seed);
        one->run(num_steps, peers);
        EXPECT_GT(one->num_succeeded, num_steps / 50);
        EXPECT_GT(one->num_ended, one->num_succeeded);
        EXPECT_GT(one->num_given_up, 0u);
        num_accepted += one->num_accepted;
    }

    std::uint64_t num_accepted = 0;
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RdmaStormTest);
INSTANTIATE_TEST_SUITE_P(device, RdmaStormTest, testing::ValuesIn(connecting_devices()), name_of_device);

TEST_P(RdmaStormTest, each_task_comes_back_once)
{
    with_seeds(storms(), [&](std::uint32_t seed) { storm(seed, is_soft(GetParam()) ? 20'000 : 2'000); });
}

TEST_P(RdmaStormTest, each_task_comes_back_once_from_a_device_that_fails)
{
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "only software devices fail on request";
    const Environment faults("DOCA_SOFT_FAULTS", "job:rdma=0.2%,full:rdma=2%,peer:rdma=0.1%");
    with_seeds(storms(), [&](std::uint32_t seed) { storm(seed, 20'000); });
}

TEST_P(RdmaStormTest, each_task_comes_back_once_from_peers_that_are_killed)
{
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "no process can be killed as often on a slow device";
    StormPeers peers("rdma", GetParam(), 3);
    with_seeds(storms(num_storms / 2), [&](std::uint32_t seed) { storm(seed, 20'000, &peers); });
    // A machine may be slow to start processes.
    for (int more = 0; more != 60 && num_accepted == 0 && !HasFailure(); ++more)
        storm(99, 20'000, &peers);
    EXPECT_GT(num_accepted, 0u) << "no process has connected to port " << peers.port();
}

} // namespace
