// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The state of a context of DOCA 2.2 and of its work queues in a model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include <doca_error.h>

namespace doca_test {

inline constexpr std::size_t num_workqs = 2;

struct QueuedCtx {
    bool is_started = false;
    std::array<bool, num_workqs> is_on{};
    std::array<std::uint32_t, num_workqs> in_flight{}; ///< jobs that were not retrieved

    [[nodiscard]] bool is_on_any() const { return is_on[0] || is_on[1]; }
    [[nodiscard]] std::uint32_t num_in_flight() const
    {
        return std::accumulate(in_flight.begin(), in_flight.end(), 0U);
    }

    // The expected results of calls. That of submit() is the error that is found before the job itself is checked.

    [[nodiscard]] doca_error_t stop() const
    {
        return !is_started            ? DOCA_ERROR_BAD_STATE
               : num_in_flight() != 0 ? DOCA_ERROR_NOT_PERMITTED
               : is_on_any()          ? DOCA_ERROR_IN_USE
                                      : DOCA_SUCCESS;
    }
    [[nodiscard]] doca_error_t workq_add(std::size_t q) const
    {
        return !is_started ? DOCA_ERROR_BAD_STATE : is_on[q] ? DOCA_ERROR_IN_USE : DOCA_SUCCESS;
    }
    [[nodiscard]] doca_error_t workq_rm(std::size_t q) const
    {
        return !is_started         ? DOCA_ERROR_BAD_STATE
               : !is_on[q]         ? DOCA_ERROR_NOT_FOUND
               : in_flight[q] != 0 ? DOCA_ERROR_NOT_PERMITTED
                                   : DOCA_SUCCESS;
    }
    [[nodiscard]] doca_error_t submit(std::size_t q) const
    {
        return !is_started ? DOCA_ERROR_BAD_STATE : !is_on[q] ? DOCA_ERROR_NOT_FOUND : DOCA_SUCCESS;
    }
};

} // namespace doca_test
