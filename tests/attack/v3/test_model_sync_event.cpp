// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events of DOCA 3.0 that are contexts, and their tasks, by calls at random: see tasks_model.hpp.
#include <algorithm>
#include <array>
#include <memory>

#include <doca_sync_event.h>

#include "tasks_model.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t num_events = 3, num_slots = 14;
constexpr std::uint32_t num_tasks = 3; ///< of each kind
constexpr std::uint64_t highest = 250; ///< of a counter: what hardware takes

enum class Kind { get, set, add, wait_eq, wait_neq };

struct Event : CtxModel {
    doca_sync_event *event = nullptr;
    bool is_configured = false; ///< knows its tasks
    unsigned publishers = 0, subscribers = 0;
    bool has_counter = false; ///< it was started once
    std::uint64_t value = 0;
};

class SyncEventModelTest;

struct Slot : TaskModel {
    SyncEventModelTest *model = nullptr;
    Event *event = nullptr;
    Kind kind = Kind::get;
    std::uint64_t operand = 0, mask = 0;
    std::uint64_t output = 0, wanted = 0; ///< of those that have one
    bool was_reached = false;             ///< a wait
    bool is_cancelled = false;

    [[nodiscard]] bool is_wait() const { return kind == Kind::wait_eq || kind == Kind::wait_neq; }
    [[nodiscard]] bool is_reached() const
    {
        return ((event->value & mask) == operand) == (kind == Kind::wait_eq);
    }
    [[nodiscard]] bool must_end() const { return is_in_flight && (!is_wait() || is_cancelled || is_reached()); }
};

class SyncEventModelTest : public TasksModel {
protected:
    void SetUp() override
    {
        TasksModel::SetUp();
        for (Slot &slot : slots)
            slot.model = this;
    }

    template <typename Task, bool Succeeded>
    static void task_ended(Task *, doca_data data, doca_data)
    {
        auto &slot = *static_cast<Slot *>(data.ptr);
        slot.model->end(slot, Succeeded);
    }
    void end(Slot &slot, bool has_succeeded);
    void step();
    void create(Event &event);
    void do_event(Event &event);
    void configure(Event &event);
    void stop_event(Event &event);
    void do_slot(Slot &slot);
    void alloc_slot(Slot &slot, Event &event);
    void submit_slot(Slot &slot);
    void note_changes();
    void serve();
    void clean_up();

    std::array<Event, num_events> events;
    std::array<Slot, num_slots> slots;
};

void SyncEventModelTest::end(Slot &slot, bool has_succeeded)
{
    ended(slot, has_succeeded);
    const doca_error_t status = doca_task_get_status(slot.task);
    const bool may = slot.is_wait() ? (has_succeeded && (slot.was_reached || slot.is_reached())) ||
                                          (status == DOCA_ERROR_SHUTDOWN && slot.is_cancelled)
                                    : has_succeeded;
    if (!may)
        complain("a task has ended otherwise than it had to");
    if (has_succeeded && (slot.kind == Kind::get || slot.kind == Kind::add)) {
        EXPECT_EQ(slot.output, slot.wanted) << where();
    }
}

void SyncEventModelTest::create(Event &event)
{
    doca_sync_event *made = nullptr;
    if (!answers("sync_event_create", doca_sync_event_create(&made), DOCA_SUCCESS))
        return;
    event = {};
    event.event = made;
    adopt(event, doca_sync_event_as_ctx(made));
}

void SyncEventModelTest::configure(Event &event)
{
    const doca_error_t may_locate = unless(event.has_counter || !event.is_idle(), DOCA_ERROR_BAD_STATE);
    const doca_error_t may_conf = unless(!event.is_idle(), DOCA_ERROR_NOT_PERMITTED);
    const auto conf = [&]<typename Task>(auto set_conf) {
        (void)answers("set_conf", set_conf(event.event, task_ended<Task, true>, task_ended<Task, false>, num_tasks), may_conf);
    };
    switch (below(4)) {
    case 0:
        if (answers("publisher_cpu", doca_sync_event_add_publisher_location_cpu(event.event, dev), may_locate))
            ++event.publishers;
        break;
    case 1:
        if (answers("subscriber_cpu", doca_sync_event_add_subscriber_location_cpu(event.event, dev), may_locate))
            ++event.subscribers;
        break;
    default:
        conf.operator()<doca_sync_event_task_get>(doca_sync_event_task_get_set_conf);
        conf.operator()<doca_sync_event_task_notify_set>(doca_sync_event_task_notify_set_set_conf);
        conf.operator()<doca_sync_event_task_notify_add>(doca_sync_event_task_notify_add_set_conf);
        conf.operator()<doca_sync_event_task_wait_eq>(doca_sync_event_task_wait_eq_set_conf);
        conf.operator()<doca_sync_event_task_wait_neq>(doca_sync_event_task_wait_neq_set_conf);
        event.is_configured = true;
    }
}

/// Waits are cancelled.
void SyncEventModelTest::stop_event(Event &event)
{
    const bool was_running = event.is_running();
    stop(event);
    for (Slot &slot : slots)
        slot.is_cancelled = slot.is_cancelled || (was_running && slot.is_in_flight && slot.ctx == &event);
}

void SyncEventModelTest::do_event(Event &event)
{
    if (event.event == nullptr)
        return create(event);
    const bool has_locations = event.publishers == 1 && event.subscribers == 1;
    switch (below(8)) {
    case 0:
    case 1:
        if (event.is_configured &&
            start(event, unless(!event.has_counter && !has_locations, DOCA_ERROR_BAD_STATE)))
            event.has_counter = true;
        break;
    case 2:
        if (one_in(4))
            stop_event(event);
        break;
    case 3:
        if (one_in(3) && answers("sync_event_destroy", doca_sync_event_destroy(event.event),
                                 unless(!event.is_idle(), DOCA_ERROR_IN_USE))) {
            event.event = nullptr;
            event.is_configured = false;
        }
        break;
    case 4:
        check_counts(event);
        break;
    case 5: // is a context, and so not synchronous
        (void)answers("sync_event_start", doca_sync_event_start(event.event), DOCA_ERROR_BAD_STATE);
        (void)answers("update_set", doca_sync_event_update_set(event.event, 1), DOCA_ERROR_BAD_STATE);
        break;
    default:
        configure(event);
    }
}

void SyncEventModelTest::alloc_slot(Slot &slot, Event &event)
{
    if (event.event == nullptr || !event.is_configured)
        return;
    const auto kind = static_cast<Kind>(below(5));
    const auto out = static_cast<std::uint32_t>(std::ranges::count_if(
        slots, [&](const Slot &one) { return one.task != nullptr && one.ctx == &event && one.kind == kind; }));
    const doca_error_t wanted = alloc(event, out == num_tasks);
    const std::uint64_t operand = kind == Kind::add ? below(8) : below(highest);
    const std::uint64_t mask = one_in(2) ? ~std::uint64_t{0} : 0xff;
    doca_task *task = nullptr;
    const auto make = [&]<typename Task>(auto alloc_init, auto as_task, auto... arguments) {
        Task *made = nullptr;
        const doca_error_t status = alloc_init(event.event, arguments..., {.ptr = &slot}, &made);
        task = made == nullptr ? nullptr : as_task(made);
        return status;
    };
    doca_error_t status = DOCA_SUCCESS;
    switch (kind) {
    case Kind::get:
        status = make.operator()<doca_sync_event_task_get>(doca_sync_event_task_get_alloc_init, doca_sync_event_task_get_as_doca_task,
                                                           &slot.output);
        break;
    case Kind::set:
        status = make.operator()<doca_sync_event_task_notify_set>(doca_sync_event_task_notify_set_alloc_init,
                                                                  doca_sync_event_task_notify_set_as_doca_task, operand);
        break;
    case Kind::add:
        status = make.operator()<doca_sync_event_task_notify_add>(
            doca_sync_event_task_notify_add_alloc_init, doca_sync_event_task_notify_add_as_doca_task, operand, &slot.output);
        break;
    case Kind::wait_eq:
        status = make.operator()<doca_sync_event_task_wait_eq>(doca_sync_event_task_wait_eq_alloc_init,
                                                               doca_sync_event_task_wait_eq_as_doca_task, operand, mask);
        break;
    case Kind::wait_neq:
        status = make.operator()<doca_sync_event_task_wait_neq>(doca_sync_event_task_wait_neq_alloc_init,
                                                                doca_sync_event_task_wait_neq_as_doca_task, operand, mask);
    }
    if (!answers("alloc_init", status, wanted))
        return;
    allocated(slot, event, task);
    slot.event = &event;
    slot.kind = kind;
    slot.operand = operand;
    slot.mask = mask;
}

void SyncEventModelTest::submit_slot(Slot &slot)
{
    Event &event = *slot.event;
    if (slot.kind == Kind::add && event.value + slot.operand >= highest)
        return;
    slot.output = ~std::uint64_t{0};
    slot.was_reached = slot.is_cancelled = false;
    if (!submit(slot))
        return;
    slot.wanted = event.value;
    if (slot.kind == Kind::set)
        event.value = slot.operand;
    else if (slot.kind == Kind::add)
        event.value += slot.operand;
}

void SyncEventModelTest::do_slot(Slot &slot)
{
    if (slot.task == nullptr)
        return alloc_slot(slot, events[below(num_events)]);
    if (slot.is_in_flight)
        return;
    if (one_in(6) || slot.ctx->state == DOCA_CTX_STATE_STOPPING)
        return free(slot);
    submit_slot(slot);
}

/// Waits that have been reached may have been seen to be, whatever comes next.
void SyncEventModelTest::note_changes()
{
    for (Slot &slot : slots)
        slot.was_reached = slot.was_reached || (slot.is_in_flight && slot.is_wait() && slot.is_reached());
}

void SyncEventModelTest::serve()
{
    const bool must = std::ranges::any_of(slots, &Slot::must_end) || std::ranges::any_of(events, [](const Event &event) {
                          return event.state == DOCA_CTX_STATE_STOPPING && event.allocated == 0;
                      });
    progress(must, std::chrono::seconds(60));
}

void SyncEventModelTest::step()
{
    const std::size_t what = below(12);
    if (what < 3)
        do_event(events[below(num_events)]);
    else if (what < 8)
        do_slot(slots[below(num_slots)]);
    else
        serve();
    note_changes();
}

/// In the order that always works.
void SyncEventModelTest::clean_up()
{
    for (Event &event : events) {
        if (event.event == nullptr)
            continue;
        if (event.is_running())
            stop_event(event);
        while (event.in_flight != 0 && !HasFailure())
            serve();
        for (Slot &slot : slots) {
            if (slot.task != nullptr && slot.ctx == &event)
                free(slot);
        }
        while (!event.is_idle() && !HasFailure())
            serve();
        EXPECT_EQ(doca_sync_event_destroy(event.event), DOCA_SUCCESS);
    }
}

TEST_P(SyncEventModelTest, EachCallAnswersWhatItsStateSays)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    tell(num_ends);
}

std::vector<std::string> counting_devices()
{
    std::vector<std::string> names;
    bool has_soft = false;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        const std::string name = ibdev_of(info);
        if (doca_sync_event_cap_task_get_is_supported(info) == DOCA_SUCCESS && !(is_soft(name) && std::exchange(has_soft, true)))
            names.push_back(name);
    }
    return names;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SyncEventModelTest);
INSTANTIATE_TEST_SUITE_P(device, SyncEventModelTest, testing::ValuesIn(counting_devices()), name_of_device);

} // namespace
