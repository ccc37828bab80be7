// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comch: a server, clients that come and go, and consumers and producers on their connections, by calls at random: see
// tasks_model.hpp. Each message says which it is: it arrives once, whole, and in the order of its connection, or of its
// way from a producer to a consumer. What has succeeded is received before an end is told, unless the receiver itself
// has ended it; and what can end does.
//
// Messages of connections are in test_model_comch.cpp, consumers and producers in test_model_comch_fast_path.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <set>
#include <string>
#include <vector>

#include "../../conformance/v3/comch_sides.hpp"
#include "tasks_model.hpp"

namespace doca_test::comch {

inline constexpr std::size_t num_clients = 3, num_message_slots = 40, num_data_slots = 24, room = 1024, least_room = 16;
inline constexpr std::uint32_t num_message_tasks = 16; ///< of a server or client: more than its peer's queue holds
inline constexpr std::uint32_t num_tasks = 4;          ///< of a consumer or producer

enum Side : std::size_t { at_server, at_client };

/// A message on its way.
struct Sent {
    std::uint64_t number = 0;
    std::size_t length = 0;
    bool has_succeeded = false;
};

struct Link;

/// A consumer or producer, at one side of a connection.
struct FastMember : CtxModel {
    Link *link = nullptr; ///< null: there is none
    ConsumerHandle consumer;
    ProducerHandle producer;
    std::uint32_t id = 0; ///< of a consumer that the other side knows

    [[nodiscard]] bool exists() const { return link != nullptr; }
};

/// A connection, from the start of its client until both sides have told of its end, and nobody uses it.
struct Link {
    std::size_t client = 0;
    std::array<doca_comch_connection *, 2> ends{}; ///< null: not known yet, or the end was told
    bool is_broken = false;
    bool may_be_lost = false;               ///< or never be made: the server was not there all the time
    std::array<bool, 2> has_ended_itself{}; ///< by its own program
    std::array<bool, 2> knows_end{};
    std::array<std::deque<Sent>, 2> sent;                   ///< messages to each side that were not received
    std::array<std::set<std::uint32_t>, 2> known_consumers; ///< of the other side, that each was told of

    std::array<FastMember, 2> consumers, producers; ///< at each side
    std::array<std::deque<Sent>, 2> data;           ///< to the consumer at each side, from the producer at the other
    std::array<bool, 2> is_cut{};       ///< the way to that consumer has ended by a message that did not fit
    std::array<bool, 2> is_being_cut{}; ///< as its sender has heard already
};

class ComchModelTest;

struct Slot : TaskModel {
    enum class Kind { message, receive, produce };

    ComchModelTest *model = nullptr;
    Kind kind = Kind::message;
    Link *link = nullptr;
    Side side = at_server; ///< whose task it is
    std::uint64_t number = 0;
    std::size_t length = 0;               ///< of a message, or the room of a receive
    std::uint32_t immediate = 0;          ///< bytes
    std::uint32_t consumer = 0;           ///< that a producer sends to
    std::array<std::byte, room> memory{}; ///< of a message, or of immediate data
    BufHandle buf;                        ///< of the fast path
    std::size_t place = 0;                ///< of that, in the memory of its side
};

class ComchModelTest : public TasksModel {
protected:
    void SetUp() override;
    void step();
    void clean_up();

    // Connections and their messages.
    void do_server();
    void do_client(std::size_t which);
    void do_message(Slot &slot);
    void alloc_message(Slot &slot);
    void submit_message(Slot &slot);
    void say_hello(Link &link);
    void look_at_clients();
    void forget_links();
    void disconnect(Link &link);
    void expect_nothing_lost(const Link &link, Side side);
    [[nodiscard]] Link *link_of(const doca_comch_connection *connection, Side side);
    [[nodiscard]] CtxModel &owner(const Link &link, Side side);
    [[nodiscard]] bool is_used(const Link &link) const;
    void take_message(Side side, const std::byte *bytes, std::size_t length, doca_comch_connection *from);
    void message_ended(Slot &slot, bool has_succeeded);

    // Consumers and producers.
    void do_member(Link &link, Side side, bool is_consumer);
    void create_member(Link &link, Side side, bool is_consumer);
    void forget_members(Link &link);
    void do_data(Slot &slot);
    void alloc_data(Slot &slot);
    void submit_data(Slot &slot);
    void data_ended(Slot &slot, bool has_succeeded);
    void take_data(const Slot &slot);
    void receive_failed(const Slot &slot);
    [[nodiscard]] bool must_receive(const Link &link, Side side) const;
    [[nodiscard]] static bool has_members(const Link &link);

    void release(Slot &slot);
    [[nodiscard]] const char *what_goes_on() const;
    [[nodiscard]] bool must_end(const Slot &slot) const;
    void serve(bool waits);
    void fill(std::byte *to, std::uint64_t message, std::size_t length) const;
    [[nodiscard]] bool is_whole(const std::byte *bytes, std::uint64_t message, std::size_t length) const;

    // Callbacks.
    static ComchModelTest &test_of(doca_comch_connection *connection);
    [[nodiscard]] static Side side_of(doca_comch_connection *connection)
    {
        return doca_comch_server_get_server_ctx(connection) != nullptr ? at_server : at_client;
    }
    void count_callback();
    static void came(doca_comch_event_connection_status_changed *, doca_comch_connection *connection, std::uint8_t);
    static void went(doca_comch_event_connection_status_changed *, doca_comch_connection *connection, std::uint8_t);
    static void consumer_came(doca_comch_event_consumer *, doca_comch_connection *connection, std::uint32_t id);
    static void consumer_went(doca_comch_event_consumer *, doca_comch_connection *connection, std::uint32_t id);
    template <Side side>
    static void received(doca_comch_event_msg_recv *, std::uint8_t *bytes, std::uint32_t length,
                         doca_comch_connection *from)
    {
        test_of(from).take_message(side, reinterpret_cast<const std::byte *>(bytes), length, from);
    }
    template <typename Task, bool has_succeeded>
    static void task_ended(Task *, doca_data data, doca_data)
    {
        auto &slot = *static_cast<Slot *>(data.ptr);
        if (slot.kind == Slot::Kind::message)
            slot.model->message_ended(slot, has_succeeded);
        else
            slot.model->data_ended(slot, has_succeeded);
    }

    const std::string name = "model " + std::to_string(getpid());
    DevHandle dpu = open_device(device_name("OPENDOCA_TEST_DPU", "soft_p0"));
    RepHandle rep = representor_of(dpu, dev);
    InventoryHandle inventory = inventory_of(num_data_slots);
    std::array<std::vector<std::byte>, 2> memory{std::vector<std::byte>(num_data_slots * room),
                                                 std::vector<std::byte>(num_data_slots *room)};
    std::array<MmapHandle, 2> maps{map_of(dpu, memory[at_server], DOCA_ACCESS_FLAG_PCI_READ_WRITE),
                                   map_of(dev, memory[at_client], DOCA_ACCESS_FLAG_PCI_READ_WRITE)};
    ServerHandle server_handle;
    CtxModel server;
    std::array<ClientHandle, num_clients> client_handles;
    std::array<CtxModel, num_clients> clients;
    std::array<Link *, num_clients> link_of_client{};
    std::list<Link> links;
    std::list<doca_comch_connection *> strangers; ///< of the server, that have not said which they are
    std::array<Slot, num_message_slots> message_slots;
    std::array<Slot, num_clients> hello_slots;
    std::array<Slot, num_data_slots> data_slots;
    std::uint64_t num_numbers = 0;
    std::uint64_t num_messages = 0, num_data = 0, num_links = 0;
};

} // namespace doca_test::comch
