// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events, handles of them that were imported, and work queues, by calls at random: see model.hpp.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "../conformance/support/dma_fixture.hpp"
#include "../conformance/support/sync_event.hpp"
#include "model.hpp"
#include "queued_ctx.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t num_events = 6;
constexpr std::uint32_t depth = 4;
constexpr std::uint64_t highest = 250; ///< of a counter: what hardware takes

struct Counter {
    std::uint64_t value = 0;
    bool is_alive = true; ///< its event was not destroyed
};

struct EventModel : QueuedCtx {
    enum class State { fresh, context, synchronous, asynchronous, stopped };

    doca_sync_event *event = nullptr;
    State state = State::fresh;
    bool is_imported = false;
    unsigned publishers = 0, subscribers = 0;
    std::shared_ptr<Counter> counter; ///< once it was started, or imported
    std::vector<std::uint8_t> blob;   ///< once it was exported

    [[nodiscard]] doca_error_t configure() const
    {
        return is_imported || counter != nullptr || (state != State::fresh && state != State::context)
                   ? DOCA_ERROR_BAD_STATE
                   : DOCA_SUCCESS;
    }
    [[nodiscard]] doca_error_t make_counter() const
    {
        return counter == nullptr && (publishers != 1 || subscribers != 1) ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS;
    }
    /// What an operation comes to.
    [[nodiscard]] doca_error_t operate() const
    {
        return counter->is_alive ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_RESET;
    }
};

struct Job {
    std::uint64_t number = 0;
    std::size_t event = 0;
    int type = 0;
    doca_error_t result = DOCA_SUCCESS; ///< but for waits
    std::unique_ptr<std::uint64_t> output = std::make_unique<std::uint64_t>(~std::uint64_t{0});
    std::optional<std::uint64_t> wanted; ///< as output
    std::shared_ptr<Counter> counter;
    std::uint64_t value = 0, mask = 0; ///< of a wait
    bool was_reached = false, is_cancelled = false;

    [[nodiscard]] bool is_wait() const { return type == DOCA_SYNC_EVENT_JOB_WAIT_GT; }
    [[nodiscard]] bool is_reached() const { return (counter->value & mask) > value; }
    [[nodiscard]] bool must_end() const { return !is_wait() || is_reached() || is_cancelled || !counter->is_alive; }
    [[nodiscard]] bool may_end() const { return must_end() || was_reached; }
    [[nodiscard]] bool may_give(doca_error_t status) const
    {
        if (!is_wait())
            return status == result;
        return (status == DOCA_SUCCESS && (was_reached || is_reached())) ||
               (status == DOCA_ERROR_SHUTDOWN && is_cancelled) ||
               (status == DOCA_ERROR_CONNECTION_RESET && !counter->is_alive);
    }
};

class SyncEventModelTest : public DeviceTest, protected Model<doca_get_error_name> {
protected:
    using State = EventModel::State;

    void SetUp() override
    {
        for (doca_workq *&workq : workqs)
            must(doca_workq_create(depth, &workq));
        for (const DevicePair &pair : device_pairs()) {
            if (pair.exporter.ibdev != GetParam().ibdev || !exports_sync_events(info))
                continue;
            DevHandle opened = open_device(pair.importer);
            if (doca_sync_event_get_create_from_export_supported(doca_dev_as_devinfo(opened)) == DOCA_SUCCESS) {
                importer = std::move(opened);
                break;
            }
        }
    }

    void step();
    void create(std::size_t e);
    void import(EventModel &event);
    void configure(std::size_t e);
    void start_or_stop(EventModel &event);
    void use_ctx(EventModel &event);
    void export_it(EventModel &event);
    void destroy(EventModel &event);
    void operate(EventModel &event);
    void submit(std::size_t e, std::size_t q);
    void cancel(std::size_t e, std::size_t q);
    void retrieve(std::size_t q);
    void note_changes();
    void clean_up();

    /// What the counter comes to with this, and stays below what hardware takes.
    [[nodiscard]] std::uint64_t summand(const Counter &counter) { return below(highest - counter.value); }

    DevHandle importer;
    std::array<EventModel, num_events> events;
    std::array<std::uint64_t, num_events> memory{}; ///< of counters that were given an address
    std::array<doca_workq *, num_workqs> workqs{};
    std::array<std::vector<Job>, num_workqs> jobs;
    std::uint64_t num_jobs = 0, num_ends = 0;
};

void SyncEventModelTest::create(std::size_t e)
{
    EventModel &event = events[e];
    if (importer.get() != nullptr && one_in(2))
        return import(event);
    doca_sync_event *made = nullptr;
    if (!answers("sync_event_create", doca_sync_event_create(&made), DOCA_SUCCESS))
        return;
    event = {};
    event.event = made;
    memory[e] = 0;
}

void SyncEventModelTest::import(EventModel &event)
{
    const EventModel &from = events[below(num_events)];
    if (from.blob.empty())
        return;
    doca_sync_event *made = nullptr;
    const std::vector<std::uint8_t> blob = from.blob;
    const std::shared_ptr<Counter> counter = from.counter;
    if (!answers("create_from_export", doca_sync_event_create_from_export(importer, blob.data(), blob.size(), &made),
                 DOCA_SUCCESS))
        return;
    event = {};
    event.event = made;
    event.is_imported = true;
    event.counter = counter;
}

void SyncEventModelTest::configure(std::size_t e)
{
    EventModel &event = events[e];
    switch (below(4)) {
    case 0:
        if (answers("publisher_cpu", doca_sync_event_publisher_add_location_cpu(event.event, dev), event.configure()))
            ++event.publishers;
        break;
    case 1:
        if (answers("publisher_dpu", doca_sync_event_publisher_add_location_dpu(event.event), event.configure()))
            ++event.publishers;
        break;
    case 2:
        if (answers("subscriber_cpu", doca_sync_event_subscriber_add_location_cpu(event.event, dev), event.configure()))
            ++event.subscribers;
        break;
    default: {
        const bool is_aligned = !one_in(4);
        auto *const address =
            reinterpret_cast<std::uint64_t *>(reinterpret_cast<char *>(&memory[e]) + (is_aligned ? 0 : 4));
        (void)answers("set_addr", doca_sync_event_set_addr(event.event, address),
                      unless(!is_aligned, DOCA_ERROR_INVALID_VALUE, event.configure()));
    }
    }
}

void SyncEventModelTest::start_or_stop(EventModel &event)
{
    if (one_in(4)) {
        if (answers("sync_event_stop", doca_sync_event_stop(event.event),
                    unless(event.state != State::synchronous, DOCA_ERROR_BAD_STATE)))
            event.state = State::stopped;
        return;
    }
    if (!answers("sync_event_start", doca_sync_event_start(event.event),
                 unless(event.state != State::fresh, DOCA_ERROR_BAD_STATE, event.make_counter())))
        return;
    event.state = State::synchronous;
    if (event.counter == nullptr)
        event.counter = std::make_shared<Counter>();
}

void SyncEventModelTest::use_ctx(EventModel &event)
{
    doca_ctx *const ctx = doca_sync_event_as_ctx(event.event);
    if ((ctx == nullptr) != (event.state == State::synchronous))
        complain("what is synchronous is no context, and all else is one");
    if (ctx == nullptr)
        return;
    if (event.state == State::fresh)
        event.state = State::context;
    const std::size_t q = below(num_workqs);
    switch (below(5)) {
    case 0:
    case 1:
        if (answers("ctx_start", doca_ctx_start(ctx),
                    unless(event.state != State::context, DOCA_ERROR_BAD_STATE, event.make_counter()))) {
            event.state = State::asynchronous;
            event.is_started = true;
            if (event.counter == nullptr)
                event.counter = std::make_shared<Counter>();
        }
        break;
    case 2:
        if (one_in(4) && answers("ctx_stop", doca_ctx_stop(ctx), event.stop())) {
            event.state = State::stopped;
            event.is_started = false;
        }
        break;
    case 3:
        if (one_in(3))
            return cancel(static_cast<std::size_t>(&event - events.data()), q);
        [[fallthrough]];
    default:
        if (answers("ctx_workq_add", doca_ctx_workq_add(ctx, workqs[q]), event.workq_add(q)))
            event.is_on[q] = true;
    }
}

/// Takes a context off its work queue, which cancels the waits that keep it there.
void SyncEventModelTest::cancel(std::size_t e, std::size_t q)
{
    EventModel &event = events[e];
    const doca_error_t wanted = event.workq_rm(q);
    if (answers("ctx_workq_rm", doca_ctx_workq_rm(doca_sync_event_as_ctx(event.event), workqs[q]), wanted))
        event.is_on[q] = false;
    for (Job &job : jobs[q])
        job.is_cancelled = job.is_cancelled || (job.event == e && wanted == DOCA_ERROR_NOT_PERMITTED);
}

void SyncEventModelTest::export_it(EventModel &event)
{
    const std::uint8_t *data = nullptr;
    std::size_t size = 0;
    const bool is_started = event.state == State::synchronous || event.state == State::asynchronous;
    if (answers("export_to_dpu", doca_sync_event_export_to_dpu(event.event, dev, &data, &size),
                unless(event.is_imported || !is_started, DOCA_ERROR_BAD_STATE,
                       unless(!exports_sync_events(info), DOCA_ERROR_NOT_SUPPORTED))))
        event.blob.assign(data, data + size);
}

void SyncEventModelTest::destroy(EventModel &event)
{
    const bool is_started = event.state == State::synchronous || event.state == State::asynchronous;
    if (!answers("sync_event_destroy", doca_sync_event_destroy(event.event), unless(is_started, DOCA_ERROR_BAD_STATE)))
        return;
    if (!event.is_imported && event.counter != nullptr)
        event.counter->is_alive = false;
    event = {};
}

/// In synchronous mode.
void SyncEventModelTest::operate(EventModel &event)
{
    if (event.state != State::synchronous) {
        std::uint64_t value = 0;
        (void)answers("sync_event_get", doca_sync_event_get(event.event, &value), DOCA_ERROR_BAD_STATE);
        return;
    }
    Counter &counter = *event.counter;
    std::uint64_t value = ~std::uint64_t{0};
    switch (below(4)) {
    case 0:
        if (answers("sync_event_get", doca_sync_event_get(event.event, &value), event.operate())) {
            EXPECT_EQ(value, counter.value) << where();
        }
        break;
    case 1:
        value = below(highest);
        if (answers("update_set", doca_sync_event_update_set(event.event, value), event.operate()))
            counter.value = value;
        break;
    case 2: {
        const std::uint64_t more = summand(counter);
        if (answers("update_add", doca_sync_event_update_add(event.event, more, &value), event.operate())) {
            EXPECT_EQ(value, counter.value) << where();
            counter.value += more;
        }
        break;
    }
    default:
        if (counter.value == 0 && counter.is_alive)
            return;                                                // it would wait for ever
        value = counter.is_alive ? below(counter.value) : highest; // of the dead, what was reached may count
        (void)answers("wait_gt",
                      one_in(2) ? doca_sync_event_wait_gt(event.event, value, all_bits)
                                : doca_sync_event_wait_gt_yield(event.event, value, all_bits),
                      event.operate());
    }
}

void SyncEventModelTest::submit(std::size_t e, std::size_t q)
{
    EventModel &event = events[e];
    if (event.state == State::synchronous)
        return;
    doca_ctx *const ctx = doca_sync_event_as_ctx(event.event);
    if (event.state == State::fresh)
        event.state = State::context;
    Job job;
    job.number = ++num_jobs;
    job.event = e;
    job.type = static_cast<int>(DOCA_SYNC_EVENT_JOB_WAIT_GT + below(4));
    job.counter = event.counter;
    const doca_error_t wanted =
        unless(event.submit(q) != DOCA_SUCCESS, event.submit(q), unless(jobs[q].size() == depth, DOCA_ERROR_NO_MEMORY));
    const doca_job base = {
        .type = job.type, .flags = DOCA_JOB_FLAGS_NONE, .ctx = ctx, .user_data = {.u64 = job.number}};
    if (event.counter != nullptr)
        job.result = event.operate();
    const bool works = wanted == DOCA_SUCCESS && job.result == DOCA_SUCCESS;
    Counter none;
    Counter &counter = event.counter == nullptr ? none : *event.counter;
    doca_error_t status = DOCA_SUCCESS;
    switch (job.type) {
    case DOCA_SYNC_EVENT_JOB_WAIT_GT: {
        job.value = below(highest);
        job.mask = one_in(2) ? all_bits : 0xff;
        const doca_sync_event_job_wait wait = {base, job.value, job.mask};
        status = doca_workq_submit(workqs[q], &wait.base);
        break;
    }
    case DOCA_SYNC_EVENT_JOB_GET: {
        const doca_sync_event_job_get get = {base, job.output.get()};
        status = doca_workq_submit(workqs[q], &get.base);
        if (works)
            job.wanted = counter.value;
        break;
    }
    case DOCA_SYNC_EVENT_JOB_UPDATE_SET: {
        const doca_sync_event_job_update_set set = {base, below(highest)};
        status = doca_workq_submit(workqs[q], &set.base);
        if (works)
            counter.value = set.value;
        break;
    }
    default: {
        const doca_sync_event_job_update_add add = {base, summand(counter), job.output.get()};
        status = doca_workq_submit(workqs[q], &add.base);
        if (works) {
            job.wanted = counter.value;
            counter.value += add.value;
        }
    }
    }
    if (!answers("workq_submit", status, wanted))
        return;
    ++event.in_flight[q];
    jobs[q].push_back(std::move(job));
}

/// Waits that have been reached may have been seen to be, whatever comes next.
void SyncEventModelTest::note_changes()
{
    for (auto &of_one : jobs) {
        for (Job &job : of_one)
            job.was_reached = job.was_reached || (job.is_wait() && job.is_reached());
    }
}

void SyncEventModelTest::retrieve(std::size_t q)
{
    doca_event event = {};
    const bool must_come = std::ranges::any_of(jobs[q], &Job::must_end);
    const bool may_come = std::ranges::any_of(jobs[q], &Job::may_end);
    const doca_error_t status =
        must_come ? wait_for(workqs[q], event) : doca_workq_progress_retrieve(workqs[q], &event, 0);
    if (status == DOCA_ERROR_AGAIN)
        return;
    const auto job = std::ranges::find(jobs[q], event.user_data.u64, &Job::number);
    const auto result = static_cast<doca_error_t>(event.result.u64);
    if (!may_come || job == jobs[q].end() || !job->may_end() || !job->may_give(result) || event.type != job->type) {
        ADD_FAILURE() << "job " << event.user_data.u64 << " has ended with " << doca_get_error_name(result) << where();
        return;
    }
    EXPECT_EQ(status, result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED) << where();
    if (job->wanted) {
        EXPECT_EQ(*job->output, *job->wanted) << where();
    }
    ++num_ends;
    --events[job->event].in_flight[q];
    jobs[q].erase(job);
}

void SyncEventModelTest::step()
{
    const std::size_t e = below(num_events);
    EventModel &event = events[e];
    const std::size_t what = below(16);
    if (what >= 12)
        return retrieve(below(num_workqs));
    if (event.event == nullptr)
        return create(e);
    if (what < 3)
        submit(e, below(num_workqs));
    else if (what < 5)
        operate(event);
    else if (what < 7)
        configure(e);
    else if (what < 10)
        use_ctx(event);
    else if (what == 10)
        one_in(2) ? start_or_stop(event) : export_it(event);
    else if (one_in(3))
        destroy(event);
}

/// In the order that always works.
void SyncEventModelTest::clean_up()
{
    for (std::size_t e = 0; e != num_events; ++e) {
        for (std::size_t q = 0; q != num_workqs; ++q) {
            if (!events[e].is_on[q])
                continue;
            cancel(e, q);
            while (events[e].in_flight[q] != 0 && !HasFailure())
                retrieve(q);
            if (events[e].is_on[q])
                cancel(e, q);
        }
        if (events[e].event == nullptr)
            continue;
        if (events[e].state == State::synchronous) {
            EXPECT_EQ(doca_sync_event_stop(events[e].event), DOCA_SUCCESS);
        } else if (events[e].is_started) {
            EXPECT_EQ(doca_ctx_stop(doca_sync_event_as_ctx(events[e].event)), DOCA_SUCCESS);
        }
        EXPECT_EQ(doca_sync_event_destroy(events[e].event), DOCA_SUCCESS);
        if (!events[e].is_imported && events[e].counter != nullptr)
            events[e].counter->is_alive = false;
    }
    for (doca_workq *const workq : workqs) {
        EXPECT_EQ(doca_workq_destroy(workq), DOCA_SUCCESS);
    }
}

TEST_P(SyncEventModelTest, CallsAndResultsMatchTheModel)
{
    run([&] {
        step();
        note_changes();
    });
    if (!HasFailure())
        clean_up();
    tell(num_ends);
}
INSTANTIATE_FOR_DEVICES(SyncEventModelTest, has_sync_events);

} // namespace
