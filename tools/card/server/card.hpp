// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event_subscriptions.hpp"
#include "faults.hpp"
#include "object_table.hpp"
#include "pinned_memory.hpp"
#include "profile.hpp"

namespace opendoca::card {

class Card;
class ConnectionManager;
class Link;
class Network;

/// Returns the time of the card's clock in nanoseconds (CLOCK_MONOTONIC). Completions carry it as their timestamp.
std::uint64_t now_ns();

/// A PCI function or subfunction of the card, as programs see it. Owned by Card, and lives as long as the card, so open
/// files refer to it directly. Only control lines change its state; a function that is dead stays dead.
struct Function {
    FunctionProfile profile;
    std::uint32_t number; ///< N of uverbsN, counted on its side
    bool is_port_up = true;
    bool is_dead = false;        ///< set by a device fatal event, for ever
    PageTable memory = {};       ///< the function's own memory, and the objects that have it
    XrcFiles xrc_files = {};     ///< the domains of XRC that programs share
    bool is_unreachable = false; ///< requested fault: unreachable on the wire, without any event
    bool is_present = true;      ///< false: of the other side of the card, which is not linked
};

/// An open uverbs file: one connection of the preloaded library. It owns (through ObjectTable) all objects that were
/// created by it, and ends when the program has closed its last descriptor of the connection, by whatever means.
/// Several processes may use one file (after fork or SCM_RIGHTS). Used by the event loop's thread only.
class OpenFile {
public:
    /// Limits for one file, so that no program can exhaust the card's memory.
    static constexpr std::uint32_t max_objects = 1 << 18;
    static constexpr std::size_t max_pipes = 1024;

    OpenFile(Card &its_card, Function &its_function, UniqueFd its_socket);

    /// Writes an asynchronous event to the program's event file. Increments `counter` if it was written.
    void send_event(std::uint64_t element, std::uint32_t type, std::uint32_t *counter = nullptr) const;
    /// Removes the events of `element` that the program has not read yet. Returns how many of `sent` events the program
    /// has read, which the destroy commands report.
    [[nodiscard]] std::uint32_t delivered_events(std::uint64_t element, std::uint32_t sent) const;

    Card &card;
    Function &function;
    UniqueFd socket;
    std::uint32_t objects = 0; ///< number of objects of the file, which ObjectTable counts
    DoorbellRecordPages record_pages;
    std::shared_ptr<EventPipe> events;                ///< asynchronous event file; null before the program creates it
    std::vector<std::shared_ptr<EventPipe>> channels; ///< completion channels
    EventSubscriptions subscriptions;                 ///< events of DEVX
    std::vector<std::shared_ptr<Process>> processes;  ///< processes that have sent a request by this file
};

/// The state of one card: its functions, objects, keys, requested faults, open files and client processes. Owned by the
/// server's process. All of it belongs to the event loop's thread; nothing here locks.
class Card {
public:
    /// @p only_side is the side that this process serves if the other side has a card process of its own.
    explicit Card(const Profile &its_profile, std::optional<Side> only_side = std::nullopt);
    ~Card();

    /// Returns the live process with this number, and starts tracking it at first. Returns null if there is none.
    std::shared_ptr<Process> process(pid_t pid);
    /// Adds an open file for a new connection.
    OpenFile &open(Function &function, UniqueFd socket);
    /// Destroys all objects of the file, and the file.
    void close(OpenFile &file);
    /// Returns a function by its side and uverbs number, or null.
    [[nodiscard]] Function *function(Side side, std::uint32_t number);
    /// Returns the function with this VHCA id, or null.
    [[nodiscard]] Function *function_of_vhca(std::uint32_t vhca_id);

    /// Changes the state of the port, and sends the port event to every open file of the function. No effect if the
    /// state is the same.
    void set_port(Function &function, bool is_up);
    /// Puts the function into its fatal state, and sends a device fatal event to every open file of the function.
    void kill_function(Function &function);
    /// Requests a poll of the queues of every process in the next iteration. Needed after a change that may unblock
    /// requests of other processes.
    void request_polls();

    /// Returns whether the function is served by the card process of the other side.
    [[nodiscard]] bool is_elsewhere(const Function &function) const
    {
        return own_side && function.profile.side != *own_side;
    }
    /// Returns whether programs of a side find their functions here.
    [[nodiscard]] bool serves(Side which) const
    {
        return own_side ? which == *own_side : which == Side::host || profile.has_dpu;
    }

    /// Returns the GUID of a function.
    [[nodiscard]] std::uint64_t guid_of(const FunctionProfile &function) const { return guid | function.vhca_id; }

    const Profile &profile;
    const std::optional<Side> own_side;      ///< the only side that is here; nothing: both are
    std::uint64_t guid = Profile::guid_base; ///< system image GUID; not changed once the card serves programs
    std::vector<Function> functions;         ///< never changed after construction, so references to elements stay valid
    ObjectTable objects;
    KeyTable keys;
    Faults faults;
    std::unique_ptr<Network> network;               ///< null if no function has an address
    std::unique_ptr<Link> link;                     ///< null unless the other side has a card process of its own
    std::unique_ptr<ConnectionManager> connections; ///< never null
    std::list<OpenFile> files; ///< a list, since objects and event handlers keep references to its elements
    std::vector<std::shared_ptr<Process>> processes;
    std::vector<CompletionQueue *> delayed_queues;   ///< completion queues with completions that a fault delays
    std::vector<CompletionQueue *> moderated_queues; ///< completion queues with an event that moderation delays
    WaitingChannels waiting_channels;                ///< channels of DEVX events that have no room
    EventfdSignals eventfd_signals;
    std::string folder; ///< contains the files of sysfs on both sides; empty until they are written
    bool is_verbose = false;
    // Counters of the `status` request, which tests use to check by which path data went.
    std::uint64_t dma_copies = 0;
    mutable std::uint64_t alias_uses = 0; ///< memory ranges that were resolved through an alias key
    std::uint64_t messages = 0;           ///< messages that were matched with a receive request of another queue pair
    std::uint64_t message_bytes = 0;
    std::uint64_t remote_accesses = 0; ///< RDMA reads, writes and atomics that have completed
};

} // namespace opendoca::card
