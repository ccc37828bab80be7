// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "fault_plan.hpp"

#include <charconv>
#include <cinttypes>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "../../../base/crc32.hpp"
#include "../../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_FAULTS);

namespace opendoca::soft {

namespace {

constexpr const char *allowed =
    "it is a list, separated by commas, of seed=NUMBER, register=WHEN, "
    "import=WHEN, job=WHEN, peer=WHEN, full=WHEN, reset=WHEN, remove=WHEN and port_down=WHEN; "
    "after job, peer and full, :dma, :rdma or :sync_event limits it to jobs of that library, and after the last three "
    ":dma or :rdma does; WHEN is 3 "
    "(the third), 3+ (from the third on), "
    "*/3 (each third) or 0.5% (at random)";

std::optional<std::uint64_t> to_number(std::string_view text)
{
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Returns the text before @p separator, and removes it and the separator from @p text.
std::string_view take_until(std::string_view &text, char separator)
{
    const std::size_t at = text.find(separator);
    const std::string_view part = text.substr(0, at);
    text = at == text.npos ? std::string_view() : text.substr(at + 1);
    return part;
}

/// Returns a number from 0 to 1 that depends on the seed, the rule and the occasion only, and on no thread. The mixing
/// function is the finalizer of SplitMix64.
double random_of(std::uint64_t seed, std::uint32_t rule, std::uint64_t occasion)
{
    std::uint64_t x = (seed ^ std::uint64_t{rule} << 32) * 0x9e3779b97f4a7c15U + occasion * 0xd1342543de82ef95U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

} // namespace

doca_error_t FaultPlan::from_environment(std::shared_ptr<FaultPlan> &plan)
{
    plan.reset();
    const char *const text = std::getenv("DOCA_SOFT_FAULTS");
    return text == nullptr || *text == '\0' ? DOCA_SUCCESS : parse(text, plan);
}

doca_error_t FaultPlan::parse(std::string_view text, std::shared_ptr<FaultPlan> &plan)
{
    auto fresh = std::make_shared<FaultPlan>();
    do {
        const std::string_view item = take_until(text, ',');
        bool is_good = false;
        if (item.starts_with("seed=")) {
            const auto seed = to_number(item.substr(5));
            fresh->seed_ = seed.value_or(0);
            is_good = seed.has_value();
        } else {
            auto rule = std::make_unique<Rule>();
            is_good = parse_rule(item, *rule);
            fresh->rules_.push_back(std::move(rule));
        }
        if (!is_good) {
            LOG_ERR("DOCA_SOFT_FAULTS: '%.*s' can't be understood: %s", static_cast<int>(item.size()), item.data(),
                    allowed);
            return DOCA_ERROR_INVALID_VALUE;
        }
    } while (!text.empty());
    plan = std::move(fresh);
    return DOCA_SUCCESS;
}

bool FaultPlan::parse_rule(std::string_view text, Rule &rule)
{
    rule.text = text;
    // The text selects the random numbers: equal rules choose the same occasions, others independent ones.
    rule.hash = crc32(text.data(), text.size());
    std::string_view jobs = take_until(text, '=');
    const bool names_jobs = jobs.find(':') != jobs.npos;
    const std::string_view fault = take_until(jobs, ':');
    if (fault == "job")
        rule.fault = Fault::job;
    else if (fault == "peer")
        rule.fault = Fault::peer;
    else if (fault == "full")
        rule.fault = Fault::full;
    else if (fault == "register" && !names_jobs)
        rule.fault = Fault::registration;
    else if (fault == "import" && !names_jobs)
        rule.fault = Fault::import;
    else if (fault == "reset")
        rule.fault = Fault::reset;
    else if (fault == "remove")
        rule.fault = Fault::remove;
    else if (fault == "port_down")
        rule.fault = Fault::port_down;
    else
        return false;
    const bool is_of_device =
        rule.fault == Fault::reset || rule.fault == Fault::remove || rule.fault == Fault::port_down;
    if (!names_jobs)
        rule.jobs = Jobs::none;
    else if (jobs == "dma")
        rule.jobs = Jobs::dma;
    else if (jobs == "rdma")
        rule.jobs = Jobs::rdma;
    else if (jobs == "sync_event" && !is_of_device)
        rule.jobs = Jobs::sync_event;
    else
        return false;
    return parse_when(text, rule);
}

bool FaultPlan::parse_when(std::string_view text, Rule &rule)
{
    if (text.ends_with('%')) {
        text.remove_suffix(1);
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rule.probability);
        rule.probability /= 100;
        return error == std::errc() && end == text.data() + text.size() && rule.probability > 0 &&
               rule.probability <= 1;
    }
    // Forms: 3 (the third), 3+ (from the third on), */3 (each third).
    const bool is_each = text.starts_with("*/");
    const bool is_repeated = text.ends_with('+');
    if (is_each)
        text.remove_prefix(2);
    else if (is_repeated)
        text.remove_suffix(1);
    const auto number = to_number(text);
    rule.first = number.value_or(0);
    rule.step = is_each ? rule.first : is_repeated ? 1 : 0;
    return rule.first != 0;
}

bool FaultPlan::is_hit(const Rule &rule, std::uint64_t occasion) const noexcept
{
    if (rule.first == 0)
        return random_of(seed_, rule.hash, occasion) < rule.probability;
    if (rule.step == 0)
        return occasion == rule.first;
    return occasion >= rule.first && (occasion - rule.first) % rule.step == 0;
}

bool FaultPlan::injects(Fault fault, Jobs jobs) noexcept
{
    // All rules count, even if one applies already: the count of a rule does not depend on the others.
    bool is_hit_by_any = false;
    for (const std::unique_ptr<Rule> &rule : rules_) {
        if (rule->fault != fault || (rule->jobs != Jobs::none && rule->jobs != jobs))
            continue;
        // Relaxed: the counter orders nothing; each occasion has a number of its own.
        const std::uint64_t occasion = rule->count.fetch_add(1, std::memory_order_relaxed) + 1;
        if (!is_hit(*rule, occasion))
            continue;
        is_hit_by_any = true;
        LOG_INFO("number %" PRIu64 " fails on purpose, for '%s' in DOCA_SOFT_FAULTS", occasion, rule->text.c_str());
    }
    return is_hit_by_any;
}

} // namespace opendoca::soft
