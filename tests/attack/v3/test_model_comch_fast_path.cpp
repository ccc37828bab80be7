// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Consumers and producers: see comch_model.hpp. A side of a connection has one of each at a time.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "comch_model.hpp"

namespace doca_test::comch {

void ComchModelTest::consumer_came(doca_comch_event_consumer *, doca_comch_connection *connection, std::uint32_t id)
{
    ComchModelTest &test = test_of(connection);
    test.count_callback();
    const Side side = side_of(connection);
    Link *const link = test.link_of(connection, side);
    if (link == nullptr || !link->known_consumers[side].insert(id).second)
        return test.complain("a consumer has come to nobody, or twice");
    FastMember &consumer = link->consumers[side ^ 1];
    std::uint32_t own_id = 0;
    if (consumer.exists() && !consumer.is_idle() &&
        doca_comch_consumer_get_id(consumer.consumer, &own_id) == DOCA_SUCCESS && own_id == id)
        consumer.id = id;
}

void ComchModelTest::consumer_went(doca_comch_event_consumer *, doca_comch_connection *connection, std::uint32_t id)
{
    ComchModelTest &test = test_of(connection);
    test.count_callback();
    const Side side = side_of(connection);
    Link *const link = test.link_of(connection, side);
    if (link == nullptr || link->known_consumers[side].erase(id) != 1)
        test.complain("a consumer has gone that had not come");
}

bool ComchModelTest::has_members(const Link &link)
{
    const auto exists = [](const FastMember &member) { return member.exists(); };
    return std::ranges::any_of(link.consumers, exists) || std::ranges::any_of(link.producers, exists);
}

bool ComchModelTest::must_receive(const Link &link, Side side) const
{
    return link.consumers[side].is_running() && link.consumers[side].in_flight != 0 && !link.data[side].empty() &&
           link.data[side].front().has_succeeded;
}

void ComchModelTest::create_member(Link &link, Side side, bool is_consumer)
{
    FastMember &member = is_consumer ? link.consumers[side] : link.producers[side];
    if (link.ends[at_server] == nullptr || link.ends[at_client] == nullptr ||
        !link.data[is_consumer ? side : side ^ 1].empty())
        return;
    doca_comch_connection *const connection = link.ends[side];
    const doca_error_t status = is_consumer ? doca_comch_consumer_create(connection, maps[side], member.consumer.out())
                                            : doca_comch_producer_create(connection, member.producer.out());
    if (status == DOCA_ERROR_BAD_STATE && link.is_broken)
        return;
    if (!answers("create on a connection", status, DOCA_SUCCESS))
        return;
    member.link = &link;
    member.id = 0;
    link.is_cut[is_consumer ? side : side ^ 1] = link.is_being_cut[is_consumer ? side : side ^ 1] = false;
    if (is_consumer) {
        using Task = doca_comch_consumer_task_post_recv;
        must(doca_comch_consumer_task_post_recv_set_conf(member.consumer, task_ended<Task, true>,
                                                         task_ended<Task, false>, num_tasks));
        adopt(member, doca_comch_consumer_as_ctx(member.consumer));
    } else {
        using Task = doca_comch_producer_task_send;
        must(doca_comch_producer_task_send_set_conf(member.producer, task_ended<Task, true>, task_ended<Task, false>,
                                                    num_tasks));
        adopt(member, doca_comch_producer_as_ctx(member.producer));
    }
    const doca_error_t started = doca_ctx_start(member.ctx);
    if (started != DOCA_ERROR_NOT_CONNECTED || !link.is_broken)
        (void)answers("ctx_start", started, is_consumer ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS);
}

/// Those that are idle, each of which has run once.
void ComchModelTest::forget_members(Link &link)
{
    const auto forget = [&](FastMember &member, Side side) {
        if (!member.exists() || !member.is_idle())
            return;
        member.link = nullptr;
        member.id = 0;
        if (member.consumer != nullptr)
            link.data[side].clear();
        member.consumer.reset();
        member.producer.reset();
    };
    for (const Side side : {at_server, at_client}) {
        forget(link.consumers[side], side);
        forget(link.producers[side], side);
    }
}

void ComchModelTest::do_member(Link &link, Side side, bool is_consumer)
{
    FastMember &member = is_consumer ? link.consumers[side] : link.producers[side];
    if (!member.exists())
        return create_member(link, side, is_consumer);
    switch (below(4)) {
    case 0:
        if (one_in(4) || link.is_broken)
            stop(member);
        break;
    case 1:
        (void)answers("destroy",
                      is_consumer ? doca_comch_consumer_destroy(member.consumer)
                                  : doca_comch_producer_destroy(member.producer),
                      DOCA_ERROR_IN_USE);
        break;
    default:
        check_counts(member);
    }
}

void ComchModelTest::alloc_data(Slot &slot)
{
    if (links.empty())
        return;
    Link &link = *std::next(links.begin(), static_cast<std::ptrdiff_t>(below(links.size())));
    slot.side = static_cast<Side>(below(2));
    slot.kind = one_in(2) ? Slot::Kind::receive : Slot::Kind::produce;
    FastMember &member = (slot.kind == Slot::Kind::receive ? link.consumers : link.producers)[slot.side];
    const FastMember &other = link.consumers[slot.side ^ 1];
    if (!member.exists() || (slot.kind == Slot::Kind::produce && (!other.exists() || other.id == 0)))
        return;
    const bool has_no_buffer = slot.kind == Slot::Kind::produce && one_in(6);
    if (!has_no_buffer)
        must(doca_buf_inventory_buf_get_by_addr(inventory, maps[slot.side], &memory[slot.side][slot.place], room,
                                                slot.buf.out()));
    doca_error_t status = DOCA_SUCCESS;
    doca_task *task = nullptr;
    doca_error_t wanted = alloc(member, member.allocated == num_tasks);
    if (slot.kind == Slot::Kind::receive) {
        doca_comch_consumer_task_post_recv *made = nullptr;
        status = doca_comch_consumer_task_post_recv_alloc_init(member.consumer, slot.buf, &made);
        task = reinterpret_cast<doca_task *>(made);
    } else {
        const bool is_wrong = one_in(20);
        slot.consumer = other.id;
        slot.immediate = is_wrong ? 33 : has_no_buffer || one_in(2) ? 8 : one_in(2) ? 32 : 0;
        doca_comch_producer_task_send *made = nullptr;
        auto *const immediate = reinterpret_cast<std::uint8_t *>(slot.memory.data());
        status = doca_comch_producer_task_send_alloc_init(member.producer, slot.buf, immediate, slot.immediate,
                                                          slot.consumer, &made);
        task = reinterpret_cast<doca_task *>(made);
        wanted = unless(is_wrong, DOCA_ERROR_INVALID_VALUE, wanted);
    }
    if (!answers("alloc_init on the fast path", status, wanted))
        return slot.buf.reset();
    allocated(slot, member, task);
    doca_task_set_user_data(slot.task, {.ptr = &slot});
    slot.link = &link;
}

void ComchModelTest::submit_data(Slot &slot)
{
    std::byte *const bytes = &memory[slot.side][slot.place];
    if (slot.kind == Slot::Kind::receive) {
        // Room for all, or for short messages alone: what does not fit is not near.
        slot.length = one_in(60) ? least_room : room;
        must(doca_buf_inventory_buf_get_by_addr(inventory, maps[slot.side], bytes, slot.length, slot.buf.out()));
        doca_comch_consumer_task_post_recv_set_buf(reinterpret_cast<doca_comch_consumer_task_post_recv *>(slot.task),
                                                   slot.buf);
        (void)submit(slot);
        return;
    }
    const Side to = static_cast<Side>(slot.side ^ 1);
    slot.number = ++num_numbers;
    slot.length = slot.buf == nullptr ? 0 : one_in(2) ? 8 : 64 + below(room - 64 - 31);
    fill(bytes, slot.number, slot.length);
    fill(slot.memory.data(), slot.number, slot.immediate);
    if (slot.buf != nullptr) {
        must(doca_buf_reset_data_len(slot.buf));
        must(doca_buf_set_data_len(slot.buf, slot.length));
    }
    const bool counts = slot.consumer == slot.link->consumers[to].id && !slot.link->is_being_cut[to];
    if (counts)
        slot.link->data[to].push_back({slot.number, slot.length});
    if (!submit(slot) && counts)
        slot.link->data[to].pop_back();
    std::ranges::fill(slot.memory, std::byte{0xee}); // immediate data was copied
}

void ComchModelTest::take_data(const Slot &slot)
{
    const auto *const task = reinterpret_cast<const doca_comch_consumer_task_post_recv *>(slot.task);
    auto &queue = slot.link->data[slot.side];
    if (queue.empty() || slot.link->is_cut[slot.side])
        return complain("a consumer has received what nobody has sent, or what came behind a message that did not fit");
    const Sent sent = queue.front();
    queue.pop_front();
    ++num_data;
    const std::byte *const bytes = &memory[slot.side][slot.place];
    const std::uint32_t immediate = doca_comch_consumer_task_post_recv_get_imm_data_len(task);
    const auto *const at = reinterpret_cast<const std::byte *>(doca_comch_consumer_task_post_recv_get_imm_data(task));
    if (data_len_of(slot.buf) != sent.length || !is_whole(bytes, sent.number, sent.length) ||
        (immediate != 0 && !is_whole(at, sent.number, immediate)) || (sent.length == 0 && immediate != 8))
        complain("a message is not the next one of its producer, or not what was sent");
}

void ComchModelTest::receive_failed(const Slot &slot)
{
    const doca_error_t status = doca_task_get_status(slot.task);
    auto &queue = slot.link->data[slot.side];
    if (status == DOCA_ERROR_FULL && !queue.empty() && queue.front().length > slot.length) {
        slot.link->is_cut[slot.side] = slot.link->is_being_cut[slot.side] = true;
        queue.clear();
    } else if (status != DOCA_ERROR_SHUTDOWN || slot.ctx->is_running()) {
        ADD_FAILURE() << "a receive has failed with " << doca_error_get_name(status) << where();
    }
}

void ComchModelTest::data_ended(Slot &slot, bool has_succeeded)
{
    ended(slot, has_succeeded);
    if (slot.kind == Slot::Kind::receive)
        return has_succeeded ? take_data(slot) : receive_failed(slot);
    const Side to = static_cast<Side>(slot.side ^ 1);
    auto &queue = slot.link->data[to];
    const auto sent = std::ranges::find(queue, slot.number, &Sent::number);
    if (has_succeeded) {
        if (sent != queue.end())
            sent->has_succeeded = true;
        return;
    }
    const doca_error_t status = doca_task_get_status(slot.task);
    if (status == DOCA_ERROR_FULL && (slot.link->is_cut[to] || (sent != queue.end() && sent->length > least_room))) {
        slot.link->is_being_cut[to] = true; // its receive ends later
        return;
    }
    if (sent != queue.end())
        queue.erase(sent);
    const FastMember &consumer = slot.link->consumers[to];
    const bool is_there = consumer.exists() && consumer.is_running() && consumer.id == slot.consumer;
    const bool may_fail = !slot.ctx->is_running() || slot.link->is_broken || !is_there || slot.link->is_being_cut[to];
    if (!may_fail ||
        (status != DOCA_ERROR_CONNECTION_RESET && status != DOCA_ERROR_SHUTDOWN && status != DOCA_ERROR_NOT_FOUND))
        ADD_FAILURE() << "a producer's message has failed with " << doca_error_get_name(status) << where();
}

void ComchModelTest::do_data(Slot &slot)
{
    if (slot.task == nullptr)
        return alloc_data(slot);
    if (slot.is_in_flight) {
        (void)answers("submit in flight", doca_task_submit(slot.task), DOCA_ERROR_BAD_STATE);
    } else if (one_in(6) || !slot.ctx->is_running()) {
        release(slot);
    } else {
        submit_data(slot);
    }
}

} // namespace doca_test::comch
