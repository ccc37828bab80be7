// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doca_error.h>

#include "../../../guard.hpp"

namespace opendoca::soft {

/// What goes wrong.
enum class Fault : std::uint8_t {
    job,          ///< a job ends with IO_FAILED
    peer,         ///< the process on the other side seems to have ended
    full,         ///< a job is refused as by a queue that has no room
    registration, ///< a memory map can't be registered
    import,       ///< an export descriptor is refused
};

/// The library with the affected jobs.
enum class Jobs : std::uint8_t { dma, rdma, sync_event, none };

/// What DOCA_SOFT_FAULTS asks for. Thread-safe: what is counted is counted over all threads.
class OPENDOCA_INTERNAL FaultPlan {
public:
    /// Null when the variable is not set, or empty. INVALID_VALUE, and the log says what is allowed, when it
    /// can't be understood.
    [[nodiscard]] static doca_error_t from_environment(std::shared_ptr<FaultPlan> &plan);
    [[nodiscard]] static doca_error_t parse(std::string_view text, std::shared_ptr<FaultPlan> &plan);

    /// Counts one more occasion for @p fault, and answers whether it is to happen.
    [[nodiscard]] bool strikes(Fault fault, Jobs jobs = Jobs::none) noexcept;

private:
    /// One item of the list.
    struct Rule {
        Fault fault;
        Jobs jobs;               ///< none: all
        std::uint64_t first = 0; ///< the occasions from this one on, counted from 1; 0: at random
        std::uint64_t step = 0;  ///< to the next; 0: there is none
        double probability = 0;  ///< of a random one
        std::uint32_t hash = 0;  ///< that items which are alike do not strike together
        std::string text;
        std::atomic<std::uint64_t> count{0};
    };

    [[nodiscard]] static bool parse_rule(std::string_view text, Rule &rule);
    [[nodiscard]] static bool parse_when(std::string_view text, Rule &rule);
    [[nodiscard]] bool is_hit(const Rule &rule, std::uint64_t occasion) const noexcept;

    std::vector<std::unique_ptr<Rule>> rules_;
    std::uint64_t seed_ = 1;
};

} // namespace opendoca::soft
