// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA of DOCA 3.0: two instances with connections that come and go, and tasks on them, by calls at random: see
// tasks_model.hpp. Each message says which it is, so whatever receive it meets: it arrives once, whole, and in the
// order of its connection. While a connection is fine nothing fails on it, and what can end does.
//
// Connections are made by details, and on software devices by address as well. An atomic operation that nothing has
// overlapped must have seen what was there, and leave what it was told to. Tasks are in test_model_rdma.cpp,
// connections in test_model_rdma_connections.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "../../conformance/v3/rdma_instance.hpp"
#include "tasks_model.hpp"

namespace doca_test {

enum class Kind { receive, send, send_imm, read, write, write_imm, add, swap, event_get, event_set, event_add };
inline constexpr std::size_t num_kinds = 11;
inline constexpr std::size_t num_slots = 28, num_links = 3, room = 4096;
inline constexpr std::uint32_t num_tasks = 3; ///< of each kind

/// A message, or a write that its peer is told of.
struct Sent {
    std::uint64_t number = 0;
    Kind kind = Kind::send;
    std::size_t length = 0;

    [[nodiscard]] doca_be32_t immediate() const { return static_cast<doca_be32_t>(number * 2654435761U); }
};

/// A connection, with its end in either instance.
struct Link {
    /// Of one by address: how far it has got.
    enum class Stage {
        none,     ///< by details
        wanted,   ///< the client asks
        asked,    ///< the server's program knows, and has not answered
        accepted, ///< the server waits for the client to confirm
        settled,  ///< nobody waits any more
    };

    std::array<doca_rdma_connection *, 2> ends{}; ///< null: none, not known yet, or no longer valid
    std::array<bool, 2> is_connected{};
    std::array<bool, 2> is_announced{}; ///< by details: its established callback was called
    bool is_broken = false;
    std::array<std::deque<Sent>, 2> sent; ///< messages to each side that were not received

    std::uint64_t name = 0; ///< the user data of its ends
    Stage stage = Stage::none;
    std::size_t client = 0;
    bool does_client_wait = false;
    std::array<bool, 2> knows_end{}; ///< has ended it, or was told of its end

    [[nodiscard]] bool is_free() const { return ends[0] == nullptr && ends[1] == nullptr && !does_client_wait; }
    [[nodiscard]] bool is_fine() const { return is_connected[0] && is_connected[1] && !is_broken; }
    [[nodiscard]] std::size_t server() const { return client ^ 1; }
    /// Both sides have what they need to get further without a call of the program.
    [[nodiscard]] bool must_settle() const
    {
        return (does_client_wait && (is_broken || stage != Stage::asked)) ||
               (stage == Stage::accepted && !knows_end[server()]);
    }
};

/// 8 bytes of one side that the other changes by atomic operations.
struct Word {
    std::size_t in_flight = 0;
};

struct Instance : CtxModel {
    doca_rdma *rdma = nullptr;
    bool has_lost = false; ///< a connection, in this life
    std::vector<std::byte> memory = std::vector<std::byte>((num_slots + 2) * room);
    MmapHandle map, imported; ///< the latter of the other's memory
    SyncEventHandle event;    ///< that the other side changes
    RemoteEventHandle remote; ///< the other's
    Word word, counter;       ///< the other's as well
    std::uint16_t port = 0;
    bool is_listening = false;
    bool may_have_strays = false; ///< clients that have gone may still show up as requests
    AddressHandle address;        ///< the other's
};

class RdmaModelTest;

struct Slot : TaskModel {
    RdmaModelTest *model = nullptr;
    std::size_t side = 0;
    Kind kind = Kind::receive;
    Link *link = nullptr; ///< but for receives
    BufHandle local, remote;
    std::uint64_t number = 0; ///< of its message
    std::size_t length = 0;
    bool may_fail = false;     ///< its connection was not fine when it was submitted
    bool is_too_early = false; ///< its connection was not connected yet
    bool is_misplaced = false; ///< an atomic operation on what is no word
    bool is_alone = false;     ///< an operation on a word, and no other one was under way at the same time
    std::uint64_t operand = 0, compare = 0, before = 0;

    [[nodiscard]] bool needs_receive() const
    {
        return kind == Kind::send || kind == Kind::send_imm || kind == Kind::write_imm;
    }
    [[nodiscard]] bool is_write() const { return kind == Kind::write || kind == Kind::write_imm; }
    [[nodiscard]] bool is_on_memory_word() const { return kind == Kind::add || kind == Kind::swap; }
    [[nodiscard]] bool is_on_counter() const { return kind >= Kind::event_get; }
    [[nodiscard]] bool is_on_word() const { return is_on_memory_word() || is_on_counter(); }
    /// What the word comes to.
    [[nodiscard]] std::uint64_t after() const
    {
        return kind == Kind::event_get   ? before
               : kind == Kind::event_set ? operand
               : kind == Kind::swap      ? (before == compare ? operand : before)
                                         : before + operand;
    }
};

class RdmaModelTest : public TasksModel {
protected:
    void SetUp() override;
    void step();
    void clean_up();

    // Connections.
    void do_ctx(std::size_t side);
    void do_port(std::size_t side);
    void forget_connections();
    void do_link(Link &link);
    void connect_by_details(Link &link);
    void ask_for(Link &link);
    void answer(Link &link);
    void disconnect(Link &link, std::size_t side);
    void break_links(std::size_t side);
    static void record_end(Link &link, std::size_t side);
    void lose(Link &link)
    {
        link.is_broken = true;
        sides[0].has_lost = sides[1].has_lost = true;
    }
    [[nodiscard]] bool is_used(const Link &link) const;
    [[nodiscard]] Link *link_of(doca_data name);
    [[nodiscard]] static std::pair<RdmaModelTest *, std::size_t> owner_of(doca_data ctx_data);
    void count_callback();
    static void requested(doca_rdma_connection *connection, doca_data ctx_data);
    void note_established_by_details(std::size_t side, Link &link);
    static void established(doca_rdma_connection *connection, doca_data name, doca_data ctx_data);
    static void failed(doca_rdma_connection *connection, doca_data name, doca_data ctx_data);
    static void disconnected(doca_rdma_connection *connection, doca_data name, doca_data ctx_data);

    // Tasks.
    template <typename Task, bool Succeeded>
    static void task_ended(Task *, doca_data data, doca_data)
    {
        auto &slot = *static_cast<Slot *>(data.ptr);
        slot.model->end(slot, Succeeded);
    }
    void end(Slot &slot, bool has_succeeded);
    void check_word(Slot &slot, bool has_succeeded);
    void note_message(Slot &slot);
    [[nodiscard]] std::byte *place(std::size_t side, std::size_t slot) { return &sides[side].memory[slot * room]; }
    [[nodiscard]] std::size_t index_of(const Slot &slot) const
    {
        return static_cast<std::size_t>(&slot - slots.data());
    }
    [[nodiscard]] static std::byte pattern(std::uint64_t number, std::size_t at)
    {
        return static_cast<std::byte>(number * 7 + at);
    }
    [[nodiscard]] Word &word_of(const Slot &slot)
    {
        return slot.is_on_counter() ? sides[slot.side].counter : sides[slot.side].word;
    }
    [[nodiscard]] std::uint64_t value_of(const Slot &slot);
    void do_slot(Slot &slot);
    void alloc_slot(Slot &slot);
    [[nodiscard]] std::pair<doca_error_t, doca_task *> make_task(Slot &slot, doca_rdma_connection *connection);
    void submit_slot(Slot &slot);
    void prepare(Slot &slot);
    void release(Slot &slot);
    [[nodiscard]] bool must_end(const Slot &slot) const;
    void serve(bool waits);

    InventoryHandle inventory = inventory_of(2 * num_slots);
    bool has_addresses = false, has_atomics = false;
    std::array<Instance, 2> sides;
    std::array<Link, num_links> links;
    std::array<Slot, num_slots> slots;
    std::uint64_t num_messages = 0, num_names = 0;
    std::uint64_t num_established = 0; ///< by address
};

} // namespace doca_test
