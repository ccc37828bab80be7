// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Requested faults. Each rule applies to the next matching operations, in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opendoca::card {

/// Selects the operations that a fault applies to: after `skip` matching ones, the next `count`. Created by a control
/// line, and held by Faults until its count is used up or all rules are cleared.
struct FaultRule {
    std::string name;        ///< command name; "" for completions and messages
    std::uint32_t skip = 0;  ///< number of matching operations that succeed first
    std::uint32_t count = 1; ///< number of operations that then fail
    std::uint32_t value = 0; ///< errno, PRM status or milliseconds
};

/// The pending faults of a card. Owned by Card, filled by control lines, consulted by the operations that can fail.
/// Used by the event loop's thread only. Rules for the same kind of operation apply one after the other, in the order
/// in which they were requested.
class Faults {
public:
    /// Consumes one matching operation of the first rule with this command name. Returns the value of the rule if the
    /// command must fail.
    std::optional<std::uint32_t> take_command_fault(std::string_view name);
    /// Consumes one completion. Returns whether it must be dropped.
    bool take_completion_loss();
    /// Consumes one completion. Returns its delay in milliseconds, if it must be delayed.
    std::optional<std::uint32_t> take_completion_delay();
    /// Consumes one message. Returns whether it must not arrive.
    bool take_message_loss();

    /// Adds a rule to those for the same kind of operation.
    void refuse(FaultRule rule) { refused_commands_.push_back(std::move(rule)); }
    void lose_completions(FaultRule rule) { lost_completions_.push_back(std::move(rule)); }
    void delay_completions(FaultRule rule) { delayed_completions_.push_back(std::move(rule)); }
    void lose_messages(FaultRule rule) { lost_messages_.push_back(std::move(rule)); }
    /// Removes all pending rules, and resets the three flags below.
    void clear();
    /// Returns the number of commands that have failed on request so far.
    [[nodiscard]] std::uint64_t num_refused() const { return num_refused_; }

    // Features that the card reports but then refuses to provide, from the request until clear().
    bool dma_fails = false;             ///< memory copies end with an error
    bool refuses_shared_keys = false;   ///< no key may be used by another function
    bool refuses_indirect_keys = false; ///< no indirect one

private:
    std::vector<FaultRule> refused_commands_, lost_completions_, delayed_completions_, lost_messages_;
    std::uint64_t num_refused_ = 0;
};

} // namespace opendoca::card
