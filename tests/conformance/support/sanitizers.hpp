// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DOCA_TEST_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define DOCA_TEST_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(DOCA_TEST_ASAN)
#define DOCA_TEST_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(DOCA_TEST_TSAN)
#define DOCA_TEST_TSAN 1
#endif

namespace doca_test {

#if defined(DOCA_TEST_ASAN) || defined(DOCA_TEST_TSAN)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

/// Whether the devices are those of a card made of software, where each job takes far longer than on a real one.
inline bool is_on_card()
{
    static const bool is_set = std::getenv("OPENDOCA_CARD_SIDE") != nullptr;
    return is_set;
}

/// How often to repeat something: sanitizers make everything several times slower, and so does such a card.
inline int times(int count)
{
    return is_sanitized ? (count + 9) / 10 : is_on_card() ? (count + 3) / 4 : count;
}

/// The same for an attack that may be repeated far more often by hand: OPENDOCA_TEST_RUNS=200.
inline int runs(int count)
{
    const char *const wanted = std::getenv("OPENDOCA_TEST_RUNS");
    return wanted != nullptr ? std::atoi(wanted) : times(count);
}

} // namespace doca_test
