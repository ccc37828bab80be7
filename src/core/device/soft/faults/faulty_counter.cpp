// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "faulty_counter.hpp"

#include <atomic>
#include <cstdint>
#include <memory>

#include "../../../engine/completion_queue.hpp"
#include "../counter/counter_waits.hpp"
#include "../strict/strict_counter.hpp"

namespace opendoca::soft {

namespace {

/// The waits of a faulty counter that complete as jobs. Like SoftCounterWaits, for one completion queue and its thread.
class FaultyWaits final : public SoftCounterWaits {
public:
    FaultyWaits(FaultyCounter &counter, CompletionQueue &completions)
        : SoftCounterWaits(counter, completions),
          faulty_(counter)
    {
    }

    [[nodiscard]] doca_error_t wait(Tag tag, const WaitCondition &condition) noexcept override
    {
        if (faulty_.is_strict()) {
            if (const doca_error_t status = check_strict_wait(faulty_, condition); status != DOCA_SUCCESS)
                return status;
        }
        if (completions_.is_full() || faulty_.faults().injects(Fault::full, Jobs::sync_event))
            return DOCA_ERROR_NO_MEMORY;
        const doca_error_t status = faulty_.next();
        if (status == DOCA_SUCCESS)
            return SoftCounterWaits::wait(tag, condition);
        completions_.done(tag, *this, status);
        return DOCA_SUCCESS;
    }

private:
    FaultyCounter &faulty_;
};

} // namespace

doca_error_t FaultyCounter::next() noexcept
{
    // Relaxed: the flag guards no other data. Two threads that race may count one occasion more.
    if (!has_peer_ended_.load(std::memory_order_relaxed) && faults_->injects(Fault::peer, Jobs::sync_event))
        has_peer_ended_.store(true, std::memory_order_relaxed);
    if (has_peer_ended_.load(std::memory_order_relaxed))
        return DOCA_ERROR_CONNECTION_RESET;
    return faults_->injects(Fault::job, Jobs::sync_event) ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

/// Each operation calls next() first. One that fails does not access the counter.
doca_error_t FaultyCounter::get(std::uint64_t &value) noexcept
{
    const doca_error_t status = next();
    return status == DOCA_SUCCESS ? SoftCounter::get(value) : status;
}

doca_error_t FaultyCounter::set(std::uint64_t value) noexcept
{
    const doca_error_t status = next();
    return status == DOCA_SUCCESS ? SoftCounter::set(value) : status;
}

doca_error_t FaultyCounter::add(std::uint64_t value, std::uint64_t &fetched) noexcept
{
    const doca_error_t status = next();
    return status == DOCA_SUCCESS ? SoftCounter::add(value, fetched) : status;
}

doca_error_t FaultyCounter::wait(const WaitCondition &condition, WhileWaiting how) noexcept
{
    const doca_error_t status = next();
    return status == DOCA_SUCCESS ? SoftCounter::wait(condition, how) : status;
}

doca_error_t FaultyCounter::create_waits(CompletionQueue &completions, std::unique_ptr<CounterWaits> &waits)
{
    // Creating the waits is no operation, and never fails on purpose.
    auto created = std::make_unique<FaultyWaits>(*this, completions);
    const doca_error_t status = created->open();
    if (status == DOCA_SUCCESS)
        waits = std::move(created);
    return status;
}

} // namespace opendoca::soft
