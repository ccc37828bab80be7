// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One side: it connects, runs jobs against its peer until the epoch ends well or breaks, checks, and begins
// again.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <doca_log.h>
#include <sched.h>
#include <unistd.h>

#include "control.hpp"
#include "instance.hpp"
#include "jobs.hpp"

namespace soak {

namespace {

enum Stage : std::uint32_t { waiting, preparing, connecting, running, failing, flushing, checking };

double now()
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Descriptors of this process, and mappings of memfds.
struct Holdings {
    std::size_t descriptors = 0;
    std::size_t mappings = 0;

    static Holdings count()
    {
        Holdings holdings;
        for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
            ++holdings.descriptors;
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);)
            holdings.mappings += line.find("/memfd:") != std::string::npos ? 1 : 0;
        return holdings;
    }
};

class Worker {
public:
    Worker(Control &control, int me, std::uint64_t incarnation)
        : control_(control),
          mine_(control.sides[me]),
          peer_(control.sides[1 - me]),
          me_(me),
          random_(mix(control.seed, me, incarnation, 2)),
          jobs_(control, me, incarnation)
    {
    }

    void run()
    {
        for (std::uint32_t epoch = mine_.done.load(std::memory_order_relaxed);;) {
            mine_.stage = waiting;
            const std::uint32_t next = control_.epoch.load(std::memory_order_acquire);
            if (control_.is_ending.load(std::memory_order_acquire))
                break;
            if (next == epoch) {
                pause();
                continue;
            }
            epoch_ = epoch = next;
            run_epoch();
            mine_.done.store(epoch, std::memory_order_release);
        }
        if (instance_ != nullptr)
            destroy();
    }

private:
    static void pause()
    {
        const timespec time = {0, 20000};
        nanosleep(&time, nullptr);
    }

    [[nodiscard]] bool is_now(const std::atomic<std::uint32_t> &statement) const
    {
        // Pairs with the release of whoever makes it true: what it tells of is there.
        return statement.load(std::memory_order_acquire) == epoch_;
    }
    void state(std::atomic<std::uint32_t> &statement) { statement.store(epoch_, std::memory_order_release); }

    [[nodiscard]] bool peer_has_gone() const { return is_now(peer_.dead) || is_now(peer_.broken); }

    /// False when the peer has died.
    [[nodiscard]] bool await_peer(const std::atomic<std::uint32_t> &statement) const
    {
        const double end = now() + control_.patience;
        while (!is_now(statement)) {
            if (is_now(peer_.dead))
                return false;
            expect(now() < end, "the peer does not come along");
            pause();
        }
        return true;
    }

    void run_epoch()
    {
        mine_.stage = preparing;
        prepare();
        state(mine_.ready);
        mine_.stage = connecting;
        bool is_connected = await_peer(peer_.ready);
        is_connected = is_connected && instance_->connect({peer_.details, peer_.details_size},
                                                          {peer_.descriptor, peer_.descriptor_size});
        if (is_connected) {
            if (has_failed_before_)
                mine_.recoveries.fetch_add(1, std::memory_order_relaxed);
            has_failed_before_ = false;
            state(mine_.connected);
            mine_.stage = running;
            exchange();
        } else {
            expect(control_.plan.fault == Fault::kill || is_now(peer_.broken), "no connection, and the peer lives");
            state(mine_.broken);
        }
        mine_.stage = flushing;
        flush();
        instance_->stop();
        state(mine_.over);
        mine_.stage = checking;
        (void)await_peer(peer_.over);
        if (is_now(peer_.ready)) // or else it died before its model was that of this epoch
            jobs_.check_exposed();
        has_failed_before_ = is_now(mine_.broken);
    }

    void prepare()
    {
        const bool is_event_driven = control_.plan.is_event_driven[me_];
        if (instance_ != nullptr && control_.plan.is_rebuilt[me_])
            destroy();
        if (instance_ == nullptr) {
            build(is_event_driven);
        } else if (instance_->is_event_driven() != is_event_driven) {
            instance_->set_event_driven(is_event_driven);
        }
        jobs_.begin(*instance_, epoch_);
        const auto details = instance_->start();
        const auto descriptor = instance_->descriptor();
        expect(descriptor.size() <= sizeof(mine_.descriptor), "a long descriptor");
        std::memcpy(mine_.details, details.data(), mine_.details_size = details.size());
        std::memcpy(mine_.descriptor, descriptor.data(), mine_.descriptor_size = descriptor.size());
        num_submitted_ = 0;
        has_shortened_ = false;
    }

    void build(bool is_event_driven)
    {
        instance_ = std::make_unique<Instance>(control_.devices[me_], is_event_driven, random_.one_in(2),
                                               random_.one_in(2), Jobs::local_size());
    }

    /// Nothing may be left that was not left the first time.
    void destroy()
    {
        instance_->close();
        instance_.reset();
        const Holdings now_held = Holdings::count();
        if (!has_holdings_) {
            holdings_ = now_held;
            has_holdings_ = true;
            return;
        }
        expect(now_held.descriptors <= holdings_.descriptors,
               std::to_string(now_held.descriptors) + " open descriptors, after " +
                   std::to_string(holdings_.descriptors) + " the first time");
        expect(now_held.mappings <= holdings_.mappings, std::to_string(now_held.mappings) +
                                                            " mappings of memfds, after " +
                                                            std::to_string(holdings_.mappings) + " the first time");
        mine_.fd_checks.fetch_add(1, std::memory_order_relaxed);
    }

    /// Runs jobs until both sides are through, or something has failed.
    void exchange()
    {
        const Plan &plan = control_.plan;
        const double end = now() + 2;
        double must_fail_by = 0;
        std::uint32_t idle = 0;
        while (true) {
            const bool goes_on = peer_has_gone() || plan.fault == Fault::kill || plan.fault == Fault::short_receive ||
                                 (plan.fault == Fault::early_stop && me_ == 1);
            const bool is_through = !goes_on && (num_submitted_ >= plan.quota[me_] || now() > end);
            if (!is_through && !submit_some())
                return fail();
            if (is_through && !is_now(mine_.sent_all)) {
                if (plan.fault == Fault::early_stop)
                    return state(mine_.broken); // with jobs in flight
                mine_.num_messages.store(jobs_.num_messages_sent(), std::memory_order_relaxed);
                state(mine_.sent_all);
            }
            // Sometimes none at all, so that messages have to wait.
            if (!post_receives(random_.one_in(4) ? 0 : random_.below(max_receives + 1)))
                return is_now(mine_.quiet) ? void() : fail();

            bool has_retrieved = false;
            for (std::uint64_t most = 1 + random_.below(max_jobs); most > 0; --most) {
                const doca_error_t status = jobs_.retrieve();
                if (status == DOCA_ERROR_AGAIN)
                    break;
                if (status != DOCA_SUCCESS)
                    return is_now(mine_.quiet) ? void() : fail();
                has_retrieved = true;
            }
            if (is_now(mine_.sent_all) && is_now(peer_.sent_all) && jobs_.num_sends() == 0 &&
                jobs_.num_messages_received() == peer_.num_messages.load(std::memory_order_relaxed))
                state(mine_.quiet);
            if (is_now(mine_.quiet) && (is_now(peer_.quiet) || is_now(peer_.over)))
                return;
            if (is_now(peer_.dead)) {
                mine_.stage = failing;
                const double time = now();
                must_fail_by = must_fail_by == 0 ? time + control_.patience / 3 : must_fail_by;
                expect(time < must_fail_by, "the peer is dead, and no job fails");
            }
            idle = has_retrieved ? 0 : idle + 1;
            if (idle > 100 && !rest())
                return is_now(mine_.quiet) ? void() : fail();
        }
    }

    /// False when the instance takes no jobs any more.
    [[nodiscard]] bool submit_some()
    {
        for (std::uint64_t count = random_.below(8); count > 0 && jobs_.has_room_for_send(); --count) {
            if (!jobs_.submit())
                return false;
            ++num_submitted_;
        }
        return true;
    }

    [[nodiscard]] bool post_receives(std::uint64_t wanted)
    {
        while (jobs_.num_receives() < wanted) {
            const bool may_be_short = control_.plan.fault == Fault::short_receive && me_ == 0 && !has_shortened_ &&
                                      jobs_.num_posted() >= control_.plan.quota[0] % 200;
            bool was_short = false;
            if (!jobs_.submit_receive(may_be_short, was_short))
                return false;
            has_shortened_ = has_shortened_ || was_short;
        }
        return true;
    }

    /// Waits for an event, or lets others run. False when a job has failed.
    [[nodiscard]] bool rest()
    {
        if (!instance_->is_event_driven()) {
            sched_yield();
            return true;
        }
        if (!post_receives(max_receives / 2))
            return false;
        mine_.waits.fetch_add(1, std::memory_order_relaxed);
        if (instance_->wait(20))
            return true;
        // The time had come. A job that is there all the same may have come with it: seldom, if wake-ups
        // work.
        const doca_error_t status = jobs_.retrieve();
        if (status != DOCA_ERROR_AGAIN)
            mine_.late_waits.fetch_add(1, std::memory_order_relaxed);
        return status == DOCA_SUCCESS || status == DOCA_ERROR_AGAIN;
    }

    void fail()
    {
        expect(control_.plan.fault != Fault::none, "a job has failed, and there is no reason");
        expect(instance_->state() == DOCA_RDMA_STATE_ERROR, "a job has failed, and the state is not ERROR");
        state(mine_.broken);
    }

    /// Every job that was submitted has to be reported.
    void flush()
    {
        const double end = now() + control_.patience / 3;
        for (doca_error_t status; (status = instance_->remove_workq()) != DOCA_SUCCESS;) {
            expect(status == DOCA_ERROR_NOT_PERMITTED,
                   std::string("doca_ctx_workq_rm gives ") + doca_get_error_name(status));
            expect(now() < end, "jobs are not flushed");
            while (jobs_.retrieve() != DOCA_ERROR_AGAIN) {
            }
        }
        expect(jobs_.num_sends() + jobs_.num_receives() == 0,
               std::to_string(jobs_.num_sends() + jobs_.num_receives()) + " jobs were never reported");
    }

    Control &control_;
    SideControl &mine_;
    SideControl &peer_;
    int me_;
    Random random_;
    Jobs jobs_;
    std::unique_ptr<Instance> instance_;
    std::uint32_t epoch_ = 0;
    std::uint64_t num_submitted_ = 0;
    bool has_shortened_ = false;
    bool has_failed_before_ = false;
    bool has_holdings_ = false;
    Holdings holdings_;
};

} // namespace

int run_worker(Control &control, int side, std::uint64_t incarnation)
{
    try {
        if (!control.keeps_log)
            (void)doca_log_global_level_set(DOCA_LOG_LEVEL_CRIT); // errors are what this is about
        Worker worker(control, side, incarnation);
        worker.run();
        return 0;
    } catch (const std::exception &error) {
        SideControl &mine = control.sides[side];
        std::snprintf(mine.failure, sizeof(mine.failure), "side %d, epoch %u: %s", side,
                      control.epoch.load(std::memory_order_relaxed), error.what());
        mine.has_failed.store(true, std::memory_order_release);
        return 1;
    }
}

} // namespace soak
