// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Random programs of Comch: a server, clients, and consumers and producers of their connections on one engine, and
// clients in processes that are killed. Tasks are submitted, freed on their way and submitted again, connections ended,
// contexts stopped and started, in callbacks and outside of them. Whatever happens, each task comes back once, messages
// arrive in order and whole, and each context becomes idle. A failure names its seed.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../support/environment.hpp"
#include "comch_sides.hpp"
#include "storm_peers.hpp"
#include "storm_seeds.hpp"

using namespace doca_test;

namespace {

constexpr std::uint32_t num_clients = 4;
constexpr std::uint32_t num_tasks = 16; // of each context
constexpr std::size_t slot_size = 64;

class ComchStorm;

/// A task's place, and where it is.
struct Slot {
    enum class Where { nowhere, in_flight, given_up };

    Where where = Where::nowhere;
    doca_task *task = nullptr;
    std::uint32_t number = 0; ///< the message of a send
    BufHandle buf;            ///< of the fast path
    std::byte *memory = nullptr;
};

/// A context and its tasks.
struct Member {
    ComchStorm *storm = nullptr;
    doca_ctx *ctx = nullptr;
    std::array<Slot, num_tasks> slots{};
    doca_comch_connection *connection = nullptr; ///< of a client, a consumer or a producer
    std::uint32_t last_number = 0;               ///< that a client has received
    std::uint32_t consumer_id = 0;               ///< that a producer sends to
    ConsumerHandle consumer;
    ProducerHandle producer;

    [[nodiscard]] doca_ctx_states state() const { return state_of(ctx); }
    [[nodiscard]] bool is_running() const { return ctx != nullptr && state() == DOCA_CTX_STATE_RUNNING; }
};

class ComchStorm {
public:
    explicit ComchStorm(std::uint32_t seed, const std::string &name) : random_(seed)
    {
        must(doca_pe_create(pe_.out()));
        inventory_ = inventory_of(std::size_t{2} * num_clients * num_tasks);
        must(doca_comch_server_create(dpu_, rep_, name.c_str(), server_.out()));
        must(doca_comch_server_event_msg_recv_register(server_, server_received));
        must(doca_comch_server_event_connection_status_changed_register(server_, came, went));
        must(doca_comch_server_event_consumer_register(server_, consumer_came, consumer_went));
        must(doca_comch_server_task_send_set_conf(server_, send_ended<true>, send_ended<false>, num_tasks));
        must(doca_comch_server_set_recv_queue_size(server_, 10));
        join(of_server_, doca_comch_server_as_ctx(server_));
        for (std::uint32_t i = 0; i != num_clients; ++i) {
            must(doca_comch_client_create(host_, name.c_str(), clients_[i].out()));
            must(doca_comch_client_event_msg_recv_register(clients_[i], client_received));
            must(doca_comch_client_task_send_set_conf(clients_[i], send_ended<true>, send_ended<false>, num_tasks));
            join(of_clients_[i], doca_comch_client_as_ctx(clients_[i]));
            for (std::uint32_t k = 0; k != num_tasks; ++k) {
                place(consumers_[i].slots[k], host_map_, &host_memory_[(i * num_tasks + k) * slot_size]);
                place(producers_[i].slots[k], dpu_map_, &dpu_memory_[(i * num_tasks + k) * slot_size]);
            }
        }
    }

    void run(std::uint32_t num_steps, StormPeers *peers)
    {
        for (std::uint32_t step = 0; step != num_steps && !testing::Test::HasFailure(); ++step) {
            const std::uint32_t i = pick(num_clients);
            switch (pick(20)) {
            case 0:
                if (pick(40) == 0)
                    (void)doca_ctx_stop(pick(8) == 0 ? of_server_.ctx : of_clients_[i].ctx);
                break;
            case 1:
                if (pick(40) == 0)
                    end_one(pick(2) == 0 ? consumers_[i] : producers_[i]);
                break;
            case 2:
                if (pick(4) == 0)
                    give_one_up(any_member(i));
                break;
            case 3:
                doze(i);
                break;
            case 4:
                if (pick(40) == 0 && !known_.empty()) // IN_USE while producers are on it
                    (void)doca_comch_server_disconnect(server_, std::next(known_.begin(), pick(known_.size()))->first);
                break;
            case 5:
                if (peers != nullptr && pick(16) == 0)
                    peers->kill_one(pick(1000));
                [[fallthrough]];
            case 6:
            case 7:
            case 8:
            case 9:
                progress();
                break;
            case 10:
                begin_what_is_idle(i);
                break;
            default:
                submit_one(any_member(i));
            }
        }
        is_over_ = true;
        for (std::uint32_t i = 0; i != num_clients; ++i) {
            end_one(consumers_[i]);
            end_one(producers_[i]);
        }
        const auto stop = [&](Member &member) {
            (void)doca_ctx_stop(member.ctx);
            while (member.state() != DOCA_CTX_STATE_IDLE)
                progress();
            check_idle(member);
        };
        for (Member &client : of_clients_)
            stop(client);
        while (std::ranges::any_of(consumers_, has_context) || std::ranges::any_of(producers_, has_context))
            progress();
        stop(of_server_);
        EXPECT_TRUE(known_.empty()) << "the end of a client was not told";
        EXPECT_EQ(num_submitted, num_ended + num_given_up);
    }

    std::uint64_t num_submitted = 0;
    std::uint64_t num_ended = 0;
    std::uint64_t num_given_up = 0;
    std::uint64_t num_messages = 0;
    std::uint64_t num_produced = 0;
    std::uint64_t num_came = 0;

private:
    static bool has_context(const Member &member) { return member.ctx != nullptr; }
    std::uint32_t pick(std::size_t below) { return static_cast<std::uint32_t>(random_() % below); }
    Member &any_member(std::uint32_t i)
    {
        Member *const members[] = {&of_server_, &of_clients_[i], &consumers_[i], &producers_[i]};
        return *members[pick(4)];
    }
    void join(Member &member, doca_ctx *ctx)
    {
        member.storm = this;
        member.ctx = ctx;
        must(doca_ctx_set_user_data(ctx, {.ptr = &member}));
        must(doca_pe_connect_ctx(pe_, ctx));
    }
    void place(Slot &slot, doca_mmap *map, std::byte *memory)
    {
        slot.memory = memory;
        must(doca_buf_inventory_buf_get_by_addr(inventory_, map, memory, slot_size, slot.buf.out()));
    }

    void progress()
    {
        // Sockets are looked at now and then, and contexts are parked after a long time without work.
        for (std::uint32_t left = pick(500) == 0 ? polls_until_parked : pick(40); left != 0; --left)
            (void)doca_pe_progress(pe_);
        for (std::uint32_t i = 0; i != num_clients; ++i) {
            bury(consumers_[i]);
            bury(producers_[i]);
            if (of_clients_[i].state() == DOCA_CTX_STATE_IDLE)
                end_one(consumers_[i]);
        }
    }
    void check_idle(Member &member)
    {
        EXPECT_EQ(in_flight(member.ctx), 0u);
        for (Slot &slot : member.slots) {
            EXPECT_NE(slot.where, Slot::Where::in_flight) << "a context is idle, and has not given this task back";
            slot.where = Slot::Where::nowhere;
        }
    }
    void end_one(Member &member)
    {
        if (member.ctx != nullptr)
            (void)doca_ctx_stop(member.ctx);
    }
    void bury(Member &member)
    {
        if (member.ctx == nullptr || member.state() != DOCA_CTX_STATE_IDLE)
            return;
        check_idle(member);
        member.ctx = nullptr;
        member.consumer.reset();
        member.producer.reset();
    }

    void begin_what_is_idle(std::uint32_t i)
    {
        Member &client = of_clients_[i];
        if (of_server_.state() == DOCA_CTX_STATE_IDLE) {
            check_idle(of_server_);
            must(doca_ctx_start(of_server_.ctx));
        } else if (client.state() == DOCA_CTX_STATE_IDLE) {
            check_idle(client);
            client.last_number = 0;
            (void)doca_ctx_start(client.ctx);
        } else if (client.is_running() && consumers_[i].ctx == nullptr) {
            doca_comch_connection *connection = nullptr;
            must(doca_comch_client_get_connection(clients_[i], &connection));
            must(doca_comch_consumer_create(connection, host_map_, consumers_[i].consumer.out()));
            must(doca_comch_consumer_task_post_recv_set_conf(consumers_[i].consumer, receive_ended<true>,
                                                             receive_ended<false>, num_tasks));
            join(consumers_[i], doca_comch_consumer_as_ctx(consumers_[i].consumer));
            (void)doca_ctx_start(consumers_[i].ctx); // which fails where the server has just gone
        } else if (producers_[i].ctx == nullptr && !known_.empty()) {
            const auto peer = std::next(known_.begin(), pick(known_.size()));
            producers_[i].connection = peer->first;
            if (peer->second.consumers.empty() ||
                doca_comch_producer_create(peer->first, producers_[i].producer.out()) != DOCA_SUCCESS)
                return;
            producers_[i].consumer_id = peer->second.consumers[pick(peer->second.consumers.size())];
            must(doca_comch_producer_task_send_set_conf(producers_[i].producer, produce_ended<true>,
                                                        produce_ended<false>, num_tasks));
            join(producers_[i], doca_comch_producer_as_ctx(producers_[i].producer));
            (void)doca_ctx_start(producers_[i].ctx);
        }
    }

    void submit_one(Member &member)
    {
        Slot &slot = member.slots[pick(num_tasks)];
        if (!member.is_running() || slot.where != Slot::Where::nowhere)
            return;
        const doca_error_t status = allocate(member, slot);
        if (status == DOCA_ERROR_NOT_FOUND ||
            status == DOCA_ERROR_NO_MEMORY) // nobody is there; freed ones are not back
            return;
        ASSERT_EQ(status, DOCA_SUCCESS);
        submit(member, slot);
    }
    doca_error_t allocate(Member &member, Slot &slot)
    {
        doca_error_t status = DOCA_SUCCESS;
        if (member.consumer != nullptr) {
            doca_comch_consumer_task_post_recv *task = nullptr;
            status = doca_comch_consumer_task_post_recv_alloc_init(member.consumer, slot.buf, &task);
            if (status == DOCA_SUCCESS)
                slot.task = doca_comch_consumer_task_post_recv_as_task(task);
        } else if (member.producer != nullptr) {
            doca_comch_producer_task_send *task = nullptr;
            status = doca_comch_producer_task_send_alloc_init(
                member.producer, slot.buf, reinterpret_cast<std::uint8_t *>(slot.memory), 1, member.consumer_id, &task);
            if (status == DOCA_SUCCESS)
                slot.task = doca_comch_producer_task_send_as_task(task);
        } else {
            doca_comch_task_send *task = nullptr;
            if (&member == &of_server_) {
                if (known_.empty())
                    return DOCA_ERROR_NOT_FOUND;
                status = doca_comch_server_task_send_alloc_init(server_,
                                                                std::next(known_.begin(), pick(known_.size()))->first,
                                                                &slot.number, sizeof(slot.number), &task);
            } else {
                doca_comch_client *const client = clients_[static_cast<std::size_t>(&member - of_clients_.data())];
                doca_comch_connection *connection = nullptr;
                must(doca_comch_client_get_connection(client, &connection));
                status = doca_comch_client_task_send_alloc_init(client, connection, &slot.number, sizeof(slot.number),
                                                                &task);
            }
            if (status == DOCA_SUCCESS)
                slot.task = doca_comch_task_send_as_task(task);
        }
        if (status == DOCA_SUCCESS)
            doca_task_set_user_data(slot.task, {.ptr = &slot});
        return status;
    }
    /// The task is the program's, in a callback or not. If it is refused, it is freed.
    void submit(const Member &member, Slot &slot)
    {
        slot.number = ++last_number_; // one order for all
        if (member.consumer != nullptr || member.producer != nullptr)
            must(doca_buf_reset_data_len(slot.buf));
        if (member.producer != nullptr) { // of n bytes whose value is n
            const std::uint32_t length = 1 + pick(slot_size);
            std::fill_n(slot.memory, length, static_cast<std::byte>(length));
            must(doca_buf_set_data_len(slot.buf, length));
        }
        slot.where = Slot::Where::in_flight;
        const doca_error_t status = doca_task_submit(slot.task);
        if (status == DOCA_SUCCESS) {
            ++num_submitted;
            return;
        }
        EXPECT_TRUE(status == DOCA_ERROR_AGAIN || status == DOCA_ERROR_BAD_STATE) << status;
        slot.where = Slot::Where::nowhere;
        doca_task_free(slot.task);
    }
    void ended(Member &member, Slot &slot, bool has_succeeded)
    {
        ++num_ended;
        EXPECT_EQ(slot.where, Slot::Where::in_flight) << "a task came back that was not on its way";
        EXPECT_EQ(doca_task_get_status(slot.task) == DOCA_SUCCESS, has_succeeded);
        slot.where = Slot::Where::nowhere;
        const std::uint32_t what = is_over_ ? 0 : pick(8);
        if (what > 4 && member.is_running())
            submit(member, slot);
        else
            doca_task_free(slot.task);
        if (what == 1 && pick(64) == 0) {
            EXPECT_EQ(doca_ctx_stop(member.ctx), DOCA_ERROR_IN_PROGRESS) << "this task still counts";
        }
        if (what == 2)
            submit_one(any_member(pick(num_clients)));
    }
    /// Frees a task on its way, of which nobody hears again. Its buffer stays until the context is idle.
    void give_one_up(Member &member)
    {
        Slot &slot = member.slots[pick(num_tasks)];
        if (slot.where != Slot::Where::in_flight)
            return;
        slot.where = Slot::Where::given_up;
        ++num_given_up;
        doca_task_free(slot.task);
    }
    /// Sleeps no time: what is there has to be seen, and what is submitted meanwhile has to work.
    void doze(std::uint32_t i)
    {
        must(doca_pe_request_notification(pe_));
        submit_one(any_member(i));
        must(doca_pe_clear_notification(pe_, 0));
    }

    // Callbacks.

    static Member &member_of(doca_ctx *ctx)
    {
        doca_data data{};
        must(doca_ctx_get_user_data(ctx, &data));
        return *static_cast<Member *>(data.ptr);
    }
    static ComchStorm &storm_of(doca_comch_connection *connection)
    {
        return *member_of(doca_comch_server_as_ctx(doca_comch_server_get_server_ctx(connection))).storm;
    }
    static void check_number(std::uint32_t &last, const std::uint8_t *data, std::uint32_t length)
    {
        std::uint32_t number = 0;
        ASSERT_EQ(length, sizeof(number));
        std::memcpy(&number, data, sizeof(number));
        EXPECT_GT(number, last) << "messages of a connection are in order";
        last = number;
    }
    static void server_received(doca_comch_event_msg_recv *, std::uint8_t *data, std::uint32_t length,
                                doca_comch_connection *connection)
    {
        ComchStorm &storm = storm_of(connection);
        ++storm.num_messages;
        ASSERT_TRUE(storm.known_.contains(connection));
        check_number(storm.known_[connection].last_number, data, length);
        if (!storm.is_over_ && storm.pick(8) == 0)
            storm.submit_one(storm.of_server_);
    }
    static void client_received(doca_comch_event_msg_recv *, std::uint8_t *data, std::uint32_t length,
                                doca_comch_connection *connection)
    {
        Member &client = member_of(doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection)));
        check_number(client.last_number, data, length);
    }
    static void came(doca_comch_event_connection_status_changed *, doca_comch_connection *connection, std::uint8_t)
    {
        ComchStorm &storm = storm_of(connection);
        ++storm.num_came;
        EXPECT_TRUE(storm.known_.try_emplace(connection).second);
    }
    static void went(doca_comch_event_connection_status_changed *, doca_comch_connection *connection, std::uint8_t)
    {
        ComchStorm &storm = storm_of(connection);
        EXPECT_EQ(storm.known_.erase(connection), 1u);
        for (Member &producer : storm.producers_) {
            if (producer.ctx != nullptr && producer.connection == connection)
                storm.end_one(producer);
        }
    }
    static void consumer_came(doca_comch_event_consumer *, doca_comch_connection *connection, std::uint32_t id)
    {
        storm_of(connection).known_[connection].consumers.push_back(id);
    }
    static void consumer_went(doca_comch_event_consumer *, doca_comch_connection *connection, std::uint32_t id)
    {
        EXPECT_EQ(std::erase(storm_of(connection).known_[connection].consumers, id), 1u);
    }
    template <bool has_succeeded>
    static void send_ended(doca_comch_task_send *, doca_data task_data, doca_data ctx_data)
    {
        Member &member = *static_cast<Member *>(ctx_data.ptr);
        member.storm->ended(member, *static_cast<Slot *>(task_data.ptr), has_succeeded);
    }
    template <bool has_succeeded>
    static void produce_ended(doca_comch_producer_task_send *, doca_data task_data, doca_data ctx_data)
    {
        Member &member = *static_cast<Member *>(ctx_data.ptr);
        member.storm->ended(member, *static_cast<Slot *>(task_data.ptr), has_succeeded);
    }
    template <bool has_succeeded>
    static void receive_ended(doca_comch_consumer_task_post_recv *task, doca_data task_data, doca_data ctx_data)
    {
        Member &member = *static_cast<Member *>(ctx_data.ptr);
        Slot &slot = *static_cast<Slot *>(task_data.ptr);
        if (has_succeeded) {
            ++member.storm->num_produced;
            const std::size_t length = data_len_of(slot.buf);
            ASSERT_TRUE(length >= 1 && length <= slot_size) << length;
            EXPECT_EQ(std::count(slot.memory, slot.memory + length, static_cast<std::byte>(length)),
                      static_cast<std::ptrdiff_t>(length));
            ASSERT_EQ(doca_comch_consumer_task_post_recv_get_imm_data_len(task), 1u);
            EXPECT_EQ(doca_comch_consumer_task_post_recv_get_imm_data(task)[0], length);
        }
        member.storm->ended(member, slot, has_succeeded);
    }

    struct Known {
        std::uint32_t last_number = 0;
        std::vector<std::uint32_t> consumers;
    };

    std::minstd_rand random_;
    bool is_over_ = false;
    std::uint32_t last_number_ = 0;
    DevHandle dpu_ = open_device("soft_p0"), host_ = open_device("soft_pf0");
    RepHandle rep_ = representor_of(dpu_, host_);
    std::vector<std::byte> dpu_memory_ = std::vector<std::byte>(num_clients * num_tasks * slot_size);
    std::vector<std::byte> host_memory_ = std::vector<std::byte>(num_clients * num_tasks * slot_size);
    MmapHandle dpu_map_ = map_of(dpu_, dpu_memory_, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    MmapHandle host_map_ = map_of(host_, host_memory_, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    PeHandle pe_;
    InventoryHandle inventory_;
    ServerHandle server_;
    std::array<ClientHandle, num_clients> clients_;
    std::map<doca_comch_connection *, Known> known_; ///< of the server
    Member of_server_;
    std::array<Member, num_clients> of_clients_, consumers_, producers_;
};

class ComchStormTest : public testing::Test {
protected:
    static constexpr std::uint32_t num_steps = is_sanitized ? 10'000 : 30'000;

    void storm(std::uint32_t seed, StormPeers *peers = nullptr)
    {
        auto one = std::make_unique<ComchStorm>(seed, "storm " + std::to_string(StormPeers::port()));
        one->run(num_steps, peers);
        EXPECT_GT(one->num_ended, num_steps / 30);
        EXPECT_GT(one->num_messages, num_steps / 100);
        EXPECT_GT(one->num_given_up, 0u);
        num_produced += one->num_produced;
        num_came += one->num_came;
    }

    std::uint64_t num_produced = 0;
    std::uint64_t num_came = 0;
};

TEST_F(ComchStormTest, each_task_comes_back_once)
{
    with_seeds(storms(), [&](std::uint32_t seed) { storm(seed); });
    EXPECT_GT(num_produced, 100u);
}

TEST_F(ComchStormTest, each_task_comes_back_once_from_a_device_that_fails)
{
    // Consumers and producers are of RDMA.
    const Environment faults("DOCA_SOFT_FAULTS", "job:rdma=0.5%,full:rdma=2%,peer:rdma=0.2%");
    with_seeds(storms(), [&](std::uint32_t seed) { storm(seed); });
}

TEST_F(ComchStormTest, each_task_comes_back_once_from_peers_that_are_killed)
{
    StormPeers peers("comch", "soft_pf0", 3);
    with_seeds(storms(num_storms / 2), [&](std::uint32_t seed) { storm(seed, &peers); });
    EXPECT_GT(num_came, 0u);
}

} // namespace
