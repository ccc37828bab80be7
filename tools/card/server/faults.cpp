// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "faults.hpp"

namespace opendoca::card {

namespace {

std::optional<std::uint32_t> strike(std::vector<FaultRule> &rules, std::string_view name)
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

std::optional<std::uint32_t> Faults::strike_command(std::string_view name)
{
    const std::optional<std::uint32_t> struck = strike(refused_, name);
    num_refused_ += struck.has_value();
    return struck;
}

bool Faults::strike_completion_lost()
{
    return strike(lost_, "").has_value();
}

std::optional<std::uint32_t> Faults::strike_completion_late()
{
    return strike(late_, "");
}

bool Faults::strike_message_lost()
{
    return strike(unanswered_, "").has_value();
}

void Faults::clear()
{
    const std::uint64_t num_refused = num_refused_;
    *this = {};
    num_refused_ = num_refused;
}

} // namespace opendoca::card
