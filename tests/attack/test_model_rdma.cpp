// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA instances that start, connect, work and go in any order, by calls at random: see model.hpp. While both sides of
// a connection are fine, the model says which message meets which receive, and what each job comes to. Once a side has
// failed, was cancelled or has gone, it says what cannot have worked, and that all ends when it is asked to.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../conformance/support/rdma_fixture.hpp"
#include "model.hpp"
#include "queued_ctx.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t num_ends = 4; // the two of a pair have numbers that differ in the last bit
constexpr std::uint32_t depth = 8;
constexpr std::size_t slot_size = 4096, num_slots = 16;

/// Where things are in the memory of an end.
enum class Region { source, target, receives, results, word };

struct Request {
    std::uint64_t number = 0;
    std::uint64_t slot = 0; ///< in its regions
    int type = 0;
    std::size_t length = 0;
    std::size_t at = 0; ///< in the source
    std::uint32_t immediate = 0;
    std::uint64_t operand = 0, compare = 0;
    BufHandle local, remote;
    // As soon as the model has carried it out.
    bool is_done = false;
    bool is_in_vain = false;   ///< its peer had gone before
    bool is_cancelled = false; ///< it has to end
    doca_error_t result = DOCA_SUCCESS;
    std::size_t moved = 0;
    std::uint64_t old_value = 0;
    // Of a receive: what it has met.
    int met = 0;
    std::size_t met_at = 0;

    [[nodiscard]] bool needs_receive() const
    {
        return type == DOCA_RDMA_JOB_SEND || type == DOCA_RDMA_JOB_SEND_IMM || type == DOCA_RDMA_JOB_WRITE_IMM;
    }
    [[nodiscard]] bool is_write() const { return type == DOCA_RDMA_JOB_WRITE || type == DOCA_RDMA_JOB_WRITE_IMM; }
    [[nodiscard]] bool is_atomic() const
    {
        return type == DOCA_RDMA_JOB_ATOMIC_CMP_SWP || type == DOCA_RDMA_JOB_ATOMIC_FETCH_ADD;
    }
    /// That the other side's instance has to give.
    [[nodiscard]] std::uint32_t right() const
    {
        return is_write()                   ? DOCA_ACCESS_RDMA_WRITE
               : is_atomic()                ? DOCA_ACCESS_RDMA_ATOMIC
               : type == DOCA_RDMA_JOB_READ ? DOCA_ACCESS_RDMA_READ
                                            : 0;
    }
};

struct End {
    QueuedCtx ctx; ///< its one work queue is number 0
    doca_rdma *rdma = nullptr;
    doca_workq *workq = nullptr;
    std::uint32_t rights = 0;
    std::uint64_t life = 0;         ///< changes with each start
    std::uint64_t life_of_peer = 0; ///< that it is connected to, or 0
    bool is_broken = false;         ///< its connection
    bool is_unsure = false;         ///< whether it is broken
    bool has_failed = false;        ///< a job's end told so
    bool has_receive_failed = false;
    std::deque<Request> requests, receives;

    Memory memory{MemoryKind::anonymous, 5 * slot_size *num_slots};
    std::unique_ptr<LocalMap> map;
    MmapHandle imported;    ///< the peer's
    std::uint64_t word = 0; ///< of the peer, that this side alone changes
    std::uint64_t num_requests = 0, num_receives = 0;

    [[nodiscard]] std::size_t num_jobs() const { return requests.size() + receives.size(); }
    [[nodiscard]] bool is_connected() const { return life_of_peer != 0; }
};

class RdmaModelTest : public DeviceTest, protected Model<doca_get_error_name> {
protected:
    void SetUp() override
    {
        has_atomics = doca_rdma_job_get_supported(info, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD) == DOCA_SUCCESS;
        for (End &end : ends) {
            fill(end.memory.bytes(), static_cast<std::uint32_t>(random()));
            std::memset(place(end, Region::word), 0, sizeof(end.word));
            end.map = std::make_unique<LocalMap>(dev, end.memory.bytes(), exposed);
            must(doca_workq_create(depth, &end.workq));
        }
        for (End &end : ends)
            end.imported = import_rdma(export_rdma(*peer_of(end).map, dev), dev);
    }

    [[nodiscard]] End &peer_of(const End &end) { return ends[static_cast<std::size_t>(&end - ends.data()) ^ 1]; }
    [[nodiscard]] static std::byte *place(const End &end, Region region, std::uint64_t slot = 0)
    {
        return end.memory.data() + (static_cast<std::size_t>(region) * num_slots + slot % num_slots) * slot_size;
    }
    /// Two that both wait for a receive, and have no room for one, get no further.
    [[nodiscard]] bool has_room(const std::deque<Request> &jobs) { return jobs.size() < depth / 2 || one_in(64); }
    [[nodiscard]] bool are_connected(const End &one, const End &other) const
    {
        return one.life_of_peer == other.life && other.life_of_peer == one.life;
    }

    void step();
    void do_life(End &end);
    void connect(End &end);
    void check_state(End &end);
    void leave_workq(End &end);
    void post_receive(End &end);
    void post(End &end);
    [[nodiscard]] doca_error_t submit(const End &end, Request &request);
    [[nodiscard]] doca_error_t submit_answer(End &end, bool is_wrong);
    void carry_out(End &end);
    bool carry_out(End &end, Request &request);
    static void break_up(End &end) { end.is_broken = end.is_broken || end.is_connected(); }
    void look_for_breaks();
    bool retrieve_one(End &end);
    void retrieve(End &end, bool waits);
    void check_end(End &end, Request &job, bool is_receive, const doca_event &event, const doca_rdma_result &result);
    void clean_up();

    bool has_atomics = false;
    Inventory inventory{2 * num_ends * depth + 4};
    std::array<End, num_ends> ends;
    std::uint64_t num_lives = 0, num_posted = 0, num_retrieved = 0;
};

void RdmaModelTest::do_life(End &end)
{
    if (end.rdma == nullptr) {
        if (!answers("rdma_create", doca_rdma_create(&end.rdma), DOCA_SUCCESS))
            return;
        must(doca_ctx_dev_add(doca_rdma_as_ctx(end.rdma), dev));
        constexpr std::uint32_t without[] = {DOCA_ACCESS_RDMA_READ, DOCA_ACCESS_RDMA_WRITE, DOCA_ACCESS_RDMA_ATOMIC};
        end.rights = exposed & ~(one_in(24) ? without[below(3)] : 0);
        must(doca_rdma_set_permissions(end.rdma, end.rights));
        return;
    }
    doca_ctx *const base = doca_rdma_as_ctx(end.rdma);
    switch (below(8)) {
    case 0:
    case 1:
        if (answers("ctx_start", doca_ctx_start(base), unless(end.ctx.is_started, DOCA_ERROR_BAD_STATE))) {
            end.ctx.is_started = true;
            end.life = ++num_lives;
        }
        break;
    case 2:
        if (one_in(end.is_broken ? 1 : 8) && answers("ctx_stop", doca_ctx_stop(base), end.ctx.stop())) {
            end.ctx.is_started = end.is_broken = end.is_unsure = end.has_failed = end.has_receive_failed = false;
            end.life = end.life_of_peer = 0;
        }
        break;
    case 3:
        if (one_in(end.is_broken ? 1 : 8))
            leave_workq(end);
        break;
    case 4:
        if (one_in(8) &&
            answers("rdma_destroy", doca_rdma_destroy(end.rdma), unless(end.ctx.is_started, DOCA_ERROR_BAD_STATE)))
            end.rdma = nullptr;
        break;
    case 5:
        check_state(end);
        break;
    default:
        if (answers("ctx_workq_add", doca_ctx_workq_add(base, end.workq), end.ctx.workq_add(0)))
            end.ctx.is_on[0] = true;
    }
}

/// With jobs in flight it cancels those that wait for the peer.
void RdmaModelTest::leave_workq(End &end)
{
    const doca_error_t wanted = end.ctx.workq_rm(0);
    if (answers("ctx_workq_rm", doca_ctx_workq_rm(doca_rdma_as_ctx(end.rdma), end.workq), wanted))
        end.ctx.is_on[0] = false;
    if (wanted != DOCA_ERROR_NOT_PERMITTED)
        return;
    const auto waits = [](const Request &job) { return !job.is_done; };
    // What has ended on a device, and was not looked for, may be cancelled as well.
    end.is_unsure =
        end.is_unsure || !(std::ranges::any_of(end.requests, waits) || std::ranges::any_of(end.receives, waits));
    break_up(end);
    for (std::deque<Request> *const jobs : {&end.requests, &end.receives}) {
        for (Request &job : *jobs)
            job.is_cancelled = true;
    }
}

void RdmaModelTest::connect(End &end)
{
    End &peer = peer_of(end);
    if (end.rdma == nullptr || peer.rdma == nullptr)
        return;
    const void *details = nullptr;
    std::size_t size = 0;
    if (!answers("rdma_export", doca_rdma_export(peer.rdma, &details, &size),
                 unless(!peer.ctx.is_started, DOCA_ERROR_BAD_STATE)))
        return;
    const bool is_initial = end.ctx.is_started && !end.is_connected();
    if (is_initial && (peer.is_broken || (peer.is_connected() && peer.life_of_peer != end.life)))
        return; // would wait for one that has gone
    if (answers("rdma_connect", doca_rdma_connect(end.rdma, details, size),
                unless(!is_initial, DOCA_ERROR_BAD_STATE))) {
        end.life_of_peer = peer.life;
        std::memcpy(&end.word, place(peer, Region::word), sizeof(end.word)); // after a failure nobody knows it
    }
}

void RdmaModelTest::check_state(End &end)
{
    doca_rdma_state state = DOCA_RDMA_STATE_RESET;
    must(doca_rdma_get_state(end.rdma, &state));
    const doca_rdma_state wanted = !end.ctx.is_started   ? DOCA_RDMA_STATE_RESET
                                   : !end.is_connected() ? DOCA_RDMA_STATE_INIT
                                   : end.has_failed      ? DOCA_RDMA_STATE_ERROR
                                                         : DOCA_RDMA_STATE_CONNECTED;
    if (state != wanted && !(end.is_broken && state == DOCA_RDMA_STATE_ERROR) && !(end.is_unsure && end.is_broken))
        ADD_FAILURE() << "state " << state << " and not " << wanted << where();
}

doca_error_t RdmaModelTest::submit_answer(End &end, bool is_wrong)
{
    bool is_connected = end.is_connected();
    if (end.is_broken) { // when it shows is the device's matter
        doca_rdma_state state = DOCA_RDMA_STATE_RESET;
        must(doca_rdma_get_state(end.rdma, &state));
        is_connected = state == DOCA_RDMA_STATE_CONNECTED;
    }
    return unless(
        end.ctx.submit(0) != DOCA_SUCCESS, end.ctx.submit(0),
        unless(!is_connected, DOCA_ERROR_BAD_STATE,
               unless(is_wrong, DOCA_ERROR_INVALID_VALUE, unless(end.num_jobs() == depth, DOCA_ERROR_NO_MEMORY))));
}

void RdmaModelTest::post_receive(End &end)
{
    Request receive;
    receive.number = ++num_posted;
    receive.slot = end.num_receives;
    receive.type = DOCA_RDMA_JOB_RECV;
    receive.length = one_in(64) ? below(64) : slot_size;
    doca_rdma_job_recv job = {};
    job.base = {
        .type = receive.type, .flags = 0, .ctx = doca_rdma_as_ctx(end.rdma), .user_data = {.u64 = receive.number}};
    if (receive.length != 0) {
        receive.local = inventory.empty(*end.map, place(end, Region::receives, receive.slot), receive.length);
        job.dst_buff = receive.local;
    }
    const doca_error_t wanted = submit_answer(end, false);
    if (!answers("workq_submit of a receive", doca_workq_submit(end.workq, &job.base), wanted))
        return;
    ++end.ctx.in_flight[0];
    ++end.num_receives;
    end.receives.push_back(std::move(receive));
}

/// Anything but a receive.
void RdmaModelTest::post(End &end)
{
    if (!is_soft(info) && !are_connected(end, peer_of(end)))
        return; // takes a device as long as it repeats it
    Request request;
    request.number = ++num_posted;
    request.slot = end.num_requests;
    request.type = DOCA_RDMA_JOB_SEND + static_cast<int>(below(has_atomics ? 7 : 5));
    request.length = one_in(8) ? 0 : one_in(2) ? 1 + below(40) : 1 + below(slot_size);
    request.at = below(slot_size);
    request.immediate = static_cast<std::uint32_t>(random());
    request.operand = below(1000);
    request.compare = one_in(2) ? end.word : below(1000);
    const bool is_wrong = one_in(32) && (request.is_write() || request.is_atomic());
    std::byte *const source = place(end, Region::source) + request.at;
    const End &peer = peer_of(end);
    if (request.is_atomic()) {
        request.local = inventory.full(*end.map, place(end, Region::results, request.slot), 8);
        request.remote = inventory.full(end.imported, place(peer, Region::word) + (is_wrong ? 4 : 0), 8);
    } else if (request.type == DOCA_RDMA_JOB_READ) {
        request.length += request.length == 0 ? 1 : 0;
        request.local = inventory.empty(*end.map, place(end, Region::results, request.slot), slot_size);
        request.remote = inventory.full(end.imported, place(peer, Region::source) + request.at, request.length);
    } else {
        if (request.length != 0 || is_wrong) {
            request.length += request.length == 0 ? 1 : 0;
            request.local = inventory.full(*end.map, source, request.length);
        }
        if (request.is_write())
            request.remote = inventory.empty(end.imported, place(peer, Region::target, request.slot),
                                             is_wrong ? request.length - 1 : slot_size);
    }
    const doca_error_t wanted = submit_answer(end, is_wrong);
    if (!answers("workq_submit of a request", submit(end, request), wanted))
        return;
    request.is_in_vain = end.life_of_peer != peer.life;
    ++end.ctx.in_flight[0];
    ++end.num_requests;
    end.requests.push_back(std::move(request));
}

doca_error_t RdmaModelTest::submit(const End &end, Request &request)
{
    const doca_job base = {
        .type = request.type, .flags = 0, .ctx = doca_rdma_as_ctx(end.rdma), .user_data = {.u64 = request.number}};
    if (request.is_atomic()) {
        doca_rdma_job_atomic job = {};
        job.base = base;
        job.cmp_or_add_dest_buff = request.remote;
        job.result_buff = request.local;
        job.swap_or_add_data = request.operand;
        job.cmp_data = request.compare;
        return doca_workq_submit(end.workq, &job.base);
    }
    if (request.is_write() || request.type == DOCA_RDMA_JOB_READ) {
        doca_rdma_job_read_write job = {};
        job.base = base;
        job.dst_buff = request.is_write() ? request.remote : request.local;
        job.src_buff = request.is_write() ? request.local : request.remote;
        job.immediate_data = request.immediate;
        return doca_workq_submit(end.workq, &job.base);
    }
    doca_rdma_job_send job = {};
    job.base = base;
    job.src_buff = request.local;
    job.immediate_data = request.immediate;
    return doca_workq_submit(end.workq, &job.base);
}

/// What can be carried out now has been, or will be, whoever is asked first.
void RdmaModelTest::carry_out(End &end)
{
    for (Request &request : end.requests) {
        if (request.is_done)
            continue;
        if (end.is_broken || !are_connected(end, peer_of(end)) || !carry_out(end, request))
            return;
    }
}

/// False when it waits for a receive, or has failed.
bool RdmaModelTest::carry_out(End &end, Request &request)
{
    End &peer = peer_of(end);
    if ((peer.rights & request.right()) != request.right()) {
        request.is_done = true;
        request.result = DOCA_ERROR_NOT_PERMITTED;
        break_up(end);
        break_up(peer);
        return false;
    }
    if (request.needs_receive()) {
        const auto receive = std::ranges::find(peer.receives, false, &Request::is_done);
        if (receive == peer.receives.end())
            return false;
        receive->is_done = true;
        receive->met = request.type;
        receive->met_at = request.at;
        receive->moved = request.length;
        receive->immediate = request.immediate;
        if (!request.is_write() && request.length > receive->length) {
            receive->result = request.result = DOCA_ERROR_FULL;
            request.is_done = true;
            break_up(end);
            break_up(peer);
            return false;
        }
    }
    request.is_done = true;
    if (request.type == DOCA_RDMA_JOB_READ)
        request.moved = request.length;
    if (request.is_atomic()) {
        request.old_value = end.word;
        if (request.type == DOCA_RDMA_JOB_ATOMIC_FETCH_ADD)
            end.word += request.operand;
        else if (end.word == request.compare)
            end.word = request.operand;
    }
    return true;
}

/// Who is connected to one that has gone, or that is connected to another.
void RdmaModelTest::look_for_breaks()
{
    for (End &end : ends) {
        const End &peer = peer_of(end);
        const bool waits_for_peer = end.life_of_peer == peer.life && !peer.is_connected();
        if (end.is_connected() && !waits_for_peer && (!are_connected(end, peer) || peer.is_broken))
            end.is_broken = true;
        end.is_unsure = end.is_unsure || (end.is_broken && peer.is_unsure);
    }
}

void RdmaModelTest::check_end(End &end, Request &job, bool is_receive, const doca_event &event,
                              const doca_rdma_result &result)
{
    const bool has_worked = result.result == DOCA_SUCCESS;
    const bool was_flushed =
        end.is_broken && (result.result == DOCA_ERROR_SHUTDOWN || result.result == DOCA_ERROR_CONNECTION_RESET);
    if (!end.is_broken || (is_soft(info) && job.is_done && job.result != DOCA_SUCCESS && !was_flushed)) {
        EXPECT_EQ(doca_get_error_name(result.result), std::string(doca_get_error_name(job.result)))
            << "a job of type " << job.type << where();
    }
    // A side that has failed may not know it yet, and so work for the other one.
    bool &has_failed = is_receive ? end.has_receive_failed : end.has_failed;
    const bool cannot_have_worked = !job.is_done && !end.is_unsure && (has_failed || job.is_in_vain);
    if (has_worked ? cannot_have_worked : !end.is_broken)
        ADD_FAILURE() << "job " << job.number << " of type " << job.type << " has ended with "
                      << doca_get_error_name(result.result) << (job.is_done ? ", and was done" : ", and was not done")
                      << where();
    end.has_failed = end.has_failed || !has_worked;
    has_failed = has_failed || !has_worked;
    if (event.type != job.type)
        complain("the event is of another type than the job");
    if (!has_worked || !job.is_done)
        return;
    EXPECT_EQ(result.length, is_receive || job.type == DOCA_RDMA_JOB_READ ? job.moved : 0) << where();
    const End &peer = peer_of(end);
    const auto holds = [&](const std::byte *at, const End &of, std::size_t from, std::size_t length) {
        if (length != 0 && std::memcmp(at, place(of, Region::source) + from, length) != 0)
            complain("the bytes are not those that were sent");
    };
    if (is_receive) {
        const bool has_immediate = job.met != DOCA_RDMA_JOB_SEND;
        const bool was_write = job.met == DOCA_RDMA_JOB_WRITE_IMM;
        EXPECT_EQ(result.opcode, was_write       ? DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM
                                 : has_immediate ? DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM
                                                 : DOCA_RDMA_OPCODE_RECV_SEND)
            << where();
        if (has_immediate) {
            EXPECT_EQ(result.immediate_data, job.immediate) << where();
        }
        if (!was_write)
            holds(place(end, Region::receives, job.slot), peer, job.met_at, job.moved);
    } else if (job.is_write()) {
        holds(place(peer, Region::target, job.slot), end, job.at, job.length);
    } else if (job.type == DOCA_RDMA_JOB_READ) {
        holds(place(end, Region::results, job.slot), peer, job.at, job.moved);
    } else if (job.is_atomic() && !end.is_broken) {
        std::uint64_t old_value = 0;
        std::memcpy(&old_value, place(end, Region::results, job.slot), sizeof(old_value));
        EXPECT_EQ(old_value, job.old_value) << where();
    }
}

/// False when nothing has ended.
bool RdmaModelTest::retrieve_one(End &end)
{
    doca_rdma_result result = {};
    doca_event event = {};
    event.result.ptr = &result;
    const doca_error_t status = doca_workq_progress_retrieve(end.workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    if (status == DOCA_ERROR_AGAIN)
        return false;
    EXPECT_EQ(status, result.result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED) << where();
    const bool is_receive = event.type == DOCA_RDMA_JOB_RECV;
    std::deque<Request> &jobs = is_receive ? end.receives : end.requests;
    const auto job = std::ranges::find(jobs, event.user_data.u64, &Request::number);
    // A device gives back what it flushes in any order.
    const bool has_order = is_soft(info) || result.result == DOCA_SUCCESS;
    if (job == jobs.end() || (has_order && job != jobs.begin())) {
        ADD_FAILURE() << "job " << event.user_data.u64 << " of type " << event.type << " has ended with "
                      << doca_get_error_name(result.result) << ", and is not the oldest of its kind" << where();
        return true;
    }
    check_end(end, *job, is_receive, event, result);
    jobs.erase(job);
    --end.ctx.in_flight[0];
    ++num_retrieved;
    return true;
}

void RdmaModelTest::retrieve(End &end, bool waits)
{
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    const auto must_come = [&] {
        const auto must_end = [&](const std::deque<Request> &jobs) {
            return !jobs.empty() && (jobs.front().is_cancelled || (jobs.front().is_done && !end.is_broken));
        };
        return must_end(end.requests) || must_end(end.receives);
    };
    while (!retrieve_one(end) && waits && must_come() && !HasFailure()) {
        (void)retrieve_one(peer_of(end)); // one process that waits for itself
        look_for_breaks();
        if (std::chrono::steady_clock::now() > limit) {
            const Request *const oldest = !end.requests.empty() ? &end.requests.front() : &end.receives.front();
            ADD_FAILURE() << "job " << oldest->number << " of type " << oldest->type << " does not end" << where();
        }
        std::this_thread::yield();
    }
}

void RdmaModelTest::step()
{
    End &end = ends[below(num_ends)];
    const std::size_t what = below(16);
    const bool is_young = !end.is_connected() && one_in(2);
    if (end.rdma == nullptr || what < 2 || (is_young && !end.ctx.is_on[0]) || (end.is_broken && one_in(4)))
        do_life(end);
    else if (what == 2 || is_young)
        connect(end);
    else if (what < 7 && has_room(end.receives))
        post_receive(end);
    else if (what < 11 && has_room(end.requests))
        post(end);
    else
        retrieve(end, one_in(3));
    look_for_breaks();
    for (End &one : ends)
        carry_out(one);
    look_for_breaks();
}

/// In the order that always works.
void RdmaModelTest::clean_up()
{
    for (End &end : ends) {
        while (end.ctx.is_on[0] && !HasFailure()) {
            leave_workq(end);
            while (end.num_jobs() != 0 && !HasFailure())
                retrieve(end, true);
        }
        if (end.ctx.is_started) {
            EXPECT_EQ(doca_ctx_stop(doca_rdma_as_ctx(end.rdma)), DOCA_SUCCESS);
        }
        if (end.rdma != nullptr) {
            EXPECT_EQ(doca_rdma_destroy(end.rdma), DOCA_SUCCESS);
        }
        EXPECT_EQ(doca_workq_destroy(end.workq), DOCA_SUCCESS);
        end.imported.reset();
    }
}

TEST_P(RdmaModelTest, CallsAndResultsMatchTheModel)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    tell(num_retrieved);
}
INSTANTIATE_FOR_DEVICES(RdmaModelTest, can_connect);

} // namespace
