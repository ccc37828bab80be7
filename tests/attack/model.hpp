// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the models of all generations share: random calls in any order, checked against a model of the objects' states.
// OPENDOCA_MODEL_CALLS is the number of calls, and OPENDOCA_MODEL_SEED the seed of the random numbers.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <doca_error.h>

namespace doca_test {

/// @p name_of: the generation's function for an error's name.
template <const char *(*name_of)(doca_error_t)>
class Model {
protected:
    [[nodiscard]] std::string where() const
    {
        return ", in call number " + std::to_string(number) + " of seed " + std::to_string(seed);
    }
    [[nodiscard]] std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random() % bound); }
    [[nodiscard]] bool one_in(std::size_t count) { return below(count) == 0; }
    /// Returns whether the call has succeeded and was expected to. Fails the test if its result is not @p wanted.
    bool answers(const char *call, doca_error_t actual, doca_error_t wanted)
    {
        EXPECT_EQ(name_of(actual), std::string(name_of(wanted))) << call << where();
        return actual == DOCA_SUCCESS && wanted == DOCA_SUCCESS;
    }
    /// Returns the first of several reasons for which a call fails: unless(a, A, unless(b, B)).
    [[nodiscard]] static doca_error_t unless(bool is_wrong, doca_error_t error, doca_error_t otherwise = DOCA_SUCCESS)
    {
        return is_wrong ? error : otherwise;
    }
    void complain(const char *what) const { ADD_FAILURE() << what << where(); }

    /// Calls @p step until the test has failed or has made all its calls.
    template <typename Step>
    void run(Step step)
    {
        std::printf("seed %llu\n",
                    static_cast<unsigned long long>(seed)); // printed first, so that a crash can be repeated
        std::fflush(stdout);
        for (const std::uint64_t calls = number_from("OPENDOCA_MODEL_CALLS", 20'000);
             number < calls && !testing::Test::HasFailure();) {
            ++number;
            step();
        }
    }
    /// @p ends: of jobs or tasks.
    void tell(std::uint64_t ends) const
    {
        std::printf("%llu calls, %llu ends of seed %llu\n", static_cast<unsigned long long>(number),
                    static_cast<unsigned long long>(ends), static_cast<unsigned long long>(seed));
    }

    [[nodiscard]] static std::uint64_t number_from(const char *variable, std::uint64_t otherwise)
    {
        const char *const text = std::getenv(variable);
        return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
    }

    std::uint64_t seed = number_from("OPENDOCA_MODEL_SEED", std::random_device()());
    std::mt19937_64 random{seed};
    std::uint64_t number = 0; ///< of the call that is being made
};

} // namespace doca_test
