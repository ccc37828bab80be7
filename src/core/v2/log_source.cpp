// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "log_source.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <forward_list>
#include <mutex>
#include <string>
#include <string_view>

#include <doca_log.h>

#include "call.hpp"

// Sources register in constructors that may run before, and leave in destructors that may run after, those of
// this library. So everything here is initialised at compile time and never destroyed.

namespace {

// Entry 0 of both tables stays free: it is no source, and no bucket.
constexpr std::size_t max_sources = 4096;
constexpr std::size_t max_buckets = 8192;

struct Bucket {
    std::atomic<int> source{0};          // 0 when the bucket is free
    std::atomic<std::uint64_t> count{0}; // begin of the period in ms << 16 | messages since
};

constinit std::mutex tables_mutex; // held to change the tables; they are read without
constinit std::array<std::atomic<const char *>, max_sources> source_names{};
constinit std::array<Bucket, max_buckets> buckets{};
constinit std::atomic<std::uint16_t> bucket_seconds{60};
constinit std::atomic<std::uint16_t> bucket_quantity{20};

// A program may give DOCA_LOG_REGISTER a string literal, which arrives with its quotes.
std::string_view without_quotes(std::string_view name) noexcept
{
    const bool quoted = name.size() >= 2 && name.front() == '"' && name.back() == '"';
    return quoted ? name.substr(1, name.size() - 2) : name;
}

// A copy of the name that is never freed, since a message may be using it while its source goes. Equal names
// share one, so a library that is loaded again and again adds nothing.
const char *keep_name(std::string_view name)
{
    static auto &names = *new std::forward_list<std::string>;
    for (const std::string &kept : names) {
        if (kept == name)
            return kept.c_str();
    }
    return names.emplace_front(name).c_str();
}

doca_error_t add_source(std::string_view name, int *source)
{
    const std::lock_guard lock{tables_mutex};
    for (std::size_t i = 1; i < max_sources; i++) {
        if (source_names[i].load(std::memory_order_relaxed) == nullptr) {
            // Release: whoever finds the name in the table can read its text.
            source_names[i].store(keep_name(name), std::memory_order_release);
            *source = static_cast<int>(i);
            return DOCA_SUCCESS;
        }
    }
    return DOCA_ERROR_FULL;
}

std::uint64_t now_in_ms() noexcept
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
}

bool is_registered(int source) noexcept
{
    return source > 0 && opendoca::log_source_name(source) != nullptr;
}

} // namespace

const char *opendoca::log_source_name(int source) noexcept
{
    if (source == 0)
        return "UNKNOWN";
    const auto index = static_cast<std::size_t>(source);
    // Acquire: pairs with the release in add_source.
    return index < max_sources ? source_names[index].load(std::memory_order_acquire) : nullptr;
}

bool opendoca::log_bucket_exists(int bucket) noexcept
{
    const auto index = static_cast<std::size_t>(bucket);
    return index < max_buckets && buckets[index].source.load(std::memory_order_relaxed) != 0;
}

bool opendoca::log_bucket_admits(int bucket) noexcept
{
    const std::uint64_t period = std::uint64_t{1000} * bucket_seconds.load(std::memory_order_relaxed);
    if (period == 0)
        return true;
    const std::uint64_t quantity = bucket_quantity.load(std::memory_order_relaxed);
    const std::uint64_t now = now_in_ms();
    std::atomic<std::uint64_t> &count = buckets[static_cast<std::size_t>(bucket)].count;
    std::uint64_t before = count.load(std::memory_order_relaxed);
    std::uint64_t after = 0;
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
    return opendoca::v2::call({source_name, source},
                              [&] { return add_source(without_quotes(source_name), source); });
}

doca_error_t doca_log_source_destroy(int source)
{
    const std::lock_guard lock{tables_mutex};
    if (!is_registered(source))
        return DOCA_ERROR_INVALID_VALUE;
    for (Bucket &bucket : buckets) {
        if (bucket.source.load(std::memory_order_relaxed) == source) {
            bucket.source.store(0, std::memory_order_relaxed);
            bucket.count.store(0, std::memory_order_relaxed);
        }
    }
    source_names[static_cast<std::size_t>(source)].store(nullptr, std::memory_order_relaxed);
    return DOCA_SUCCESS;
}

doca_error_t doca_log_rate_bucket_register(int source, int *bucket)
{
    const std::lock_guard lock{tables_mutex};
    if (bucket == nullptr || !is_registered(source))
        return DOCA_ERROR_INVALID_VALUE;
    for (std::size_t i = 1; i < max_buckets; i++) {
        if (buckets[i].source.load(std::memory_order_relaxed) == 0) {
            buckets[i].source.store(source, std::memory_order_relaxed);
            *bucket = static_cast<int>(i);
            return DOCA_SUCCESS;
        }
    }
    return DOCA_ERROR_FULL;
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
