// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The parts of the walk through DOCA 3.0; each begins and ends with nothing but an open device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <span>
#include <vector>

#include <sched.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "../scenario.hpp"

namespace attack {

/// Memory that is mapped for a device.
class Map {
public:
    Map(Walk &walk, doca_dev *dev, std::span<std::byte> bytes, std::uint32_t access);

    [[nodiscard]] bool is_made() const noexcept { return is_made_; }
    operator doca_mmap *() const noexcept { return mmap_; }

private:
    Owned<doca_mmap> mmap_;
    bool is_made_ = false;
};

/// Buffers, which are released at the end.
class Inventory {
public:
    Inventory(Walk &walk, std::size_t size);
    Inventory(const Inventory &) = delete;
    Inventory &operator=(const Inventory &) = delete;
    ~Inventory() { release_all(); }

    [[nodiscard]] bool is_made() const noexcept { return is_made_; }
    /// Null when it failed. With all of its bytes as data, or none.
    [[nodiscard]] doca_buf *make(doca_mmap *mmap, std::byte *at, std::size_t len, bool is_full);
    void release_all();

private:
    Walk &walk_;
    Owned<doca_buf_inventory> inventory_;
    std::vector<doca_buf *> bufs_;
    bool is_made_ = false;
};

/// How a task has ended: its user data.
using End = std::optional<doca_error_t>;

/// One that stays for as long as any task of the walk is in flight.
[[nodiscard]] End &new_end();

/// The callback of all tasks: notes the end, and frees the task.
template <typename Task>
void record_end(Task *task, doca_data task_data, doca_data)
{
    auto *const base = reinterpret_cast<doca_task *>(task);
    *static_cast<End *>(task_data.ptr) = doca_task_get_status(base);
    doca_task_free(base);
}

/// A progress engine.
class Engine {
public:
    /// One that sleeps where it finds nothing to do is woken by notifications; else it is polled.
    enum class Idle : std::uint8_t { polls, sleeps };
    explicit Engine(Walk &walk, Idle idle = Idle::polls);

    [[nodiscard]] bool is_made() const noexcept { return is_made_; }
    operator doca_pe *() const noexcept { return pe_; }
    bool progress();
    /// With @p is_armed, it sleeps first. False when it takes too long, which has to be excused.
    template <typename IsDone>
    bool run_until(IsDone is_done, const char *what, bool is_armed = false,
                   std::source_location where = std::source_location::current())
    {
        const Patience patience(walk_);
        bool is_woken = !is_armed || sleep();
        for (unsigned looks = 1; is_woken && !is_done(); ++looks) {
            if (progress())
                continue;
            if (idle_ == Idle::sleeps && arm())
                is_woken = sleep();
            else if (looks % 32 == 0) // sockets are looked at now and then: not a time slice for each look in vain
                sched_yield();
            if (patience.is_over())
                break;
        }
        const bool is_good = is_woken && is_done();
        walk_.expect(is_good, what, where);
        return is_good;
    }
    /// Until the task has ended: how, or TIME_OUT.
    [[nodiscard]] doca_error_t wait_for(const End &end, const char *what, bool is_armed = false);
    /// Of one that sleeps.
    [[nodiscard]] bool arm();
    /// Submits a task, and waits for its end: how it has ended, or was refused.
    [[nodiscard]] doca_error_t run(doca_task *task, End &end);

private:
    /// Until there may be something to do. False when nobody wakes it.
    [[nodiscard]] bool sleep();

    Walk &walk_;
    Owned<doca_pe> pe_;
    Idle idle_;
    doca_notification_handle_t handle_{};
    bool is_made_ = false;
};

/// A context on an engine, which is started, and stopped at the end.
class Running {
public:
    Running(Walk &walk, Engine &engine, doca_ctx *ctx);
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;
    ~Running();

    [[nodiscard]] bool is_started() const noexcept { return is_started_; }
    [[nodiscard]] doca_ctx_states state() const;

private:
    Walk &walk_;
    Engine &engine_;
    doca_ctx *ctx_;
    bool is_started_ = false;
};

/// A DMA context that runs.
class Dma {
public:
    Dma(Walk &walk, Engine &engine, doca_dev *dev);

    [[nodiscard]] bool is_made() const { return running_ && running_->is_started(); }
    [[nodiscard]] doca_ctx *ctx() const { return doca_dma_as_ctx(dma_); }
    /// Null when it failed.
    [[nodiscard]] doca_dma_task_memcpy *make(const doca_buf *src, doca_buf *dst, End &end);
    /// How it has ended, or was refused.
    [[nodiscard]] doca_error_t copy(const doca_buf *src, doca_buf *dst);

private:
    Walk &walk_;
    Engine &engine_;
    Owned<doca_dma> dma_;
    std::optional<Running> running_;
};

void walk_through_local_copies(Walk &walk, doca_dev *dev);
void walk_through_exports(Walk &walk, doca_dev *dev);
void walk_through_hashes(Walk &walk, doca_dev *dev);
void walk_through_compression(Walk &walk, doca_dev *dev);
void walk_through_erasure_coding(Walk &walk, doca_dev *dev);
/// Makes OpenSSL allocate what it keeps until the process ends. Exits if it can't.
void load_openssl();
void walk_through_aes_gcm(Walk &walk, doca_dev *dev);
void walk_through_graphs(Walk &walk, doca_dev *dev);
void walk_through_sync_events(Walk &walk, doca_dev *dev);
/// With @p has_word, the counter is in the program's memory.
void walk_through_ends_of_sync_events(Walk &walk, doca_dev *dev, bool has_word);
void walk_through_rdma(Walk &walk, doca_dev *dev, bool is_event_driven);
void walk_through_addresses(Walk &walk, doca_dev *dev);
void walk_through_comch(Walk &walk, doca_dev *dev);

} // namespace attack
