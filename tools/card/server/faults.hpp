// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What goes wrong on request, in the order of the requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opendoca::card {

/// Which commands, completions or messages a fault is for, and how many of them.
struct FaultRule {
    std::string name;        ///< of a command; "" for others
    std::uint32_t skip = 0;  ///< these pass first
    std::uint32_t count = 1; ///< and then these are struck
    std::uint32_t value = 0; ///< errno, PRM status or milliseconds
};

class Faults {
public:
    /// Strikes the next of what a rule is for. The rule's value where it does.
    std::optional<std::uint32_t> strike_command(std::string_view name);
    bool strike_completion_lost();
    std::optional<std::uint32_t> strike_completion_late();
    bool strike_message_lost();

    void refuse(FaultRule rule) { refused_.push_back(std::move(rule)); }
    void lose_completions(FaultRule rule) { lost_.push_back(std::move(rule)); }
    void delay_completions(FaultRule rule) { late_.push_back(std::move(rule)); }
    void lose_messages(FaultRule rule) { unanswered_.push_back(std::move(rule)); }
    /// Of what is still to come.
    void clear();
    /// How many commands have been struck so far.
    [[nodiscard]] std::uint64_t num_refused() const { return num_refused_; }

    // Abilities that the card reports, and then lacks: from the request on until clear().
    bool dma_fails = false;             ///< memory copies end with an error
    bool refuses_shared_keys = false;   ///< no key may be used by another function
    bool refuses_indirect_keys = false; ///< no indirect one

private:
    std::vector<FaultRule> refused_, lost_, late_, unanswered_;
    std::uint64_t num_refused_ = 0;
};

} // namespace opendoca::card
