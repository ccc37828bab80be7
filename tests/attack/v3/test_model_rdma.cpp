// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA of DOCA 3.0: two instances with connections that come and go, and tasks on them, by calls at random: see
// tasks_model.hpp. Each message says which it is, so whatever receive it meets: it arrives once, whole, and in the order of
// its connection. While a connection is fine nothing fails on it, and what can end does.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <thread>

#include "../../conformance/v3/rdma_instance.hpp"
#include "tasks_model.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t num_slots = 20, num_links = 3, room = 4096;
constexpr std::uint32_t num_tasks = 3; ///< of each kind

enum class Kind { receive, send, read, write, add };

/// A connection, with its end in either instance.
struct Link {
    std::array<doca_rdma_connection *, 2> ends{}; ///< null: none, or gone with its context
    std::array<bool, 2> is_connected{};
    bool is_broken = false;
    std::array<std::deque<std::uint64_t>, 2> sent; ///< messages to each side that were not received

    [[nodiscard]] bool is_free() const { return ends[0] == nullptr && ends[1] == nullptr; }
    [[nodiscard]] bool is_fine() const { return is_connected[0] && is_connected[1] && !is_broken; }
};

struct Instance : CtxModel {
    doca_rdma *rdma = nullptr;
    bool has_lost = false; ///< a connection, in this life
    std::vector<std::byte> memory = std::vector<std::byte>((num_slots + 2) * room);
    MmapHandle map, imported; ///< the latter of the other's memory
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
    bool may_fail = false; ///< its connection was not fine when it was submitted
};

class RdmaModelTest : public TasksModel {
protected:
    void SetUp() override;

    template <typename Task, bool Succeeded>
    static void task_ended(Task *, doca_data data, doca_data)
    {
        auto &slot = *static_cast<Slot *>(data.ptr);
        slot.model->end(slot, Succeeded);
    }
    void end(Slot &slot, bool has_succeeded);
    void note_message(Slot &slot);
    [[nodiscard]] std::byte *place(std::size_t side, std::size_t slot) { return &sides[side].memory[slot * room]; }
    [[nodiscard]] static std::byte pattern(std::uint64_t number, std::size_t at) { return static_cast<std::byte>(number * 7 + at); }
    void step();
    void do_ctx(std::size_t side);
    void forget_connections();
    void do_link(Link &link);
    void break_links(std::size_t side);
    void lose(Link &link)
    {
        link.is_broken = true;
        sides[0].has_lost = sides[1].has_lost = true;
    }
    void do_slot(Slot &slot);
    void alloc_slot(Slot &slot);
    void submit_slot(Slot &slot);
    void release(Slot &slot);
    [[nodiscard]] bool must_end(const Slot &slot) const;
    void serve(bool waits);
    void clean_up();

    InventoryHandle inventory = inventory_of(2 * num_slots);
    std::array<Instance, 2> sides;
    std::array<Link, num_links> links;
    std::array<Slot, num_slots> slots;
    std::uint64_t num_messages = 0;
};

void RdmaModelTest::SetUp()
{
    TasksModel::SetUp();
    for (Slot &slot : slots)
        slot.model = this;
    for (Instance &side : sides) {
        for (std::byte &each : side.memory)
            each = static_cast<std::byte>(random());
        side.map = map_of(dev, side.memory, rdma_rights);
        must(doca_rdma_create(dev, &side.rdma));
        must(doca_rdma_set_permissions(side.rdma, rdma_rights));
        const auto conf = [&]<typename Task>(auto set_conf) {
            must(set_conf(side.rdma, task_ended<Task, true>, task_ended<Task, false>, num_tasks));
        };
        conf.operator()<doca_rdma_task_receive>(doca_rdma_task_receive_set_conf);
        conf.operator()<doca_rdma_task_send>(doca_rdma_task_send_set_conf);
        conf.operator()<doca_rdma_task_read>(doca_rdma_task_read_set_conf);
        conf.operator()<doca_rdma_task_write>(doca_rdma_task_write_set_conf);
        conf.operator()<doca_rdma_task_atomic_fetch_add>(doca_rdma_task_atomic_fetch_add_set_conf);
        adopt(side, doca_rdma_as_ctx(side.rdma));
    }
    for (std::size_t side = 0; side != 2; ++side) {
        const void *descriptor = nullptr;
        std::size_t length = 0;
        must(doca_mmap_export_rdma(sides[side ^ 1].map, dev, &descriptor, &length));
        must(doca_mmap_create_from_export(nullptr, descriptor, length, dev, sides[side].imported.out()));
    }
}

void RdmaModelTest::note_message(Slot &slot)
{
    const auto *const task = reinterpret_cast<const doca_rdma_task_receive *>(slot.task);
    const std::byte *const bytes = place(slot.side, static_cast<std::size_t>(&slot - slots.data()));
    std::uint64_t name = 0;
    std::memcpy(&name, bytes, sizeof(name));
    const std::size_t length = doca_rdma_task_receive_get_result_len(task);
    const doca_rdma_connection *const from = doca_rdma_task_receive_get_result_rdma_connection(task);
    for (Link &link : links) {
        std::deque<std::uint64_t> &sent = link.sent[slot.side];
        if (link.ends[slot.side] != from || sent.empty() || sent.front() != name)
            continue;
        sent.pop_front();
        bool is_whole = length >= sizeof(name) && data_len_of(slot.local) == length;
        for (std::size_t i = sizeof(name); is_whole && i != length; ++i)
            is_whole = bytes[i] == pattern(name, i);
        if (!is_whole)
            complain("a message is not what was sent");
        return;
    }
    if (std::ranges::any_of(links, [&](const Link &link) { return link.ends[slot.side] == from; }) || !sides[slot.side].has_lost)
        complain("a message that is not the next one of its connection");
}

void RdmaModelTest::end(Slot &slot, bool has_succeeded)
{
    ended(slot, has_succeeded);
    const bool may_fail = slot.may_fail || !slot.ctx->is_running() ||
                          (slot.kind == Kind::receive ? sides[slot.side].has_lost : slot.link->is_broken);
    if (!has_succeeded) {
        if (!may_fail)
            ADD_FAILURE() << "a task of kind " << static_cast<int>(slot.kind) << " has failed with "
                          << doca_error_get_name(doca_task_get_status(slot.task)) << where();
        return;
    }
    if (slot.kind == Kind::receive)
        return note_message(slot);
    if (slot.kind == Kind::read) {
        const auto at = static_cast<std::size_t>(&slot - slots.data());
        if (std::memcmp(place(slot.side, at), place(slot.side ^ 1, num_slots), slot.length) != 0)
            complain("what was read is not what is there");
    } else if (slot.kind == Kind::write && !may_fail) {
        const auto at = static_cast<std::size_t>(&slot - slots.data());
        if (std::memcmp(place(slot.side, at), place(slot.side ^ 1, at), slot.length) != 0)
            complain("what was written is not there");
    }
}

/// The context of @p side stops: its connections are no more, and their other ends have ended.
void RdmaModelTest::break_links(std::size_t side)
{
    sides[side].has_lost = true;
    for (Link &link : links) {
        if (link.ends[side] != nullptr && !link.is_broken)
            lose(link);
    }
}

void RdmaModelTest::do_ctx(std::size_t side)
{
    Instance &instance = sides[side];
    switch (below(6)) {
    case 0:
    case 1:
        if (start(instance))
            instance.has_lost = false;
        break;
    case 2:
        if (one_in(10)) {
            if (!instance.is_idle())
                break_links(side);
            stop(instance);
        }
        break;
    case 3:
        if (!instance.is_idle()) {
            (void)answers("rdma_destroy", doca_rdma_destroy(instance.rdma), DOCA_ERROR_BAD_STATE);
        }
        break;
    default:
        check_counts(instance);
    }
}

/// Connections are valid until their context is idle.
void RdmaModelTest::forget_connections()
{
    for (const std::size_t side : {0, 1}) {
        for (Link &link : links) {
            if (!sides[side].is_idle() || link.ends[side] == nullptr)
                continue;
            link.ends[side] = nullptr;
            link.is_broken = true;
        }
    }
}

void RdmaModelTest::do_link(Link &link)
{
    const std::size_t side = below(2);
    if (link.is_free()) {
        if (!sides[0].is_running() || !sides[1].is_running() ||
            std::ranges::any_of(slots, [&](const Slot &slot) { return slot.task != nullptr && slot.link == &link; }))
            return;
        const void *details[2];
        std::size_t sizes[2];
        doca_rdma_connection *made[2];
        for (const std::size_t each : {0, 1}) {
            if (!answers("rdma_export", doca_rdma_export(sides[each].rdma, &details[each], &sizes[each], &made[each]), DOCA_SUCCESS))
                return;
        }
        link = {};
        link.ends = {made[0], made[1]};
        const std::size_t first = side;
        for (const std::size_t each : {first, first ^ 1}) {
            link.is_connected[each] =
                answers("rdma_connect", doca_rdma_connect(sides[each].rdma, details[each ^ 1], sizes[each ^ 1], made[each]), DOCA_SUCCESS);
        }
        return;
    }
    const bool is_used =
        std::ranges::any_of(slots, [&](const Slot &slot) { return slot.task != nullptr && slot.link == &link; });
    if (link.is_broken && !is_used) {
        link = {}; // its handles stay valid until their contexts are idle, and nobody uses them any more
    } else if (link.ends[side] != nullptr && one_in(12)) {
        (void)answers("disconnect", doca_rdma_connection_disconnect(link.ends[side]), DOCA_SUCCESS);
        lose(link);
    }
}

void RdmaModelTest::alloc_slot(Slot &slot)
{
    const std::size_t side = below(2), at = static_cast<std::size_t>(&slot - slots.data());
    Instance &instance = sides[side];
    Link &link = links[below(num_links)];
    const auto kind = static_cast<Kind>(below(5));
    if (kind != Kind::receive && (link.ends[side] == nullptr || link.is_broken))
        return;
    const auto out = static_cast<std::uint32_t>(std::ranges::count_if(
        slots, [&](const Slot &one) { return one.task != nullptr && one.ctx == &instance && one.kind == kind; }));
    slot.side = side;
    slot.kind = kind;
    slot.link = kind == Kind::receive ? nullptr : &link;
    slot.length = one_in(2) ? 8 + below(33) : 8 + below(room - 8);
    const auto full = [&](doca_mmap *map, std::byte *from, std::size_t length, BufHandle &buf) {
        must(doca_buf_inventory_buf_get_by_data(inventory, map, from, length, buf.out()));
    };
    const auto empty = [&](doca_mmap *map, std::byte *from, BufHandle &buf) {
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, from, room, buf.out()));
    };
    const auto make = [&]<typename Task>(auto alloc_init, const auto &...arguments) {
        Task *made = nullptr;
        const doca_error_t status = alloc_init(instance.rdma, arguments..., {.ptr = &slot}, &made);
        return std::pair(status, reinterpret_cast<doca_task *>(made)); // a task begins with it
    };
    std::pair<doca_error_t, doca_task *> made;
    doca_rdma_connection *const connection = link.ends[side];
    std::byte *const own = place(side, at);
    switch (kind) {
    case Kind::receive:
        empty(instance.map, own, slot.local);
        made = make.operator()<doca_rdma_task_receive>(doca_rdma_task_receive_allocate_init, slot.local);
        break;
    case Kind::send:
        full(instance.map, own, slot.length, slot.local);
        made = make.operator()<doca_rdma_task_send>(doca_rdma_task_send_allocate_init, connection, slot.local);
        break;
    case Kind::read: // of a place that nobody writes to
        full(instance.imported, place(side ^ 1, num_slots), slot.length, slot.remote);
        empty(instance.map, own, slot.local);
        made = make.operator()<doca_rdma_task_read>(doca_rdma_task_read_allocate_init, connection, slot.remote, slot.local);
        break;
    case Kind::write: // to what the other side's slot of this number has
        full(instance.map, own, slot.length, slot.local);
        empty(instance.imported, place(side ^ 1, at), slot.remote);
        made = make.operator()<doca_rdma_task_write>(doca_rdma_task_write_allocate_init, connection, slot.local, slot.remote);
        break;
    case Kind::add:
        full(instance.imported, place(side ^ 1, num_slots + 1), 8, slot.remote);
        full(instance.map, own, 8, slot.local);
        made = make.operator()<doca_rdma_task_atomic_fetch_add>(doca_rdma_task_atomic_fetch_add_allocate_init, connection,
                                                                slot.remote, slot.local, std::uint64_t{1});
    }
    if (answers("allocate_init", made.first, alloc(instance, out == num_tasks))) {
        allocated(slot, instance, made.second);
        return;
    }
    slot.local.reset();
    slot.remote.reset();
}

void RdmaModelTest::release(Slot &slot)
{
    free(slot);
    slot.local.reset();
    slot.remote.reset();
}

void RdmaModelTest::submit_slot(Slot &slot)
{
    std::byte *const own = place(slot.side, static_cast<std::size_t>(&slot - slots.data()));
    slot.may_fail = slot.link != nullptr && !slot.link->is_fine();
    switch (slot.kind) {
    case Kind::receive:
    case Kind::read:
        must(doca_buf_reset_data_len(slot.local));
        break;
    case Kind::write:
        must(doca_buf_reset_data_len(slot.remote));
        break;
    case Kind::send:
        slot.number = ++num_messages;
        for (std::size_t i = 0; i != slot.length; ++i)
            own[i] = pattern(slot.number, i);
        std::memcpy(own, &slot.number, sizeof(slot.number));
        break;
    case Kind::add:
        break;
    }
    if (submit(slot) && slot.kind == Kind::send)
        slot.link->sent[slot.side ^ 1].push_back(slot.number);
}

void RdmaModelTest::do_slot(Slot &slot)
{
    if (slot.task == nullptr)
        return alloc_slot(slot);
    if (slot.is_in_flight)
        return;
    if (one_in(6) || !slot.ctx->is_running() || (slot.link != nullptr && slot.link->is_broken))
        return release(slot);
    submit_slot(slot);
}

/// What waits for nothing but progress.
bool RdmaModelTest::must_end(const Slot &slot) const
{
    if (!slot.is_in_flight)
        return false;
    if (slot.ctx->state == DOCA_CTX_STATE_STOPPING)
        return true;
    if (slot.kind == Kind::receive || slot.may_fail || !slot.link->is_fine())
        return false;
    // Behind a message that waits for a receive, all wait.
    return std::ranges::none_of(slots, [&](const Slot &one) {
        return one.is_in_flight && one.kind == Kind::send && one.link == slot.link && one.side == slot.side;
    });
}

void RdmaModelTest::serve(bool waits)
{
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    const auto must = [&] { return waits && std::ranges::any_of(slots, [&](const Slot &slot) { return must_end(slot); }); };
    progress(false);
    while (must() && !HasFailure()) {
        progress(false);
        if (std::chrono::steady_clock::now() > limit)
            complain("what has to end does not");
        std::this_thread::yield();
    }
}

void RdmaModelTest::step()
{
    const std::size_t what = below(16);
    if (what == 0 || !sides[0].is_running() || !sides[1].is_running())
        do_ctx(below(2));
    forget_connections();
    if (what < 2)
        do_link(links[below(num_links)]);
    else if (what < 11)
        do_slot(slots[below(num_slots)]);
    else
        serve(one_in(3));
    forget_connections();
}

/// In the order that always works.
void RdmaModelTest::clean_up()
{
    for (const std::size_t side : {0, 1}) {
        break_links(side);
        if (sides[side].is_running())
            stop(sides[side]);
    }
    serve(true);
    for (Slot &slot : slots) {
        if (slot.task != nullptr && !slot.is_in_flight)
            release(slot);
    }
    for (Instance &side : sides) {
        while (!side.is_idle() && !HasFailure())
            progress(false);
        EXPECT_EQ(doca_rdma_destroy(side.rdma), DOCA_SUCCESS);
    }
}

TEST_P(RdmaModelTest, EachCallAnswersWhatItsStateSays)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    tell(num_ends);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RdmaModelTest);
INSTANTIATE_TEST_SUITE_P(device, RdmaModelTest, testing::ValuesIn(connecting_devices()), name_of_device);

} // namespace
