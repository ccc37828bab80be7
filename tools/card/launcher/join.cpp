// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "join.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "../server/addresses.hpp"
#include "../server/link.hpp"
#include "../server/server.hpp"
#include "../server/sysfs.hpp"
#include "folder.hpp"

namespace opendoca::card {

namespace {

/// Connects to the control socket of a card. The result is not open if no card runs there.
UniqueFd connect_to(const std::string &folder)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder + "/control";
    UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!socket.is_open() || path.size() >= sizeof(address.sun_path))
        return {};
    std::strcpy(address.sun_path, path.c_str());
    if (connect(socket.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) != 0)
        return {};
    return socket;
}

Side side_of(const Options &options)
{
    return options.side == "dpu" ? Side::dpu : Side::host;
}

/// Starts the link to the other side, if there is to be one. Returns false, with a message on stderr, if it cannot.
bool start_link(Card &card, const std::string &folder, const Options &options)
{
    if (!options.link)
        return true;
    std::string message;
    try {
        LinkSettings settings = *options.link;
        settings.services = services_folder(folder);
        card.link = std::make_unique<Link>(card, std::move(settings));
        if (card.link->start(message))
            return true;
    } catch (const std::system_error &error) {
        message = error.code().message();
    }
    std::fprintf(stderr, "with_card: --link: %s\n", message.c_str());
    return false;
}

/// Turns this process into the card's, and exits with it. Writes a byte to `ready` once programs can connect.
[[noreturn]] void run_card_process(const Profile &profile, const std::string &folder, const Options &options,
                                   const UniqueFd &ready)
{
    // In a session of its own, the card does not get signals of the program's terminal.
    setsid();
    // Closes everything but stderr and `ready`: an inherited lock belongs to the launcher, and an inherited pipe of the
    // program would stay open as long as the card runs.
    constexpr int ready_fd = 3, messages_fd = 4;
    if (dup2(fcntl(ready.get(), F_DUPFD, messages_fd + 1), ready_fd) != ready_fd ||
        dup2(STDERR_FILENO, messages_fd) != messages_fd || close_range(messages_fd + 1, ~0u, 0) != 0)
        std::_Exit(1);
    const int nothing = open("/dev/null", O_RDWR),
              log = open((folder + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    // The card must not keep the program's working directory in use.
    if (chdir("/") != 0)
        std::_Exit(1);
    {
        Card card(profile, options.link ? std::optional(side_of(options)) : std::nullopt);
        card.is_verbose = options.is_verbose;
        Server server(card, folder);
        if (options.link)
            distinguish_linked(card, options.link->common_name());
        if (!assign(card, options.addresses) || !write_sysfs(card, folder) || !start_link(card, folder, options) ||
            !server.listen())
            std::_Exit(1);
        // Errors up to here are printed on the program's stderr; later ones go to the log.
        dup2(log >= 0 ? log : nothing, STDERR_FILENO);
        const char is_ready = 1;
        if (write(ready_fd, &is_ready, sizeof(is_ready)) != sizeof(is_ready))
            std::_Exit(1);
        close_range(ready_fd, messages_fd, 0);
        server.run();
    }
#ifdef __SANITIZE_ADDRESS__
    std::exit(0); // which reports memory leaks
#else
    std::_Exit(0);
#endif
}

/// Starts the card's process, and blocks until it serves.
bool start_card(const Profile &profile, const std::string &folder, const Options &options)
{
    std::error_code error;
    std::filesystem::remove_all(folder, error); // left over from a card that was killed
    if (mkdir(folder.c_str(), 0700) != 0) {
        std::fprintf(stderr, "with_card: cannot create the folder %s: %s\n", folder.c_str(), std::strerror(errno));
        return false;
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    const UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    // Buffered output would be written twice after the fork.
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        // The second fork makes the card a child of init, so that the program need not wait for it.
        if (fork() == 0)
            run_card_process(profile, folder, options, write_end);
        std::_Exit(0);
    }
    // With the only other write end in the card's process, read() returns 0 if that process exits early.
    write_end.reset();
    char is_ready = 0;
    return child > 0 && read(read_end.get(), &is_ready, sizeof(is_ready)) == sizeof(is_ready);
}

/// Takes the lock of a card's folder. A card that ends removes the lock file, so a lock that was obtained on a removed
/// file is taken again.
UniqueFd take_lock(const std::string &name)
{
    for (;;) {
        UniqueFd lock(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        struct stat locked {
        }, named{};
        if (!lock.is_open() || flock(lock.get(), LOCK_EX) != 0 || fstat(lock.get(), &locked) != 0)
            return {};
        if (stat(name.c_str(), &named) == 0 && named.st_ino == locked.st_ino && named.st_dev == locked.st_dev)
            return lock;
    }
}

/// Returns the value of a field of a status line, or "".
std::string field_of(const std::string &status, std::string_view name)
{
    const std::string before = std::string(1, ' ').append(name).append(1, ' ');
    const std::size_t at = status.starts_with("ok ") ? status.find(before) : std::string::npos;
    if (at == std::string::npos)
        return {};
    const std::size_t start = at + before.size();
    return status.substr(start, status.find(' ', start) - start);
}

/// Returns whether the running card has an address, given its list in the form of describe_addresses().
bool has_address(const std::string &list, const AssignedAddress &wanted)
{
    std::istringstream all(list);
    const std::string side = wanted.side == Side::host ? "host/" : "dpu/";
    const std::string address = std::string(1, '=').append(wanted.address.text());
    for (std::string word; std::getline(all, word, ',');) {
        if (wanted.device.empty() ? word.starts_with(side) && word.ends_with(address)
                                  : word == side + wanted.device + address)
            return true;
    }
    return false;
}

/// Returns why a running card is not the one that the options describe, or "".
std::string reason_against(const std::string &status, const Options &options)
{
    const std::string running = field_of(status, "profile");
    // A shared card keeps the profile that it was started with.
    if (!options.profile.empty() && running != options.profile)
        return "runs as " + running + ", not as " + options.profile;
    // It keeps its addresses as well.
    for (const AssignedAddress &wanted : options.addresses) {
        const std::string addresses = field_of(status, "addresses");
        if (!has_address(addresses, wanted))
            return "runs already, without the address " + wanted.address.text() + "; it has " +
                   (addresses == "-" ? "none" : addresses);
    }
    const std::string link = field_of(status, "link"), side = field_of(status, "side");
    if (options.link && link != options.link->address.text())
        return "runs already, with " + (link.empty() ? "no link" : "the link " + link) + ", not with " +
               options.link->address.text();
    if (const std::string peer = field_of(status, "link-peer"); options.link && peer != options.link->peer_text())
        return "runs already, with the peer " + peer + " of its link, not with " + options.link->peer_text();
    if (!side.empty() && side != options.side)
        return "has the side '" + side + "' only; the side '" + options.side + "' is at the other end of its link";
    return {};
}

} // namespace

std::string services_folder(const std::string &folder)
{
    return folder + "/services";
}

std::string send_control_line(const UniqueFd &lease, const std::string &line)
{
    if (send(lease.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
        return "error: the card has ended";
    const ssize_t bytes = recv(lease.get(), nullptr, 0, MSG_PEEK | MSG_TRUNC); // the length of the message
    std::string reply(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)), '\0');
    return bytes <= 0 || recv(lease.get(), reply.data(), reply.size(), 0) != bytes ? "error: the card has ended"
                                                                                   : reply;
}

Joined join_card(const Options &options)
{
    constexpr const char *default_profile = "bluefield-3";
    const std::string profile_name = options.profile.empty() ? default_profile : options.profile;
    const std::string name = !options.card.empty() ? options.card
                             : options.link        ? profile_name + "-" + options.side
                                                   : profile_name;
    if (options.link && !find_profile(profile_name)->has_dpu) {
        std::fprintf(stderr, "with_card: --link: a %s has no DPU, so it has one side only\n", profile_name.c_str());
        return {};
    }
    const std::string base = cards_folder();
    if (base.empty())
        return {};
    const std::string folder = base + "/" + name;
    // Held until this function returns: only one launcher starts the card, and a running card cannot end meanwhile.
    const UniqueFd lock = take_lock(folder + ".lock");
    if (!lock.is_open()) {
        std::fprintf(stderr, "with_card: cannot lock %s.lock: %s\n", folder.c_str(), std::strerror(errno));
        return {};
    }
    Joined joined{connect_to(folder), folder};
    std::string status = joined.lease.is_open() ? send_control_line(joined.lease, "status") : "";
    std::string running = field_of(status, "profile");
    if (running.empty()) {
        if (!start_card(*find_profile(profile_name), folder, options))
            return {};
        joined.lease = connect_to(folder);
        status = joined.lease.is_open() ? send_control_line(joined.lease, "status") : "";
        running = field_of(status, "profile");
    }
    if (running.empty()) {
        std::fprintf(stderr, "with_card: card '%s' does not respond; see %s/log\n", name.c_str(), folder.c_str());
        return {};
    }
    if (const std::string reason = reason_against(status, options); !reason.empty()) {
        std::fprintf(stderr, "with_card: card '%s' %s\n", name.c_str(), reason.c_str());
        return {};
    }
    const Profile *const profile = find_profile(running);
    if (profile == nullptr) {
        std::fprintf(stderr, "with_card: card '%s' runs as %s, an unknown profile to this release\n", name.c_str(),
                     running.c_str());
        return {};
    }
    joined.has_dpu = profile->has_dpu;
    joined.has_address = field_of(status, "addresses") != "-";
    joined.is_linked = !field_of(status, "link").empty();
    if (options.side == "dpu" && !joined.has_dpu) {
        std::fprintf(stderr, "with_card: a %s has no DPU\n", running.c_str());
        return {};
    }
    return joined;
}

} // namespace opendoca::card
