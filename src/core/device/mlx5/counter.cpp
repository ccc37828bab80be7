// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "counter.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <sched.h>

#include "../../log/log.hpp"
#include "../descriptor.hpp"
#include "../host/ticker.hpp"
#include "../pending_waits.hpp"
#include "device.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MLX5_COUNTER);

namespace opendoca::mlx5 {

namespace {

/// Asynchronous waits for a counter on the other side of the PCIe. The counter is read repeatedly, one RDMA read at a
/// time, since its changes raise no event. While the completion queue is armed, a ticker wakes it to poll. Owned by the
/// context that waits, and used by the thread of the completion queue.
class RemoteWaits final : public CounterWaits {
public:
    RemoteWaits(RemoteCounter &counter, CompletionQueue &completions)
        : counter_(counter),
          completions_(completions),
          pending_(completions)
    {
    }
    ~RemoteWaits() override
    {
        if (!is_polled_)
            return;
        completions_.stop_polling(*this);
        completions_.unreserve_polled();
    }
    [[nodiscard]] doca_error_t open(const Mlx5Device &device)
    {
        doca_error_t status = queue_pair_.open(device);
        if (status == DOCA_SUCCESS && completions_.is_event_driven())
            status = ticker_.open(completions_);
        if (status != DOCA_SUCCESS)
            return status;
        // Last, since nothing can fail afterwards. Until then the destructor must not deregister.
        completions_.reserve_polled();
        completions_.start_polling(*this);
        is_polled_ = true;
        return DOCA_SUCCESS;
    }

    [[nodiscard]] doca_error_t wait(Tag tag, const WaitCondition &condition) noexcept override
    {
        if (completions_.is_full())
            return DOCA_ERROR_NO_MEMORY; // not logged: a full queue is normal, programs retrieve completions and retry
        pending_.add(tag, *this, condition);
        // A read that is in flight may have sampled the counter before this wait: its result must not end the wait.
        is_read_stale_ = queue_pair_.is_busy();
        if (completions_.is_armed())
            ticker_.start();
        return DOCA_SUCCESS;
    }
    void progress() noexcept override
    {
        if (pending_.is_empty())
            return;
        doca_error_t status = DOCA_SUCCESS;
        if (queue_pair_.is_busy()) {
            if (!queue_pair_.has_completed(status))
                return;
            // A failed read ends all waits, since a later one would fail as well. A stale value is discarded.
            status = counter_.checked(status);
            if (status == DOCA_SUCCESS && !std::exchange(is_read_stale_, false))
                pending_.complete_met(queue_pair_.result());
        }
        if (status == DOCA_SUCCESS && !pending_.is_empty())
            status = queue_pair_.post_read(counter_.word());
        if (status != DOCA_SUCCESS)
            pending_.complete_all(status);
    }
    /// Starts the ticker if there is a wait. Never makes the program poll at once, since the ticker does that.
    [[nodiscard]] bool arm() noexcept override
    {
        if (!pending_.is_empty())
            ticker_.start();
        return false;
    }
    void disarm() noexcept override { ticker_.stop(); }
    void flush() noexcept override { pending_.complete_all(DOCA_ERROR_SHUTDOWN); }

private:
    RemoteCounter &counter_;
    CompletionQueue &completions_;
    PendingWaits pending_;
    bool is_polled_ = false;
    bool is_read_stale_ = false; ///< the read in flight began before the last wait was submitted
    Ticker ticker_;              ///< open in event-driven mode
    WordQueuePair queue_pair_;   ///< separate from the handle's, which another thread may be using
};

} // namespace

doca_error_t SharedCounter::create(const CounterSetup &setup, std::unique_ptr<Counter> &counter)
{
    // The setup's has_remote_publisher is ignored: this side cannot determine the state of processes across the PCIe.
    std::unique_ptr<Counter> local;
    const doca_error_t status = create_local_counter({.word = setup.word}, local);
    if (status == DOCA_SUCCESS)
        counter = std::make_unique<SharedCounter>(std::move(local));
    return status;
}

doca_error_t SharedCounter::set(std::uint64_t value) noexcept
{
    // The lock excludes CPU updates while export_to_dpu() switches to updates by the device.
    const std::lock_guard guard(lock_);
    return queue_pair_ != nullptr ? queue_pair_->write(word_, value) : local_->set(value);
}

doca_error_t SharedCounter::add(std::uint64_t value, std::uint64_t &fetched) noexcept
{
    const std::lock_guard guard(lock_);
    return queue_pair_ != nullptr ? queue_pair_->add(word_, value, fetched) : local_->add(value, fetched);
}

/// Registers the counter with the device and shares its key. The first export also creates the queue pair by which this
/// process updates the counter from then on: RDMA atomics are not atomic with respect to those of the CPU.
doca_error_t SharedCounter::export_to_dpu(Device &base, std::vector<std::byte> &descriptor)
{
    // All exports must be by one card: atomics of two cards would not be atomic with respect to each other.
    const auto *const device = dynamic_cast<const Mlx5Device *>(&base);
    const std::lock_guard guard(lock_);
    if (device == nullptr || (!exports_.empty() && device->mlx5_function().card_guid() != card_guid_)) {
        LOG_ERR("device %s cannot export this sync event: it was created for, or exported by, devices of another card",
                base.function().name.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    const Mlx5Function &function = device->mlx5_function();
    const Sharing &sharing = sharing_of(function);
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    // Each export registers the word again, since a region belongs to one protection domain.
    std::uint64_t *const word = local_->local_word();
    const MemoryRange range = {reinterpret_cast<std::byte *>(word), sizeof(*word)};
    Export made;
    made.region.reset(ibv_reg_mr(&device->pd(), word, sizeof(*word), access));
    if (made.region == nullptr) {
        LOG_ERR("device %s cannot register the sync event at %p: %s", function.name.c_str(), static_cast<void *>(word),
                std::strerror(errno));
        return errno == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER;
    }
    if (const Outcome outcome =
            made.shared.create(device->commands(), device->pd(), sharing.way, made.region.get(), range, true);
        !outcome.is_good()) {
        LOG_ERR("device %s: the key of the sync event at %p can't be shared with the DPU: %s", function.name.c_str(),
                static_cast<void *>(word), outcome.to_text().c_str());
        return DOCA_ERROR_DRIVER;
    }
    SharedMemoryDescriptor d = {.addr = reinterpret_cast<std::uintptr_t>(word),
                                .len = sizeof(*word),
                                .card_guid = function.card_guid(),
                                .vhca_id = function.device_capabilities().vhca_id,
                                .key_index = made.shared.key().index(),
                                .access = Access::dpu_read_write,
                                .access_key = {}};
    std::ranges::copy(made.shared.access_key(), d.access_key);
    std::vector<std::byte> bytes = to_bytes(DescriptorKind::mlx5_counter, d);
    // Reserved first: after the queue pair is open, nothing may fail, so that a failed export changes nothing.
    exports_.reserve(exports_.size() + 1);
    if (queue_pair_ == nullptr) {
        auto queue_pair = std::make_unique<WordQueuePair>();
        if (const doca_error_t status = queue_pair->open(*device); status != DOCA_SUCCESS)
            return status;
        // From now on set() and add() use the device. Local waiters are no longer woken by updates and have to poll.
        queue_pair_ = std::move(queue_pair);
        word_ = {made.region->rkey, d.addr};
        card_guid_ = d.card_guid;
        local_->expect_unnotified_changes();
    }
    exports_.push_back(std::move(made));
    descriptor = std::move(bytes);
    return DOCA_SUCCESS;
}

doca_error_t RemoteCounter::create(const Mlx5Device &device, std::span<const std::byte> descriptor,
                                   std::unique_ptr<Counter> &counter)
{
    SharedMemoryDescriptor d{};
    doca_error_t status = read_counter_descriptor(descriptor, d);
    auto created = std::make_unique<RemoteCounter>(device);
    if (status == DOCA_SUCCESS)
        status = device.import_key(d, created->alias_);
    if (status == DOCA_SUCCESS)
        status = created->queue_pair_.open(device);
    if (status != DOCA_SUCCESS)
        return status;
    created->word_ = {created->alias_.key, d.addr};
    counter = std::move(created);
    return DOCA_SUCCESS;
}

doca_error_t RemoteCounter::checked(doca_error_t status) noexcept
{
    if (status == DOCA_ERROR_CONNECTION_RESET && !has_logged_reset_.exchange(true, std::memory_order_relaxed))
        LOG_ERR("device %s can no longer reach the sync event: it was destroyed on the other side, or its process "
                "has ended",
                device_.port().name.c_str());
    return status;
}

/// Executes @p operation under the lock, since the queue pair carries one operation at a time.
template <typename Operation>
doca_error_t RemoteCounter::run_locked(Operation operation) noexcept
{
    const std::lock_guard guard(lock_);
    return checked(operation());
}

doca_error_t RemoteCounter::get(std::uint64_t &value) noexcept
{
    return run_locked([&] { return queue_pair_.read(word_, value); });
}

doca_error_t RemoteCounter::set(std::uint64_t value) noexcept
{
    return run_locked([&] { return queue_pair_.write(word_, value); });
}

doca_error_t RemoteCounter::add(std::uint64_t value, std::uint64_t &fetched) noexcept
{
    return run_locked([&] { return queue_pair_.add(word_, value, fetched); });
}

/// Blocks by reading the word repeatedly; waits in hardware (WAIT on data) are not used.
doca_error_t RemoteCounter::wait(const WaitCondition &condition, WhileWaiting how) noexcept
{
    for (;;) {
        std::uint64_t value = 0;
        if (const doca_error_t status = get(value); status != DOCA_SUCCESS || condition.is_met_by(value))
            return status;
        if (how == WhileWaiting::yield)
            sched_yield();
    }
}

doca_error_t RemoteCounter::create_waits(CompletionQueue &completions, std::unique_ptr<CounterWaits> &waits)
{
    auto created = std::make_unique<RemoteWaits>(*this, completions);
    const doca_error_t status = created->open(device_);
    if (status == DOCA_SUCCESS)
        waits = std::move(created);
    return status;
}

} // namespace opendoca::mlx5
