// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "log_rate.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <mutex>

#include <doca_log.h>

#include "../log/log_source.hpp"
#include "../process/fork.hpp"
#include "call.hpp"

// Buckets that limit the rate of messages. Sources register in constructors that may run before this library's, and
// unregister in destructors that may run after them. So everything here is initialised at compile time and never
// destroyed. Any thread may log: the counters are atomic, and no lock is taken for a message.

namespace {

// Bucket 0 stays unused: it means "no limit".
constexpr std::size_t max_buckets = 8192;

/// The counter of one bucket. Both parts are in one word, so that a message is counted by one exchange.
struct Bucket {
    std::atomic<int> source{0};          // 0 while the bucket is free
    std::atomic<std::uint64_t> count{0}; // start of the period in milliseconds << 16 | messages since
};

constinit opendoca::ForkSafeMutex buckets_mutex; // held to change the table; messages read it without
const opendoca::ForkRegistration buckets_registration(buckets_mutex, opendoca::LockRank::log_buckets);
constinit std::array<Bucket, max_buckets> buckets{};
constinit std::atomic<std::uint16_t> bucket_seconds{60};  ///< length of a period; 0 turns the limit off
constinit std::atomic<std::uint16_t> bucket_quantity{20}; ///< most messages in a period

std::uint64_t now_in_ms() noexcept
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
}

} // namespace

bool opendoca::log_bucket_exists(int bucket) noexcept
{
    const auto index = static_cast<std::size_t>(bucket);
    return index < max_buckets && buckets[index].source.load(std::memory_order_relaxed) != 0;
}

bool opendoca::log_bucket_admits(int bucket) noexcept
{
    const std::uint64_t period = std::uint64_t{1000} * bucket_seconds.load(std::memory_order_relaxed);
    // A period of 0 s admits everything.
    if (period == 0)
        return true;
    const std::uint64_t quantity = bucket_quantity.load(std::memory_order_relaxed);
    const std::uint64_t now = now_in_ms();
    std::atomic<std::uint64_t> &count = buckets[static_cast<std::size_t>(bucket)].count;
    std::uint64_t before = count.load(std::memory_order_relaxed);
    std::uint64_t after = 0;
    // Relaxed: the counter guards no other data. The loop repeats if another thread has counted a message meanwhile.
    do {
        const std::uint64_t begin = before >> 16;
        const std::uint64_t messages = before & 0xffff;
        const bool is_over = messages == 0 || begin + period <= now;
        if (quantity == 0 || (!is_over && messages >= quantity))
            return false;
        after = is_over ? now << 16 | 1 : before + 1;
    } while (!count.compare_exchange_weak(before, after, std::memory_order_relaxed));
    return true;
}

doca_error_t doca_log_source_register(const char *source_name, int *source)
{
    return opendoca::v2::call({source_name, source}, [&] { return opendoca::add_log_source(source_name, *source); });
}

doca_error_t doca_log_source_destroy(int source)
{
    const std::lock_guard lock{buckets_mutex};
    if (!opendoca::is_log_source(source))
        return DOCA_ERROR_INVALID_VALUE;
    for (Bucket &bucket : buckets) {
        // The source's buckets become free with it.
        if (bucket.source.load(std::memory_order_relaxed) == source) {
            bucket.source.store(0, std::memory_order_relaxed);
            bucket.count.store(0, std::memory_order_relaxed);
        }
    }
    return opendoca::remove_log_source(source);
}

doca_error_t doca_log_rate_bucket_register(int source, int *bucket)
{
    return opendoca::v2::call({bucket}, [&] {
        const std::lock_guard lock{buckets_mutex};
        if (!opendoca::is_log_source(source))
            return DOCA_ERROR_INVALID_VALUE;
        for (std::size_t i = 1; i < max_buckets; i++) {
            if (buckets[i].source.load(std::memory_order_relaxed) == 0) {
                buckets[i].source.store(source, std::memory_order_relaxed);
                *bucket = static_cast<int>(i);
                return DOCA_SUCCESS;
            }
        }
        return DOCA_ERROR_FULL;
    });
}

uint16_t doca_log_get_bucket_time(void)
{
    return bucket_seconds.load(std::memory_order_relaxed);
}

void doca_log_set_bucket_time(uint16_t bucket_time)
{
    bucket_seconds.store(bucket_time, std::memory_order_relaxed);
}

uint16_t doca_log_get_quantity(void)
{
    return bucket_quantity.load(std::memory_order_relaxed);
}

void doca_log_set_quantity(uint16_t quantity)
{
    bucket_quantity.store(quantity, std::memory_order_relaxed);
}
