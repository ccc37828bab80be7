// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "control.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>

#include "command.hpp"
#include "devx.hpp"
#include "engine.hpp"

namespace opendoca::card {

namespace {

using Words = std::vector<std::string_view>;

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

std::optional<std::uint32_t> number_of(std::string_view word)
{
    std::uint32_t value = 0;
    const bool is_hexadecimal = word.starts_with("0x");
    const char *first = word.data() + (is_hexadecimal ? 2 : 0), *last = word.data() + word.size();
    const auto [end, error] = std::from_chars(first, last, value, is_hexadecimal ? 16 : 10);
    return error == std::errc{} && end == last ? std::optional(value) : std::nullopt;
}

/// Words from `at` on: "count N", "skip N". Anything else is an error.
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

/// "host 0", "dpu 1".
Function *function_of(Card &card, const Words &words)
{
    if (words.size() < 3 || (words[1] != "host" && words[1] != "dpu"))
        return nullptr;
    const auto number = number_of(words[2]);
    return number ? card.function(words[1] == "host" ? Side::host : Side::dpu, *number) : nullptr;
}

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
        return "error: no command is named '" + rule.name + "'";
    if (!read_counts(words, 3, rule))
        return "error: after COMMAND VALUE come 'skip N' and 'count N'";
    card.faults.refuse(rule);
    return "ok";
}

std::string with_counts(const Words &words, std::size_t at, FaultRule rule,
                        const std::function<void(FaultRule)> &add)
{
    if (!read_counts(words, at, rule))
        return "error: after '" + std::string(words[0]) + "' come 'skip N' and 'count N'";
    add(std::move(rule));
    return "ok";
}

std::string delay(Card &card, const Words &words)
{
    FaultRule rule;
    const auto ms = words.size() > 1 ? number_of(words[1]) : std::nullopt;
    if (!ms || *ms > 60'000)
        return "error: delay-completion MS [skip N] [count N]: up to 60000 ms";
    rule.value = *ms;
    return with_counts(words, 2, rule,
                       [&](FaultRule late) { card.faults.delay_completions(std::move(late)); });
}

std::string describe(const Card &card)
{
    std::size_t processes = 0;
    for (const auto &process : card.processes)
        processes += process->is_dead() ? 0 : 1;
    return "ok profile " + std::string(card.profile.name) + " pid " + std::to_string(getpid()) + " files " +
           std::to_string(card.files.size()) + " processes " + std::to_string(processes) + " objects " +
           std::to_string(card.objects.count()) + " keys " + std::to_string(card.keys.count()) +
           " dma-copies " + std::to_string(card.dma_copies) + " alias-uses " + std::to_string(card.alias_uses) +
           " messages " + std::to_string(card.messages) + " message-bytes " +
           std::to_string(card.message_bytes) + " refused " + std::to_string(card.faults.num_refused()) + " remote-accesses " +
           std::to_string(card.remote_accesses);
}

} // namespace

std::string_view control_help()
{
    return "status                                  the card's profile, and how much it has of what\n"
           "refuse COMMAND VALUE [skip N] [count N] fails the command with this errno or PRM status\n"
           "lose-completion [skip N] [count N]      a completion is never written\n"
           "delay-completion MS [skip N] [count N]  a completion, and those behind it, comes late\n"
           "lose-message [skip N] [count N]         a message does not arrive; it is sent again if it is "
           "reliable\n"
           "port-down SIDE N, port-up SIDE N        the port of mlx5_N of a side goes down or comes up\n"
           "vanish SIDE N, appear SIDE N            the function is silent on the wire, without any event\n"
           "qp-fatal SIDE N                         its connected queue pairs break, each with a fatal event\n"
           "fatal SIDE N                            the function dies, with a device fatal event\n"
           "dma-fails                               memory copies end with an error, as on a ConnectX-7\n"
           "refuse-shared-keys                      no key may be used by another function, as on a ConnectX-7\n"
           "refuse-indirect-keys                    no indirect key may, as on a BlueField-2\n"
           "clear                                   forgets faults that have not struck yet, and these three\n";
}

std::string run_control(Card &card, std::string_view line)
{
    const Words words = split(line);
    if (words.empty())
        return "error: an empty line";
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
        return with_counts(words, 1, {},
                           [&](FaultRule rule) { card.faults.lose_completions(std::move(rule)); });
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
    Function *function = function_of(card, words);
    const bool is_of_function =
        what == "port-down" || what == "port-up" || what == "vanish" || what == "appear" || what == "qp-fatal" ||
        what == "fatal";
    if (!is_of_function)
        return "error: nothing is named '" + std::string(what) + "'";
    if (function == nullptr)
        return "error: " + std::string(what) + " SIDE N: this card has no such function";
    if (what == "fatal")
        card.kill_function(*function);
    else if (what == "qp-fatal")
        break_queue_pairs_of(card, *function);
    else if (what == "vanish" || what == "appear")
        function->is_silent = what == "vanish";
    else
        card.set_port(*function, what == "port-up");
    card.look_at_all();
    return "ok";
}

bool release_folder(const std::string &folder)
{
    // Who starts or joins a card holds the lock meanwhile.
    const std::string lock_name = folder + ".lock";
    const UniqueFd lock(open(lock_name.c_str(), O_RDWR | O_CLOEXEC));
    if (lock.is_open() && flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
        return false;
    // Without a lock somebody has cleaned up here, and nobody finds this card any more.
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    std::filesystem::remove(lock_name, error);
    return true;
}

} // namespace opendoca::card
