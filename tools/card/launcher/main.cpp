// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// with_card: runs a program on a card that is made of software.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../src/comm_channel/relay_wire.hpp"
#include "../wire.hpp"
#include "abilities.hpp"
#include "join.hpp"
#include "options.hpp"
#include "preload_path.hpp"

#include "core/release_number.hpp"

using namespace opendoca::card;
using opendoca::comm_channel::relay_prefix;

namespace {

constexpr int no_card = 125, not_executable = 126, not_found = 127; // exit statuses as those of env

/// Inserts a value in front of an environment variable's value.
void prepend(const char *variable, const std::string &value, char separator)
{
    const char *before = std::getenv(variable);
    const bool has_more = before != nullptr && *before != '\0';
    setenv(variable, (has_more ? value + separator + before : value).c_str(), 1);
}

/// Appends a value to an environment variable's value.
void append(const char *variable, const std::string &value, char separator)
{
    const char *before = std::getenv(variable);
    const bool has_more = before != nullptr && *before != '\0';
    setenv(variable, (has_more ? before + (separator + value) : value).c_str(), 1);
}

/// Returns the address that stands for the network between host and DPU: a loopback address that is derived from the
/// card's folder, so that each card has its own.
std::string network_of(const std::string &folder)
{
    const std::size_t number = std::hash<std::string>()(folder);
    char address[32];
    std::snprintf(address, sizeof(address), "127.%zu.%zu.%zu", 64 + number % 128, number / 128 % 256,
                  1 + number / 32768 % 254);
    return address;
}

/// Sets how programs of the card find services and exchange data with them. A program on another card, to which the
/// variables are of no use, may have started this one: its with_card has set those that name a relay.
void set_services(const Joined &card)
{
    constexpr const char *address_variable = "DOCA_COMM_CHANNEL_ADDRESS", *data_variable = "DOCA_COMM_CHANNEL_DATA";
    const auto has = [](const char *variable, const char *start) {
        const char *const value = std::getenv(variable);
        return value != nullptr && std::string_view(value).starts_with(start);
    };
    if (has(address_variable, relay_prefix)) {
        unsetenv(address_variable);
        if (has(data_variable, "stream"))
            unsetenv(data_variable);
    }
    // Services are found over the link, which carries their connections, or over the network between host and DPU.
    const std::string services = card.is_linked ? relay_prefix + services_folder(card.folder) : network_of(card.folder);
    if (card.has_dpu)
        setenv(address_variable, services.c_str(), 0);
    // The link does not carry packets between queue pairs, whatever the program's user prefers.
    if (card.is_linked && !card.has_address)
        setenv(data_variable, "stream", 1);
}

} // namespace

int main(int argc, char **argv)
{
    const auto options = parse_options(argc, argv);
    if (!options)
        return no_card;
    if (options->is_help) {
        print_help();
        return 0;
    }
    if (options->is_version) {
        std::puts("with_card (opendoca) " OPENDOCA_RELEASE);
        return 0;
    }
    const std::string preload = preload_library();
    if (preload.empty() || !check_kernel_features())
        return no_card;
    const Joined card = join_card(*options);
    if (!card.lease.is_open())
        return no_card;
    for (const std::string &line : options->requests) {
        const std::string reply = send_control_line(card.lease, line);
        std::fprintf(reply.starts_with("ok") ? stdout : stderr, "with_card: %s\n", reply.c_str());
        if (!reply.starts_with("ok"))
            return no_card;
    }
    if (options->command == argc)
        return 0;
    // The program and its children inherit the lease, which keeps the card running. A high number avoids conflicts with
    // programs that expect low ones.
    constexpr int first_high_descriptor = 200;
    if (fcntl(card.lease.get(), F_DUPFD, first_high_descriptor) < 0 && fcntl(card.lease.get(), F_DUPFD, 3) < 0) {
        std::fprintf(stderr, "with_card: cannot keep the connection to the card open: %s\n", std::strerror(errno));
        return no_card;
    }
    prepend("LD_PRELOAD", preload, ':');
    // AddressSanitizer refuses to run behind another preloaded library. This one passes calls on to the next library,
    // so it is safe.
    append("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
    // UCX and Open MPI overwrite the code of mmap() with a jump to their own, which would bypass the mapping of
    // doorbell pages.
    setenv("UCX_MEM_MMAP_HOOK_MODE", "none", 0);
    setenv("OMPI_MCA_memory", "^patcher", 0);
    setenv(side_variable, (card.folder + "/" + options->side).c_str(), 1);
    setenv(calls_variable, options->calls.c_str(), 1);
    setenv(control_variable, (card.folder + "/control").c_str(), 1);
    set_services(card);
    std::fflush(nullptr);
    execvp(argv[options->command], argv + options->command);
    const int error = errno;
    std::fprintf(stderr, "with_card: cannot run %s: %s\n", argv[options->command], std::strerror(error));
    return error == ENOENT ? not_found : not_executable;
}
