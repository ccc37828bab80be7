// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "options.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "../server/control.hpp"
#include "../server/profile.hpp"

namespace opendoca::card {

namespace {

/// Returns whether a card may have this name, which becomes the name of a folder.
bool is_name(std::string_view name)
{
    // The name is part of socket names, which have at most 107 characters.
    constexpr std::size_t longest = 32;
    return !name.empty() && name.size() <= longest && name[0] != '.' && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    });
}

/// Returns the names of all profiles, separated by commas.
std::string profile_names()
{
    std::string names;
    for (const Profile &profile : all_profiles())
        names += (names.empty() ? "" : ", ") + std::string(profile.name);
    return names;
}

/// Parses the addresses of the options or, if there are none, of the environment. Their default side is that of the
/// program. Writes a message on stderr if one is invalid.
bool read_addresses(Options &options, std::vector<std::string> words)
{
    const char *const environment = std::getenv("OPENDOCA_CARD_ADDRESS");
    if (words.empty() && environment != nullptr) {
        std::istringstream all(environment);
        for (std::string word; std::getline(all, word, ',');)
            words.push_back(word);
    }
    for (const std::string &word : words) {
        std::string message;
        auto assigned = parse_assignment(word, options.side == "dpu" ? Side::dpu : Side::host, message);
        if (!assigned) {
            std::fprintf(stderr, "with_card: --address: %s\n", message.c_str());
            return false;
        }
        options.addresses.push_back(std::move(*assigned));
    }
    return true;
}

/// Checks the values of the options; writes a message on stderr if one is invalid.
bool check(const Options &options)
{
    if (!options.profile.empty() && find_profile(options.profile) == nullptr) {
        std::fprintf(stderr, "with_card: unknown profile '%s'; the profiles are %s\n", options.profile.c_str(),
                     profile_names().c_str());
        return false;
    }
    if (options.side != "host" && options.side != "dpu") {
        std::fprintf(stderr, "with_card: --side must be host or dpu, not '%s'\n", options.side.c_str());
        return false;
    }
    if (options.calls != "extended" && options.calls != "classic") {
        std::fprintf(stderr, "with_card: --calls must be extended or classic, not '%s'\n", options.calls.c_str());
        return false;
    }
    if (!options.card.empty() && !is_name(options.card)) {
        std::fprintf(stderr,
                     "with_card: a card's name has at most 32 letters, digits, '-', '_' and '.', and no '.' in front; "
                     "got '%s'\n",
                     options.card.c_str());
        return false;
    }
    return true;
}

} // namespace

std::optional<Options> parse_options(int argc, char **argv)
{
    Options options;
    std::vector<std::string> addresses;
    int i = 1;
    // Options end before the first other word, or after "--". The rest is the command, which is not parsed: its options
    // may have the same names.
    for (; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (!word.starts_with("-"))
            break;
        if (word == "--") {
            ++i;
            break;
        }
        if (word == "--help" || word == "-h") {
            options.is_help = true;
            return options;
        }
        if (word == "--version") {
            options.is_version = true;
            return options;
        }
        if (word == "--verbose") {
            options.is_verbose = true;
            continue;
        }
        // The remaining options have a value: "--name value" or "--name=value".
        const std::size_t equals = word.find('=');
        const std::string_view name = word.substr(0, equals);
        const bool has_value = equals != std::string_view::npos || i + 1 < argc;
        const bool is_known = name == "--profile" || name == "--side" || name == "--card" || name == "--calls" ||
                              name == "--fault" || name == "--address";
        if (!is_known || !has_value) {
            std::fprintf(stderr, is_known ? "with_card: %.*s needs a value\n" : "with_card: unknown option %.*s\n",
                         static_cast<int>(name.size()), name.data());
            return std::nullopt;
        }
        std::string value(equals != std::string_view::npos ? word.substr(equals + 1) : std::string_view(argv[++i]));
        if (name == "--profile")
            options.profile = std::move(value);
        else if (name == "--side")
            options.side = std::move(value);
        else if (name == "--card")
            options.card = std::move(value);
        else if (name == "--calls")
            options.calls = std::move(value);
        else if (name == "--address")
            addresses.push_back(std::move(value));
        else
            options.requests.push_back(std::move(value));
    }
    options.command = i;
    if (!check(options) || !read_addresses(options, addresses))
        return std::nullopt;
    // Without a command there must be a control line, since the call would have no effect otherwise.
    if (options.command == argc && options.requests.empty()) {
        std::fprintf(stderr, "usage: with_card [--profile NAME] [--side host|dpu] [--card NAME] COMMAND...\n");
        return std::nullopt;
    }
    return options;
}

void print_help()
{
    std::printf(
        "usage: with_card [--profile NAME] [--side host|dpu] [--card NAME] [--calls extended|classic]\n"
        "                 [--address ADDRESS]... [--fault LINE]... COMMAND...\n\n"
        "Runs a program on an mlx5 card that is made of software.\n\n"
        "  --profile NAME   model of the card: %s (default: bluefield-3)\n"
        "  --side SIDE      side of a card with a DPU that the program runs on (default: host)\n"
        "  --card NAME      name of the card: programs that give the same name share one card\n"
        "                   (default: the name of the profile)\n"
        "  --calls CALLS    classic: devices without ibv_create_cq_ex() and ibv_wr_start(), as with drivers that have\n"
        "                   only ibv_poll_cq() and ibv_post_send() (default: extended)\n"
        "  --address [SIDE/][mlx5_N=]ADDRESS\n"
        "                   IPv4 or IPv6 address of this machine at which a function sends and receives RoCE v2, for\n"
        "                   peers on other cards; the function is the first one of its side by default. For a card "
        "that\n"
        "                   starts now; also by OPENDOCA_CARD_ADDRESS, with commas between several\n"
        "  --fault LINE     requests a fault from the card before the program starts; without COMMAND, only "
        "the request is sent\n"
        "  --verbose        the card logs every command and request, if it starts now\n"
        "  --version        prints the release\n\nFaults:\n%.*s",
        profile_names().c_str(), static_cast<int>(control_help().size()), control_help().data());
}

} // namespace opendoca::card
