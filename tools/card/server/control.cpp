// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "control.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>

#include "addresses.hpp"
#include "command.hpp"
#include "connection_manager.hpp"
#include "devx.hpp"
#include "engine.hpp"
#include "link.hpp"
#include "roce_network.hpp"

namespace opendoca::card {

namespace {

using Words = std::vector<std::string_view>;

/// Splits a line at blanks. The words refer to the line.
Words split(std::string_view line)
{
    Words words;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t start = line.find_first_not_of(" \t\n", at);
        if (start == std::string_view::npos)
            break;
        const std::size_t end = std::min(line.find_first_of(" \t\n", start), line.size());
        words.push_back(line.substr(start, end - start));
        at = end;
    }
    return words;
}

/// Parses a decimal or hexadecimal (0x) number; the whole word must match.
std::optional<std::uint32_t> number_of(std::string_view word)
{
    std::uint32_t value = 0;
    const bool is_hexadecimal = word.starts_with("0x");
    const char *first = word.data() + (is_hexadecimal ? 2 : 0), *last = word.data() + word.size();
    const auto [end, error] = std::from_chars(first, last, value, is_hexadecimal ? 16 : 10);
    return error == std::errc{} && end == last ? std::optional(value) : std::nullopt;
}

/// Parses the words from `at` on: "count N" and "skip N", in any order. Returns false for anything else.
bool read_counts(const Words &words, std::size_t at, FaultRule &rule)
{
    for (; at + 1 < words.size(); at += 2) {
        const auto value = number_of(words[at + 1]);
        if (!value || (words[at] != "count" && words[at] != "skip") || (words[at] == "count" && *value == 0))
            return false;
        (words[at] == "count" ? rule.count : rule.skip) = *value;
    }
    return at == words.size();
}

/// Returns the function that words 1 and 2 name ("host 0", "dpu 1"), or null.
Function *function_of(Card &card, const Words &words)
{
    if (words.size() < 3 || (words[1] != "host" && words[1] != "dpu"))
        return nullptr;
    const auto number = number_of(words[2]);
    return number ? card.function(words[1] == "host" ? Side::host : Side::dpu, *number) : nullptr;
}

/// Handles `refuse COMMAND VALUE [skip N] [count N]`.
std::string refuse(Card &card, const Words &words)
{
    FaultRule rule;
    const auto value = words.size() > 2 ? number_of(words[2]) : std::nullopt;
    if (!value || *value == 0 || *value > 255)
        return "error: refuse COMMAND VALUE [skip N] [count N]: VALUE is an errno, or the status of a PRM "
               "command";
    rule.name = words[1];
    rule.value = *value;
    if (!is_command_name(rule.name) && !is_prm_command_name(rule.name))
        return "error: unknown command '" + rule.name + "'";
    if (!read_counts(words, 3, rule))
        return "error: only 'skip N' and 'count N' may follow COMMAND VALUE";
    card.faults.refuse(rule);
    return "ok";
}

/// Parses the counts from word `at` on and adds the rule. Returns the reply.
std::string with_counts(const Words &words, std::size_t at, FaultRule rule, const std::function<void(FaultRule)> &add)
{
    if (!read_counts(words, at, rule))
        return "error: only 'skip N' and 'count N' may follow the arguments of '" + std::string(words[0]) + "'";
    add(std::move(rule));
    return "ok";
}

/// Handles `delay-completion MS [skip N] [count N]`.
std::string delay(Card &card, const Words &words)
{
    FaultRule rule;
    const auto ms = words.size() > 1 ? number_of(words[1]) : std::nullopt;
    if (!ms || *ms > 60'000)
        return "error: delay-completion MS [skip N] [count N]: MS is at most 60000";
    rule.value = *ms;
    return with_counts(words, 2, rule, [&](FaultRule late) { card.faults.delay_completions(std::move(late)); });
}

/// Returns the numbers of packets of the network, if the card has one.
std::string describe_packets(const Card &card)
{
    if (card.network == nullptr)
        return {};
    const auto [sent, received, dropped] = card.network->packets();
    std::string text(" sent-packets ");
    text.append(std::to_string(sent)).append(" received-packets ").append(std::to_string(received));
    return text.append(" dropped-packets ").append(std::to_string(dropped));
}

/// Returns the reply to `status`: names and values, in pairs.
std::string describe(const Card &card)
{
    std::size_t processes = 0;
    for (const auto &process : card.processes)
        processes += process->is_dead() ? 0 : 1;
    return "ok profile " + std::string(card.profile.name) + " addresses " + describe_addresses(card) + " pid " +
           std::to_string(getpid()) + " files " + std::to_string(card.files.size()) + " processes " +
           std::to_string(processes) + " objects " + std::to_string(card.objects.count()) + " keys " +
           std::to_string(card.keys.count()) + " dma-copies " + std::to_string(card.dma_copies) + " alias-uses " +
           std::to_string(card.alias_uses) + " messages " + std::to_string(card.messages) + " message-bytes " +
           std::to_string(card.message_bytes) + " refused " + std::to_string(card.faults.num_refused()) +
           " remote-accesses " + std::to_string(card.remote_accesses) + " cm-ids " +
           std::to_string(card.connections->num_ids()) + " cm-listeners " +
           std::to_string(card.connections->num_listeners()) + describe_packets(card) +
           (card.link != nullptr
                ? " side " + std::string(card.own_side == Side::host ? "host " : "dpu ") + card.link->describe()
                : "");
}

} // namespace

std::string_view control_help()
{
    return "status                                  the profile, and counts of objects and operations\n"
           "refuse COMMAND VALUE [skip N] [count N] the command fails with this errno or PRM status\n"
           "lose-completion [skip N] [count N]      a completion is never written\n"
           "delay-completion MS [skip N] [count N]  a completion, and those behind it, are delayed\n"
           "lose-message [skip N] [count N]         a message does not arrive; a reliable one is sent "
           "again\n"
           "port-down SIDE N, port-up SIDE N        the port of mlx5_N of a side goes down or comes up\n"
           "vanish SIDE N, appear SIDE N            the function is unreachable, without any event\n"
           "qp-fatal SIDE N                         its connected queue pairs break, each with a fatal event\n"
           "fatal SIDE N                            the function dies, with a device fatal event\n"
           "dma-fails                               memory copies end with an error, as on a ConnectX-7\n"
           "refuse-shared-keys                      no key can be shared with another function, as on a ConnectX-7\n"
           "refuse-indirect-keys                    no indirect key can, as on a BlueField-2\n"
           "clear                                   removes pending faults, and resets the three above\n";
}

std::string run_control(Card &card, std::string_view line)
{
    const Words words = split(line);
    if (words.empty())
        return "error: empty line";
    const std::string_view what = words[0];
    if (what == "status")
        return describe(card);
    if (what == "clear") {
        card.faults.clear();
        return "ok";
    }
    if (what == "refuse")
        return refuse(card, words);
    if (what == "delay-completion")
        return delay(card, words);
    if (what == "lose-completion")
        return with_counts(words, 1, {}, [&](FaultRule rule) { card.faults.lose_completions(std::move(rule)); });
    if (what == "lose-message")
        return with_counts(words, 1, {}, [&](FaultRule rule) { card.faults.lose_messages(std::move(rule)); });
    if (words.size() == 1) {
        Faults &faults = card.faults;
        bool *const ability = what == "dma-fails"              ? &faults.dma_fails
                              : what == "refuse-shared-keys"   ? &faults.refuses_shared_keys
                              : what == "refuse-indirect-keys" ? &faults.refuses_indirect_keys
                                                               : nullptr;
        if (ability != nullptr) {
            *ability = true;
            return "ok";
        }
    }
    // All remaining requests name a function of the card.
    Function *function = function_of(card, words);
    const bool is_of_function = what == "port-down" || what == "port-up" || what == "vanish" || what == "appear" ||
                                what == "qp-fatal" || what == "fatal";
    if (!is_of_function)
        return "error: unknown request '" + std::string(what) + "'";
    if (function == nullptr || card.is_elsewhere(*function))
        return "error: " + std::string(what) + " SIDE N: this card has no such function";
    if (what == "fatal")
        card.kill_function(*function);
    else if (what == "qp-fatal")
        break_queue_pairs_of(card, *function);
    else if (what == "vanish" || what == "appear")
        function->is_unreachable = what == "vanish";
    else
        card.set_port(*function, what == "port-up");
    // Waiting requests may fail or proceed because of the change.
    card.request_polls();
    return "ok";
}

bool release_folder(const std::string &folder)
{
    // A launcher holds this lock while it starts or joins the card.
    const std::string lock_name = folder + ".lock";
    const UniqueFd lock(open(lock_name.c_str(), O_RDWR | O_CLOEXEC));
    // Without blocking: a launcher that holds the lock may wait for this process.
    if (lock.is_open() && flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
        return false;
    // A missing lock file means that the folder was cleaned up from outside: no program can find this card any more.
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    std::filesystem::remove(lock_name, error);
    return true;
}

} // namespace opendoca::card
