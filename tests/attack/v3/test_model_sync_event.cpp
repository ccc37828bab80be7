// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sync events of DOCA 3.0, synchronous or with tasks, and handles of them that a second device has imported, by calls
// at random: see tasks_model.hpp. Whoever has a handle sees the same counter; when its event is destroyed, all its
// handles have lost it.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doca_sync_event.h>

#include "tasks_model.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t num_events = 6, num_slots = 20;
constexpr std::uint32_t num_tasks = 3; ///< of each kind
constexpr std::uint64_t highest = 250; ///< of a counter: what hardware takes

enum class Kind { get, set, add, wait_eq, wait_neq };

struct Counter {
    std::uint64_t value = 0;
    bool is_alive = true; ///< its event was not destroyed
};

struct Event : CtxModel {
    enum class Mode { fresh, context, synchronous, synchronous_stopped };

    doca_sync_event *event = nullptr;
    Mode mode = Mode::fresh;
    bool is_imported = false;
    bool is_configured = false; ///< knows its tasks
    unsigned publishers = 0, subscribers = 0;
    std::shared_ptr<Counter> counter; ///< once it was started, or imported
    std::vector<std::uint8_t> blob;   ///< once it was exported

    /// What an operation comes to.
    [[nodiscard]] doca_error_t operate() const
    {
        return counter->is_alive ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_RESET;
    }
    /// The first start makes the counter.
    [[nodiscard]] doca_error_t make_counter() const
    {
        return counter == nullptr && (publishers != 1 || subscribers != 1) ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS;
    }
};

class SyncEventModelTest;

struct Slot : TaskModel {
    SyncEventModelTest *model = nullptr;
    Event *event = nullptr;
    Kind kind = Kind::get;
    std::uint64_t operand = 0, mask = 0;
    std::uint64_t output = 0, wanted = 0; ///< of those that have one
    doca_error_t result = DOCA_SUCCESS;   ///< but for waits
    std::shared_ptr<Counter> counter;
    bool was_reached = false; ///< a wait
    bool is_cancelled = false;

    [[nodiscard]] bool is_wait() const { return kind == Kind::wait_eq || kind == Kind::wait_neq; }
    [[nodiscard]] bool is_reached() const { return ((counter->value & mask) == operand) == (kind == Kind::wait_eq); }
    [[nodiscard]] bool must_end() const
    {
        return is_in_flight && (!is_wait() || is_cancelled || !counter->is_alive || is_reached());
    }
    [[nodiscard]] bool may_give(doca_error_t status) const
    {
        if (!is_wait())
            return status == result;
        return (status == DOCA_SUCCESS && (was_reached || is_reached())) ||
               (status == DOCA_ERROR_SHUTDOWN && is_cancelled) ||
               (status == DOCA_ERROR_CONNECTION_RESET && !counter->is_alive);
    }
};

class SyncEventModelTest : public TasksModel {
protected:
    void SetUp() override
    {
        TasksModel::SetUp();
        for (Slot &slot : slots)
            slot.model = this;
        doca_devinfo *const info = doca_dev_as_devinfo(dev);
        can_export = doca_sync_event_cap_is_export_to_remote_pci_supported(info) == DOCA_SUCCESS;
        const DevinfoList list;
        for (doca_devinfo *other : list) {
            if (can_export && importer == nullptr && reaches(other))
                must(doca_dev_open(other, importer.out()));
        }
    }

    template <typename Task, bool Succeeded>
    static void task_ended(Task *, doca_data data, doca_data)
    {
        auto &slot = *static_cast<Slot *>(data.ptr);
        slot.model->end(slot, Succeeded);
    }
    [[nodiscard]] bool reaches(doca_devinfo *other);
    void end(Slot &slot, bool has_succeeded);
    void step();
    void create(Event &event);
    [[nodiscard]] bool import(Event &event);
    void export_it(Event &event);
    void destroy(Event &event);
    void start_or_stop(Event &event);
    void operate(Event &event);
    void wait_for(Event &event);
    void do_event(Event &event);
    void configure(Event &event);
    void stop_event(Event &event);
    void do_slot(Slot &slot);
    void alloc_slot(Slot &slot, Event &event);
    void submit_slot(Slot &slot);
    void note_changes();
    void serve();
    void clean_up();

    DevHandle importer; ///< on the other side of the PCIe, or null
    bool can_export = false;
    std::uint64_t num_imports = 0;
    std::array<Event, num_events> events;
    std::array<Slot, num_slots> slots;
};

/// Whether @p other imports what this device exports, which a first event shows.
bool SyncEventModelTest::reaches(doca_devinfo *other)
{
    if (doca_sync_event_cap_is_create_from_export_supported(other) != DOCA_SUCCESS)
        return false;
    DevHandle opened;
    doca_sync_event *event = nullptr, *handle = nullptr;
    const std::uint8_t *data = nullptr;
    std::size_t size = 0;
    must(doca_dev_open(other, opened.out()));
    must(doca_sync_event_create(&event));
    must(doca_sync_event_add_publisher_location_cpu(event, dev));
    must(doca_sync_event_add_subscriber_location_remote_pci(event));
    must(doca_sync_event_start(event));
    must(doca_sync_event_export_to_remote_pci(event, dev, &data, &size));
    const bool does = doca_sync_event_create_from_export(opened, data, size, &handle) == DOCA_SUCCESS;
    if (does)
        must(doca_sync_event_destroy(handle));
    must(doca_sync_event_stop(event));
    must(doca_sync_event_destroy(event));
    return does;
}

void SyncEventModelTest::end(Slot &slot, bool has_succeeded)
{
    ended(slot, has_succeeded);
    const doca_error_t status = doca_task_get_status(slot.task);
    if (!slot.may_give(status))
        ADD_FAILURE() << "a task of kind " << static_cast<int>(slot.kind) << " has ended with "
                      << doca_error_get_name(status) << where();
    if (has_succeeded && (slot.kind == Kind::get || slot.kind == Kind::add)) {
        EXPECT_EQ(slot.output, slot.wanted) << where();
    }
}

void SyncEventModelTest::create(Event &event)
{
    if (importer != nullptr && one_in(2) && import(event))
        return;
    doca_sync_event *made = nullptr;
    if (!answers("sync_event_create", doca_sync_event_create(&made), DOCA_SUCCESS))
        return;
    event = {};
    event.event = made;
    for (int i = one_in(3) ? 0 : 8; i != 0; --i) // often as a program does it, else it seldom gets far
        configure(event);
}

/// False when there is nothing to import.
bool SyncEventModelTest::import(Event &event)
{
    const auto exported = std::ranges::find_if(events, [](const Event &one) { return !one.blob.empty(); });
    if (exported == events.end())
        return false;
    Event &other = events[below(num_events)];
    const Event &from = other.blob.empty() ? *exported : other;
    doca_sync_event *made = nullptr;
    Event fresh;
    fresh.is_imported = true;
    fresh.counter = from.counter;
    if (!answers("create_from_export",
                 doca_sync_event_create_from_export(importer, from.blob.data(), from.blob.size(), &made), DOCA_SUCCESS))
        return false;
    ++num_imports;
    event = std::move(fresh);
    event.event = made;
    return true;
}

void SyncEventModelTest::export_it(Event &event)
{
    const std::uint8_t *data = nullptr;
    std::size_t size = 0;
    const bool is_started =
        event.mode == Event::Mode::synchronous || (event.mode == Event::Mode::context && !event.is_idle());
    if (answers("export_to_remote_pci", doca_sync_event_export_to_remote_pci(event.event, dev, &data, &size),
                unless(event.is_imported || !is_started, DOCA_ERROR_BAD_STATE,
                       unless(!can_export, DOCA_ERROR_NOT_SUPPORTED))))
        event.blob.assign(data, data + size);
}

void SyncEventModelTest::destroy(Event &event)
{
    if (!answers("sync_event_destroy", doca_sync_event_destroy(event.event),
                 unless(event.mode == Event::Mode::context && !event.is_idle(), DOCA_ERROR_IN_USE,
                        unless(event.mode == Event::Mode::synchronous, DOCA_ERROR_BAD_STATE))))
        return;
    if (!event.is_imported && event.counter != nullptr)
        event.counter->is_alive = false;
    event = {};
}

void SyncEventModelTest::start_or_stop(Event &event)
{
    if (one_in(2)) {
        if (answers("sync_event_stop", doca_sync_event_stop(event.event),
                    unless(event.mode != Event::Mode::synchronous, DOCA_ERROR_BAD_STATE)))
            event.mode = Event::Mode::synchronous_stopped;
        return;
    }
    if (!answers("sync_event_start", doca_sync_event_start(event.event),
                 unless(event.mode != Event::Mode::fresh && event.mode != Event::Mode::synchronous_stopped,
                        DOCA_ERROR_BAD_STATE, event.make_counter())))
        return;
    event.mode = Event::Mode::synchronous;
    if (event.counter == nullptr)
        event.counter = std::make_shared<Counter>();
}

/// In synchronous mode.
void SyncEventModelTest::operate(Event &event)
{
    std::uint64_t value = ~std::uint64_t{0};
    if (event.mode != Event::Mode::synchronous) {
        (void)answers("sync_event_get", doca_sync_event_get(event.event, &value), DOCA_ERROR_BAD_STATE);
        (void)answers("update_set", doca_sync_event_update_set(event.event, 1), DOCA_ERROR_BAD_STATE);
        return;
    }
    Counter &counter = *event.counter;
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
        const std::uint64_t more = below(highest - counter.value);
        if (answers("update_add", doca_sync_event_update_add(event.event, more, &value), event.operate())) {
            EXPECT_EQ(value, counter.value) << where();
            counter.value += more;
        }
        break;
    }
    default:
        wait_for(event);
    }
}

/// What is there already, as nobody else would make it so. Of the dead, what is not: what was reached may count.
void SyncEventModelTest::wait_for(Event &event)
{
    const Counter &counter = *event.counter;
    const bool yields = one_in(2);
    constexpr std::uint64_t all = ~std::uint64_t{0};
    const std::uint64_t other = counter.value == 0 ? highest : counter.value - 1;
    switch (below(3)) {
    case 0:
        if (counter.value == 0 && counter.is_alive)
            return;
        (void)answers("wait_gt",
                      (yields ? doca_sync_event_wait_gt_yield
                              : doca_sync_event_wait_gt)(event.event, counter.is_alive ? other : highest, all),
                      event.operate());
        break;
    case 1:
        (void)answers("wait_eq",
                      (yields ? doca_sync_event_wait_eq_yield
                              : doca_sync_event_wait_eq)(event.event, counter.is_alive ? counter.value : other, all),
                      event.operate());
        break;
    default:
        (void)answers("wait_neq",
                      (yields ? doca_sync_event_wait_neq_yield
                              : doca_sync_event_wait_neq)(event.event, counter.is_alive ? other : counter.value, all),
                      event.operate());
    }
}

void SyncEventModelTest::configure(Event &event)
{
    const doca_error_t may_locate =
        unless(event.counter != nullptr || (event.mode != Event::Mode::fresh && event.mode != Event::Mode::context) ||
                   !event.is_idle(),
               DOCA_ERROR_BAD_STATE);
    const doca_error_t may_conf = unless(!event.is_idle(), DOCA_ERROR_NOT_PERMITTED);
    const auto conf = [&]<typename Task>(auto set_conf) {
        (void)answers("set_conf", set_conf(event.event, task_ended<Task, true>, task_ended<Task, false>, num_tasks),
                      may_conf);
    };
    // One location a side, mostly.
    switch (event.publishers + event.subscribers >= 2 && !one_in(16) ? 3 : below(6)) {
    case 0:
        if (event.publishers != 0 && !one_in(16))
            break;
        if (answers("publisher_remote_pci", doca_sync_event_add_publisher_location_remote_pci(event.event), may_locate))
            ++event.publishers;
        break;
    case 1:
        if (event.publishers != 0 && !one_in(16))
            break;
        if (answers("publisher_cpu", doca_sync_event_add_publisher_location_cpu(event.event, dev), may_locate))
            ++event.publishers;
        break;
    case 2:
        if (event.subscribers != 0 && !one_in(16))
            break;
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
    switch (below(12)) {
    case 0:
    case 1:
    case 2:
        if (event.ctx == nullptr) {
            doca_ctx *const ctx = doca_sync_event_as_ctx(event.event);
            if ((ctx == nullptr) !=
                (event.mode == Event::Mode::synchronous || event.mode == Event::Mode::synchronous_stopped))
                complain("what is synchronous is no context, and all else is one");
            if (event.mode == Event::Mode::fresh) {
                event.mode = Event::Mode::context;
                adopt(event, ctx);
            }
        } else if (event.is_configured && start(event, event.make_counter()) && event.counter == nullptr) {
            event.counter = std::make_shared<Counter>();
        }
        break;
    case 3:
        if (event.ctx != nullptr)
            stop_event(event);
        break;
    case 4:
        destroy(event);
        break;
    case 5:
        if (event.ctx != nullptr)
            check_counts(event);
        break;
    case 6:
        start_or_stop(event);
        break;
    case 7:
    case 8:
        operate(event);
        break;
    case 9:
        export_it(event);
        break;
    default:
        configure(event);
    }
}

void SyncEventModelTest::alloc_slot(Slot &slot, Event &event)
{
    if (event.event == nullptr || event.ctx == nullptr || !event.is_configured)
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
        status = make.operator()<doca_sync_event_task_get>(doca_sync_event_task_get_alloc_init,
                                                           doca_sync_event_task_get_as_doca_task, &slot.output);
        break;
    case Kind::set:
        status = make.operator()<doca_sync_event_task_notify_set>(
            doca_sync_event_task_notify_set_alloc_init, doca_sync_event_task_notify_set_as_doca_task, operand);
        break;
    case Kind::add:
        status = make.operator()<doca_sync_event_task_notify_add>(doca_sync_event_task_notify_add_alloc_init,
                                                                  doca_sync_event_task_notify_add_as_doca_task, operand,
                                                                  &slot.output);
        break;
    case Kind::wait_eq:
        status = make.operator()<doca_sync_event_task_wait_eq>(
            doca_sync_event_task_wait_eq_alloc_init, doca_sync_event_task_wait_eq_as_doca_task, operand, mask);
        break;
    case Kind::wait_neq:
        status = make.operator()<doca_sync_event_task_wait_neq>(
            doca_sync_event_task_wait_neq_alloc_init, doca_sync_event_task_wait_neq_as_doca_task, operand, mask);
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
    if (slot.kind == Kind::add && event.counter->value + slot.operand >= highest)
        return;
    slot.output = ~std::uint64_t{0};
    slot.was_reached = slot.is_cancelled = false;
    slot.counter = event.counter;
    if (!submit(slot))
        return;
    slot.result = event.operate();
    slot.wanted = event.counter->value;
    if (slot.result != DOCA_SUCCESS)
        return;
    if (slot.kind == Kind::set)
        event.counter->value = slot.operand;
    else if (slot.kind == Kind::add)
        event.counter->value += slot.operand;
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
    const bool must =
        std::ranges::any_of(slots, &Slot::must_end) || std::ranges::any_of(events, [](const Event &event) {
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
        if (event.mode == Event::Mode::synchronous) {
            EXPECT_EQ(doca_sync_event_stop(event.event), DOCA_SUCCESS);
        }
        if (event.ctx != nullptr && event.is_running())
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
        if (!event.is_imported && event.counter != nullptr)
            event.counter->is_alive = false;
    }
}

TEST_P(SyncEventModelTest, CallsAndResultsMatchTheModel)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    tell(num_ends);
    std::printf("%llu handles were imported\n", static_cast<unsigned long long>(num_imports));
}

/// Of the software devices that share events, the first of each side of the PCIe.
std::vector<std::string> counting_devices()
{
    std::vector<std::string> names;
    std::array<bool, 2> has_soft{};
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        const std::string name = ibdev_of(info);
        const bool imports = doca_sync_event_cap_is_create_from_export_supported(info) == DOCA_SUCCESS;
        const bool exports = doca_sync_event_cap_is_export_to_remote_pci_supported(info) == DOCA_SUCCESS;
        if (doca_sync_event_cap_task_get_is_supported(info) == DOCA_SUCCESS &&
            !(is_soft(name) && ((!imports && !exports) || std::exchange(has_soft[name.starts_with("soft_pf")], true))))
            names.push_back(name);
    }
    return names;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SyncEventModelTest);
INSTANTIATE_TEST_SUITE_P(device, SyncEventModelTest, testing::ValuesIn(counting_devices()), name_of_device);

} // namespace
