// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Tasks on connections: see rdma_model.hpp.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "rdma_model.hpp"

namespace doca_test {

void RdmaModelTest::note_message(Slot &slot)
{
    const auto *const task = reinterpret_cast<const doca_rdma_task_receive *>(slot.task);
    const std::byte *const bytes = place(slot.side, index_of(slot));
    const std::size_t length = doca_rdma_task_receive_get_result_len(task);
    const doca_rdma_opcode opcode = doca_rdma_task_receive_get_result_opcode(task);
    const doca_rdma_connection *const from = doca_rdma_task_receive_get_result_rdma_connection(task);
    const auto link = std::ranges::find_if(links, [&](const Link &one) { return one.ends[slot.side] == from; });
    if (link == links.end() || link->sent[slot.side].empty()) {
        if (link != links.end() || !sides[slot.side].has_lost)
            complain("a message that nobody has sent");
        return;
    }
    const Sent sent = link->sent[slot.side].front();
    link->sent[slot.side].pop_front();
    EXPECT_EQ(length, sent.length) << where();
    EXPECT_EQ(opcode, sent.kind == Kind::send       ? DOCA_RDMA_OPCODE_RECV_SEND
                      : sent.kind == Kind::send_imm ? DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM
                                                    : DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM)
        << where();
    if (sent.kind != Kind::send) {
        EXPECT_EQ(doca_rdma_task_receive_get_result_immediate_data(task), sent.immediate()) << where();
    }
    bool is_whole = sent.kind == Kind::write_imm || data_len_of(slot.local) == length;
    for (std::size_t i = 0; is_whole && sent.kind != Kind::write_imm && i != length; ++i)
        is_whole = bytes[i] == (i < sizeof(sent.number) ? reinterpret_cast<const std::byte *>(&sent.number)[i]
                                                        : pattern(sent.number, i));
    if (!is_whole)
        complain("a message is not the next one of its connection, or not what was sent");
}

/// What the operation of @p slot works on, as its owner sees it.
std::uint64_t RdmaModelTest::value_of(const Slot &slot)
{
    std::uint64_t value = 0;
    if (slot.is_on_counter())
        must(doca_sync_event_get(sides[slot.side ^ 1].event, &value));
    else
        std::memcpy(&value, place(slot.side ^ 1, num_slots + 1), sizeof(value));
    return value;
}

void RdmaModelTest::check_word(Slot &slot, bool has_succeeded)
{
    --word_of(slot).in_flight;
    if (!has_succeeded || !slot.is_alone)
        return;
    EXPECT_EQ(value_of(slot), slot.after()) << "kind " << static_cast<int>(slot.kind) << where();
    if (slot.kind == Kind::event_set)
        return;
    std::uint64_t seen = 0;
    std::memcpy(&seen, place(slot.side, index_of(slot)), sizeof(seen));
    EXPECT_EQ(seen, slot.before) << "kind " << static_cast<int>(slot.kind) << where();
}

void RdmaModelTest::end(Slot &slot, bool has_succeeded)
{
    ended(slot, has_succeeded);
    const doca_error_t status = doca_task_get_status(slot.task);
    if (slot.is_too_early || slot.is_misplaced) {
        // The connection is looked at first.
        EXPECT_EQ(
            doca_error_get_name(status),
            std::string(doca_error_get_name(slot.is_too_early ? DOCA_ERROR_NOT_CONNECTED : DOCA_ERROR_INVALID_VALUE)))
            << where();
        return;
    }
    if (slot.is_on_word())
        check_word(slot, has_succeeded);
    const bool may_fail = slot.may_fail || !slot.ctx->is_running() ||
                          (slot.kind == Kind::receive ? sides[slot.side].has_lost : slot.link->is_broken);
    if (!has_succeeded) {
        if (!may_fail)
            ADD_FAILURE() << "a task of kind " << static_cast<int>(slot.kind) << " has failed with "
                          << doca_error_get_name(status) << where();
        return;
    }
    if (slot.kind == Kind::receive)
        return note_message(slot);
    const std::size_t at = index_of(slot);
    if (slot.kind == Kind::read) {
        if (std::memcmp(place(slot.side, at), place(slot.side ^ 1, num_slots), slot.length) != 0)
            complain("what was read is not what is there");
    } else if (slot.is_write() && !may_fail) {
        if (std::memcmp(place(slot.side, at), place(slot.side ^ 1, at), slot.length) != 0)
            complain("what was written is not there");
    }
}

std::pair<doca_error_t, doca_task *> RdmaModelTest::make_task(Slot &slot, doca_rdma_connection *connection)
{
    Instance &instance = sides[slot.side];
    std::byte *const own = place(slot.side, index_of(slot));
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
    const auto on_word = [&] {
        full(instance.imported, place(slot.side ^ 1, num_slots + 1) + (slot.is_misplaced ? 4 : 0), 8, slot.remote);
        full(instance.map, own, 8, slot.local);
    };
    switch (slot.kind) {
    case Kind::receive:
        empty(instance.map, own, slot.local);
        return make.operator()<doca_rdma_task_receive>(doca_rdma_task_receive_allocate_init, slot.local);
    case Kind::send:
        full(instance.map, own, slot.length, slot.local);
        return make.operator()<doca_rdma_task_send>(doca_rdma_task_send_allocate_init, connection, slot.local);
    case Kind::send_imm:
        if (slot.length != 0)
            full(instance.map, own, slot.length, slot.local);
        return make.operator()<doca_rdma_task_send_imm>(doca_rdma_task_send_imm_allocate_init, connection, slot.local,
                                                        doca_be32_t{0});
    case Kind::read: // of a place that nobody writes to
        full(instance.imported, place(slot.side ^ 1, num_slots), slot.length, slot.remote);
        empty(instance.map, own, slot.local);
        return make.operator()<doca_rdma_task_read>(doca_rdma_task_read_allocate_init, connection, slot.remote,
                                                    slot.local);
    case Kind::write: // to what the other side's slot of this number has
    case Kind::write_imm:
        full(instance.map, own, slot.length, slot.local);
        empty(instance.imported, place(slot.side ^ 1, index_of(slot)), slot.remote);
        if (slot.kind == Kind::write)
            return make.operator()<doca_rdma_task_write>(doca_rdma_task_write_allocate_init, connection, slot.local,
                                                         slot.remote);
        return make.operator()<doca_rdma_task_write_imm>(doca_rdma_task_write_imm_allocate_init, connection, slot.local,
                                                         slot.remote, doca_be32_t{0});
    case Kind::add:
        on_word();
        return make.operator()<doca_rdma_task_atomic_fetch_add>(doca_rdma_task_atomic_fetch_add_allocate_init,
                                                                connection, slot.remote, slot.local, slot.operand);
    case Kind::swap:
        on_word();
        return make.operator()<doca_rdma_task_atomic_cmp_swp>(doca_rdma_task_atomic_cmp_swp_allocate_init, connection,
                                                              slot.remote, slot.local, slot.compare, slot.operand);
    case Kind::event_get:
        empty(instance.map, own, slot.local);
        return make.operator()<doca_rdma_task_remote_net_sync_event_get>(
            doca_rdma_task_remote_net_sync_event_get_allocate_init, connection, instance.remote, slot.local);
    case Kind::event_set:
        full(instance.map, own, 8, slot.local);
        return make.operator()<doca_rdma_task_remote_net_sync_event_notify_set>(
            doca_rdma_task_remote_net_sync_event_notify_set_allocate_init, connection, instance.remote, slot.local);
    case Kind::event_add:
        full(instance.map, own, 8, slot.local);
        return make.operator()<doca_rdma_task_remote_net_sync_event_notify_add>(
            doca_rdma_task_remote_net_sync_event_notify_add_allocate_init, connection, instance.remote, slot.local,
            slot.operand);
    }
    return {DOCA_ERROR_UNKNOWN, nullptr};
}

void RdmaModelTest::alloc_slot(Slot &slot)
{
    const std::size_t side = below(2);
    Link &link = links[below(num_links)];
    // Without receives nothing gets far.
    const auto kind =
        static_cast<Kind>(one_in(5) ? 0 : below(has_atomics ? num_kinds : static_cast<std::size_t>(Kind::add)));
    if (kind != Kind::receive && (link.ends[side] == nullptr || link.is_broken))
        return;
    const auto out = static_cast<std::uint32_t>(std::ranges::count_if(
        slots, [&](const Slot &one) { return one.task != nullptr && one.ctx == &sides[side] && one.kind == kind; }));
    slot.side = side;
    slot.kind = kind;
    slot.link = kind == Kind::receive ? nullptr : &link;
    slot.length = one_in(2) ? 8 + below(33) : 8 + below(room - 8);
    if (kind == Kind::send_imm && one_in(8))
        slot.length = 0;
    slot.is_misplaced = slot.is_on_memory_word() && one_in(16);
    slot.operand = one_in(2) ? 1 : random();
    slot.compare = one_in(2) ? value_of(slot) : below(4);
    const auto [status, task] = make_task(slot, link.ends[side]);
    if (answers("allocate_init", status, alloc(sides[side], out == num_tasks))) {
        allocated(slot, sides[side], task);
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

/// Buffers, immediates and what a message says.
void RdmaModelTest::prepare(Slot &slot)
{
    std::byte *const own = place(slot.side, index_of(slot));
    if (slot.needs_receive())
        slot.number = ++num_messages;
    const doca_be32_t immediate = Sent{.number = slot.number}.immediate();
    switch (slot.kind) {
    case Kind::receive:
    case Kind::read:
    case Kind::event_get:
        must(doca_buf_reset_data_len(slot.local));
        break;
    case Kind::write:
    case Kind::write_imm:
        must(doca_buf_reset_data_len(slot.remote));
        if (slot.kind == Kind::write_imm)
            doca_rdma_task_write_imm_set_immediate_data(reinterpret_cast<doca_rdma_task_write_imm *>(slot.task),
                                                        immediate);
        break;
    case Kind::send:
    case Kind::send_imm:
        for (std::size_t i = 0; i != slot.length; ++i)
            own[i] = pattern(slot.number, i);
        if (slot.length != 0)
            std::memcpy(own, &slot.number, sizeof(slot.number));
        if (slot.kind == Kind::send_imm)
            doca_rdma_task_send_imm_set_immediate_data(reinterpret_cast<doca_rdma_task_send_imm *>(slot.task),
                                                       immediate);
        break;
    case Kind::event_set:
        std::memcpy(own, &slot.operand, sizeof(slot.operand));
        break;
    case Kind::add:
    case Kind::swap:
    case Kind::event_add:
        break;
    }
}

void RdmaModelTest::submit_slot(Slot &slot)
{
    Link *const link = slot.link;
    if (link != nullptr && link->stage == Link::Stage::accepted && !link->is_fine())
        return; // may work already
    slot.is_too_early = link != nullptr && link->stage == Link::Stage::asked;
    slot.may_fail = link != nullptr && !link->is_fine();
    prepare(slot);
    const bool touches_word = slot.is_on_word() && !slot.is_too_early && !slot.is_misplaced;
    if (touches_word && slot.ctx->is_running()) {
        slot.before = value_of(slot);
        slot.is_alone = word_of(slot).in_flight++ == 0;
        for (Slot &other : slots) {
            if (!slot.is_alone && other.is_in_flight && other.is_on_word() && &word_of(other) == &word_of(slot))
                other.is_alone = false;
        }
    }
    if (submit(slot) && slot.needs_receive() && !slot.is_too_early)
        link->sent[slot.side ^ 1].push_back({slot.number, slot.kind, slot.length});
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
    if (slot.ctx->state == DOCA_CTX_STATE_STOPPING || slot.is_too_early || slot.is_misplaced)
        return true;
    if (slot.kind == Kind::receive || slot.may_fail || !slot.link->is_fine())
        return false;
    // Behind a message that waits for a receive, all wait.
    return std::ranges::none_of(slots, [&](const Slot &one) {
        return one.is_in_flight && one.needs_receive() && one.link == slot.link && one.side == slot.side;
    });
}

void RdmaModelTest::serve(bool waits)
{
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    const auto must = [&] {
        return waits && (std::ranges::any_of(slots, [&](const Slot &slot) { return must_end(slot); }) ||
                         std::ranges::any_of(links, &Link::must_settle));
    };
    progress(false);
    for (unsigned looks = 1; must() && !HasFailure(); ++looks) {
        progress(false);
        if (std::chrono::steady_clock::now() > limit)
            complain("what has to end does not");
        if (!is_soft(GetParam()) || looks % 1024 == 0) // nobody else works for a software device
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
        side.address.reset();
    }
    for (Instance &side : sides) {
        side.remote.reset();
        if (side.event != nullptr) {
            EXPECT_EQ(doca_sync_event_stop(side.event), DOCA_SUCCESS);
        }
    }
}

namespace {

TEST_P(RdmaModelTest, CallsAndResultsMatchTheModel)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    tell(num_ends);
    std::printf("%llu connections by address\n", static_cast<unsigned long long>(num_established));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RdmaModelTest);
INSTANTIATE_TEST_SUITE_P(device, RdmaModelTest, testing::ValuesIn(connecting_devices()), name_of_device);

} // namespace

} // namespace doca_test
