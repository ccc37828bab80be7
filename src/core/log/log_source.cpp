// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "log_source.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <forward_list>
#include <mutex>
#include <string>

#include "../process/fork.hpp"

// Sources are registered in constructors that may run before those of this library, and removed in destructors that may
// run after them. So everything here is initialised at compile time and never destroyed.

namespace opendoca {

namespace {

constexpr std::size_t max_sources = 4096; // entry 0 stays unused: see log_source_name()

constinit ForkSafeMutex names_mutex; // held to change the table, which is read without it
const ForkRegistration names_registration(names_mutex, LockRank::log_names);
constinit std::array<std::atomic<const char *>, max_sources> source_names{};

// Removes the quotes of a name. DOCA_LOG_REGISTER makes a string of its argument, which may be a string literal.
std::string_view without_quotes(std::string_view name) noexcept
{
    const bool quoted = name.size() >= 2 && name.front() == '"' && name.back() == '"';
    return quoted ? name.substr(1, name.size() - 2) : name;
}

// Returns a copy of the name that is never freed, since a message may be using it while its source is removed. Equal
// names share a copy, so that a library that is loaded again and again takes no more memory.
const char *keep_name(std::string_view name)
{
    static auto &names = *new std::forward_list<std::string>;
    for (const std::string &kept : names) {
        if (kept == name)
            return kept.c_str();
    }
    return names.emplace_front(name).c_str();
}

} // namespace

doca_error_t add_log_source(std::string_view quoted, int &source)
{
    const std::string_view name = without_quotes(quoted);
    const std::lock_guard lock{names_mutex};
    for (std::size_t i = 1; i < max_sources; i++) {
        if (source_names[i].load(std::memory_order_relaxed) == nullptr) {
            // Release: a reader that finds the name in the table can read its text.
            source_names[i].store(keep_name(name), std::memory_order_release);
            source = static_cast<int>(i);
            return DOCA_SUCCESS;
        }
    }
    return DOCA_ERROR_FULL;
}

doca_error_t remove_log_source(int source) noexcept
{
    const std::lock_guard lock{names_mutex};
    if (!is_log_source(source))
        return DOCA_ERROR_INVALID_VALUE;
    source_names[static_cast<std::size_t>(source)].store(nullptr, std::memory_order_relaxed);
    return DOCA_SUCCESS;
}

bool is_log_source(int source) noexcept
{
    return source > 0 && log_source_name(source) != nullptr;
}

const char *log_source_name(int source) noexcept
{
    if (source == 0)
        return "UNKNOWN";
    const auto index = static_cast<std::size_t>(source);
    // Acquire: pairs with the release store in add_log_source(), so that the text is visible.
    return index < max_sources ? source_names[index].load(std::memory_order_acquire) : nullptr;
}

} // namespace opendoca
