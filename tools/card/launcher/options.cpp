// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>

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

/// Parses the address of the link, the user at its other end and the file of its key. Writes a message on stderr if one
/// is invalid.
bool read_link(Options &options, const std::string &address, const std::string &user, const std::string &key)
{
    if (address.empty() && user.empty() && key.empty())
        return true;
    std::string message = user.empty() ? "--key is for --link tls:ADDRESS:PORT" : "--link-user is for --link unix:PATH";
    std::optional<LinkAddress> parsed = address.empty() ? std::nullopt : LinkAddress::parse(address, message);
    if (!parsed || (!user.empty() && parsed->kind != LinkAddress::Kind::local)) {
        std::fprintf(stderr, "with_card: --link: %s\n", message.c_str());
        return false;
    }
    const bool has_tls = parsed->kind == LinkAddress::Kind::tls;
    if (has_tls != !key.empty()) {
        std::fprintf(stderr, "with_card: --key FILE belongs to --link tls:ADDRESS:PORT, which needs it\n");
        return false;
    }
    options.link = LinkSettings{std::move(*parsed), std::nullopt, std::nullopt};
    if (has_tls && !(options.link->key = LinkKey::read(key, message))) {
        std::fprintf(stderr, "with_card: --key: %s\n", message.c_str());
        return false;
    }
    if (!user.empty()) {
        uid_t number = 0;
        const auto [end, error] = std::from_chars(user.data(), user.data() + user.size(), number);
        if (error != std::errc{} || end != user.data() + user.size()) {
            std::fprintf(stderr, "with_card: --link-user must be the number of a user, not '%s'\n", user.c_str());
            return false;
        }
        options.link->user = number;
    }
    const Side side = options.side == "dpu" ? Side::dpu : Side::host;
    if (std::ranges::any_of(options.addresses, [&](const AssignedAddress &other) { return other.side != side; })) {
        std::fprintf(stderr, "with_card: --address: with --link, functions of the other side are not here\n");
        return false;
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
    std::string link, link_user, key;
    const std::map<std::string_view, std::string *> values = {{"--profile", &options.profile},
                                                              {"--side", &options.side},
                                                              {"--card", &options.card},
                                                              {"--calls", &options.calls},
                                                              {"--link", &link},
                                                              {"--link-user", &link_user},
                                                              {"--key", &key}};
    const std::map<std::string_view, std::vector<std::string> *> lists = {{"--address", &addresses},
                                                                          {"--fault", &options.requests}};
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
        const auto one = values.find(name);
        const auto several = lists.find(name);
        const bool is_known = one != values.end() || several != lists.end();
        if (!is_known || !has_value) {
            std::fprintf(stderr, is_known ? "with_card: %.*s needs a value\n" : "with_card: unknown option %.*s\n",
                         static_cast<int>(name.size()), name.data());
            return std::nullopt;
        }
        std::string value(equals != std::string_view::npos ? word.substr(equals + 1) : std::string_view(argv[++i]));
        if (one != values.end())
            *one->second = std::move(value);
        else
            several->second->push_back(std::move(value));
    }
    options.command = i;
    if (!check(options) || !read_addresses(options, addresses) || !read_link(options, link, link_user, key))
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
        "                 [--address ADDRESS]... [--link ADDRESS [--link-user UID|--key FILE]] [--fault LINE]...\n"
        "                 COMMAND...\n\n"
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
        "  --link unix:PATH, --link tls:ADDRESS:PORT, --link tcp:ADDRESS:PORT\n"
        "                   this card process has SIDE only, and the other side has one of its own at another place; "
        "the\n"
        "                   DPU's side listens there, and the host's side connects. tcp: at loopback addresses. "
        "The\n"
        "                   default of --card is then the name of the profile and the side\n"
        "  --key FILE       for tls: the key, a file of 16 bytes or more that no other user can access\n"
        "  --link-user UID  user of the other side's card, if it is another one than that of this side\n"
        "  --fault LINE     requests a fault from the card before the program starts; without COMMAND, only "
        "the request is sent\n"
        "  --verbose        the card logs every command and request, if it starts now\n"
        "  --version        prints the release\n\nFaults:\n%.*s",
        profile_names().c_str(), static_cast<int>(control_help().size()), control_help().data());
}

} // namespace opendoca::card
