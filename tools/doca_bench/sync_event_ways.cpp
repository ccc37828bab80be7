// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sync_event_ways.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <vector>

#include <sys/eventfd.h>

#include "../common/doca.hpp"
#include "machine.hpp"
#include "poller.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t longest_export = 256; ///< bytes of an export descriptor
constexpr std::size_t num_events = 4;       ///< two directions, each in both modes

/// Requests to the second process.
enum class EventCommand : std::uint32_t { open, play };

/// A request. The exports are filled for @c open.
struct EventRequest {
    EventCommand command;
    SignalWay way;
    std::uint64_t round_trips;
    char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
    std::size_t blob_sizes[num_events];
    std::uint8_t blobs[num_events][longest_export];
};

/// The answer to a request.
struct Reply {
    char problem[200]; ///< empty on success
};

/// Two words of shared memory, one for each direction.
class LineEnd final : public SignalEnd {
public:
    LineEnd(SignalLine &sent, SignalLine &awaited) : sent_(sent.value), awaited_(awaited.value) {}

    // Release: pairs with the acquire load in await() of the other side.
    void send(std::uint64_t number) override { sent_.store(number, std::memory_order_release); }
    void await(std::uint64_t number) override
    {
        // Acquire: pairs with the release store in send() of the other side.
        while (awaited_.load(std::memory_order_acquire) < number) {
        }
    }

private:
    std::atomic<std::uint64_t> &sent_;
    std::atomic<std::uint64_t> &awaited_;
};

/// Two eventfds, one for each direction. The number of the signal is not transferred: each read consumes one.
class EventfdEnd final : public SignalEnd {
public:
    EventfdEnd(int sent, int awaited) : sent_(sent), awaited_(awaited), poller_(awaited) {}

    void send(std::uint64_t) override
    {
        if (eventfd_write(sent_, 1) != 0)
            fail("eventfd_write");
    }
    void await(std::uint64_t) override
    {
        eventfd_t count = 0;
        poller_.wait();
        if (eventfd_read(awaited_, &count) != 0)
            fail("eventfd_read");
    }

private:
    int sent_;
    int awaited_;
    Poller poller_;
};

/// Two sync events, waited for by the calling thread.
class SyncEventEnd final : public SignalEnd {
public:
    SyncEventEnd(doca_sync_event *sent, doca_sync_event *awaited, bool yields)
        : sent_(sent),
          awaited_(awaited),
          wait_(yields ? doca_sync_event_wait_gt_yield : doca_sync_event_wait_gt)
    {
    }

    void send(std::uint64_t number) override { must(doca_sync_event_update_set(sent_, number), "setting an event"); }
    void await(std::uint64_t number) override { must(wait_(awaited_, number - 1, UINT64_MAX), "waiting for an event"); }

private:
    doca_sync_event *sent_;
    doca_sync_event *awaited_;
    decltype(&doca_sync_event_wait_gt) wait_;
};

/// Two sync events, waited for by a queue or an engine.
class QueueEnd final : public SignalEnd {
public:
    QueueEnd(doca_sync_event *sent, QueuedEvent &awaited) : sent_(sent), awaited_(awaited) {}

    void send(std::uint64_t number) override { must(doca_sync_event_update_set(sent_, number), "setting an event"); }
    void await(std::uint64_t number) override { awaited_.await(number); }

private:
    doca_sync_event *sent_;
    QueuedEvent &awaited_;
};

} // namespace

const char *name_of(SignalWay way)
{
    const char *const names[] = {"cache line", "eventfd + epoll", "wait_gt", "wait_gt_yield", name_of_queued_wait};
    return names[static_cast<std::uint32_t>(way)];
}

SignalEnd::~SignalEnd() = default;

QueuedEvent::~QueuedEvent() = default;

/// All ends of one side and the events that they use. Owned by the process's SignalPair. Ends are destroyed first, then
/// the queue, and the events last.
class SignalPair::Ends {
public:
    /// Creates the events (on the host, which fills @p request with their exports) or imports them from @p request (on
    /// the DPU). Events 0 and 1 are the two directions in synchronous mode, 2 and 3 those of waits in queues; even ones
    /// go from the host to the DPU.
    Ends(bool is_host, const std::string &ibdev, const UniqueFd (&eventfds)[2], SignalLine *lines,
         EventRequest &request)
        : dev_(open_by_name(ibdev))
    {
        for (std::size_t i = 0; i < num_events; ++i)
            add_event(is_host, i, request);
        const int there = is_host ? 0 : 1;
        const int back = 1 - there;
        const auto set = [&](SignalWay way, std::unique_ptr<SignalEnd> end) {
            ends_[static_cast<std::size_t>(way)] = std::move(end);
        };
        set(SignalWay::cache_line, std::make_unique<LineEnd>(lines[there], lines[back]));
        set(SignalWay::eventfd, std::make_unique<EventfdEnd>(eventfds[there].get(), eventfds[back].get()));
        set(SignalWay::busy, std::make_unique<SyncEventEnd>(events_[there], events_[back], false));
        set(SignalWay::yield, std::make_unique<SyncEventEnd>(events_[there], events_[back], true));
        set(SignalWay::epoll, std::make_unique<QueueEnd>(events_[2 + there], *queued_));
    }
    ~Ends()
    {
        for (auto &end : ends_)
            end.reset();
        if (queued_ != nullptr)
            // The event in the queue is stopped by it, and must not be stopped twice.
            queued_->stop();
        for (doca_sync_event *const event : events_) {
            if (event != event_in_queue_)
                (void)doca_sync_event_stop(event);
            (void)doca_sync_event_destroy(event);
        }
    }

    /// Plays @p count round trips. The side with @p is_first sends first.
    void play(SignalWay way, std::uint64_t count, bool is_first)
    {
        SignalEnd &end = *ends_[static_cast<std::size_t>(way)];
        // Both use the same events, and so the same numbers.
        std::uint64_t &number = numbers_[static_cast<std::size_t>(way == SignalWay::yield ? SignalWay::busy : way)];
        for (const std::uint64_t last = number + count; number != last;) {
            ++number;
            if (is_first) {
                end.send(number);
                end.await(number);
            } else {
                end.await(number);
                end.send(number);
            }
        }
    }

private:
    /// Creates or imports an event, and starts it: in a queue if this side waits for it there.
    void add_event(bool is_host, std::size_t number, EventRequest &request)
    {
        const bool comes_back = number % 2 != 0;
        doca_sync_event *event = nullptr;
        if (is_host) {
            must(doca_sync_event_create(&event), "creating an event");
            must(comes_back ? api::publish_remotely(event) : api::publish_locally(event, dev_.get()),
                 "adding a publisher");
            must(comes_back ? api::subscribe_locally(event, dev_.get()) : api::subscribe_remotely(event),
                 "adding a subscriber");
        } else {
            must(doca_sync_event_create_from_export(dev_.get(), request.blobs[number], request.blob_sizes[number],
                                                    &event),
                 "importing an event");
        }
        const bool is_awaited_in_queue = number >= 2 && comes_back == is_host;
        if (is_awaited_in_queue) {
            event_in_queue_ = event;
            queued_ = start_queued(event);
        } else {
            must(doca_sync_event_start(event), "starting an event");
        }
        if (is_host) {
            const std::uint8_t *blob = nullptr;
            must(api::export_event(event, dev_.get(), &blob, &request.blob_sizes[number]), "exporting an event");
            if (request.blob_sizes[number] > longest_export)
                throw std::runtime_error("the export descriptor is too long");
            std::memcpy(request.blobs[number], blob, request.blob_sizes[number]);
        }
        events_[number] = event;
    }

    DeviceHandle dev_;
    std::array<doca_sync_event *, num_events> events_{};
    std::unique_ptr<QueuedEvent> queued_;
    doca_sync_event *event_in_queue_ = nullptr; ///< the element of events_ that queued_ uses
    std::array<std::unique_ptr<SignalEnd>, num_signal_ways> ends_;
    std::array<std::uint64_t, num_signal_ways> numbers_{}; ///< number of the last signal, by way
};

SignalPair::SignalPair(int cpu)
    : eventfds_{UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))},
      process_(cpu, [this](int channel) { serve(channel); })
{
}

SignalPair::~SignalPair() = default;

void SignalPair::serve(int channel)
{
    EventRequest request;
    while (receive_message(channel, request)) {
        Reply reply{};
        try {
            if (request.command == EventCommand::open) {
                ends_ = std::make_unique<Ends>(false, request.ibdev, eventfds_, lines_.get(), request);
            } else {
                send_message(channel, Reply{}); // the first answer: the loop is about to run
                ends_->play(request.way, request.round_trips, false);
            }
        } catch (const std::exception &error) {
            std::snprintf(reply.problem, sizeof(reply.problem), "%s", error.what());
        }
        send_message(channel, reply);
    }
    // The events of this process end before those of the host, which owns them.
    ends_.reset();
}

void SignalPair::open(const std::string &exporter, const std::string &importer)
{
    EventRequest request{};
    request.command = EventCommand::open;
    importer.copy(request.ibdev, sizeof(request.ibdev) - 1);
    ends_ = std::make_unique<Ends>(true, exporter, eventfds_, lines_.get(), request);
    send_message(process_.channel(), request);
    (void)await_reply<Reply>(process_.channel());
}

double SignalPair::measure(SignalWay way, std::uint64_t round_trips)
{
    EventRequest request{};
    request.command = EventCommand::play;
    request.way = way;
    const std::uint64_t warm_up = round_trips / 5 + 1;
    request.round_trips = warm_up + round_trips;
    send_message(process_.channel(), request);
    (void)await_reply<Reply>(process_.channel());
    ends_->play(way, warm_up, true);
    const double start = seconds_now();
    ends_->play(way, round_trips, true);
    const double taken = seconds_now() - start;
    // The second answer: the loop has ended.
    (void)await_reply<Reply>(process_.channel());
    return taken * 1e9 / static_cast<double>(round_trips) / 2;
}

double SignalPair::peer_cpu_seconds() const
{
    clockid_t clock{};
    timespec used{};
    if (clock_getcpuclockid(process_.pid(), &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

} // namespace opendoca::tools
