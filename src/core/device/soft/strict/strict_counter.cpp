// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "strict_counter.hpp"

#include <bit>
#include <cinttypes>
#include <cstdint>
#include <memory>

#include "../../../log/log.hpp"
#include "../counter/counter_waits.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_STRICT_COUNTER);

namespace opendoca::soft {

namespace {

constexpr std::uint64_t max_value = 254; ///< of the counter and of the value that it is compared with

/// Returns whether @p mask is 0, or 1, 2, 4 or 8 neighbouring bytes of 0xff.
bool has_whole_bytes(std::uint64_t mask) noexcept
{
    if (mask == 0)
        return true;
    const int shift = std::countr_zero(mask);
    const std::uint64_t bytes = mask >> shift;
    return shift % 8 == 0 && (bytes == 0xff || bytes == 0xffff || bytes == 0xffffffff || bytes == UINT64_MAX);
}

/// Returns the value that the counter is compared with: see the functions of WaitCondition.
std::uint64_t value_of(const WaitCondition &condition) noexcept
{
    return condition.count == 1 ? condition.first : condition.first - 1;
}

/// The waits of a strict counter. Like SoftCounterWaits, for one completion queue and its thread.
class StrictWaits final : public SoftCounterWaits {
public:
    StrictWaits(StrictCounter &counter, CompletionQueue &completions)
        : SoftCounterWaits(counter, completions),
          strict_(counter)
    {
    }

    [[nodiscard]] doca_error_t wait(Tag tag, const WaitCondition &condition) noexcept override
    {
        const doca_error_t status = check_strict_wait(strict_, condition);
        return status == DOCA_SUCCESS ? SoftCounterWaits::wait(tag, condition) : status;
    }

private:
    StrictCounter &strict_;
};

} // namespace

doca_error_t check_strict_wait(SoftCounter &counter, const WaitCondition &condition) noexcept
{
    if (const std::uint64_t value = value_of(condition); value > max_value) {
        LOG_ERR("an asynchronous wait compares with %" PRIu64 ", and 0 to %" PRIu64
                " are possible (strict: sync-event-wait-range)",
                value, max_value);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (!has_whole_bytes(condition.mask)) {
        LOG_ERR("an asynchronous wait has the mask 0x%" PRIx64
                ", which is neither 0 nor 1, 2, 4 or 8 neighbouring bytes "
                "of 0xff (strict: sync-event-wait-range)",
                condition.mask);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // A counter that cannot be read is reported by the wait itself.
    if (std::uint64_t value = 0; counter.peek(value) == DOCA_SUCCESS && (value & condition.mask) > max_value) {
        LOG_ERR("an asynchronous wait is for a counter of %" PRIu64 ", and 0 to %" PRIu64
                " are possible (strict: sync-event-wait-range)",
                value & condition.mask, max_value);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t StrictCounter::create_waits(CompletionQueue &completions, std::unique_ptr<CounterWaits> &waits)
{
    auto created = std::make_unique<StrictWaits>(*this, completions);
    const doca_error_t status = created->open();
    if (status == DOCA_SUCCESS)
        waits = std::move(created);
    return status;
}

} // namespace opendoca::soft
