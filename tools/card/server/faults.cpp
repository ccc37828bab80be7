// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "faults.hpp"

#include <cstddef>

namespace opendoca::card {

namespace {

/// Applies the first rule with this name, and removes it after its last use. Each call is one operation, and counts for
/// this rule only: later rules with the same name begin when it is used up.
std::optional<std::uint32_t> take_fault(std::vector<FaultRule> &rules, std::string_view name)
{
    for (std::size_t i = 0; i < rules.size(); ++i) {
        FaultRule &rule = rules[i];
        if (rule.name != name)
            continue;
        if (rule.skip != 0) {
            --rule.skip;
            return std::nullopt;
        }
        const std::uint32_t value = rule.value;
        if (--rule.count == 0)
            rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(i));
        return value;
    }
    return std::nullopt;
}

} // namespace

std::optional<std::uint32_t> Faults::take_command_fault(std::string_view name)
{
    const std::optional<std::uint32_t> fault = take_fault(refused_commands_, name);
    num_refused_ += fault.has_value();
    return fault;
}

bool Faults::take_completion_loss()
{
    return take_fault(lost_completions_, "").has_value();
}

std::optional<std::uint32_t> Faults::take_completion_delay()
{
    return take_fault(delayed_completions_, "");
}

bool Faults::take_message_loss()
{
    return take_fault(lost_messages_, "").has_value();
}

void Faults::clear()
{
    // The counter is a statistic of the card, which clear() does not reset.
    const std::uint64_t num_refused = num_refused_;
    *this = {};
    num_refused_ = num_refused;
}

} // namespace opendoca::card
