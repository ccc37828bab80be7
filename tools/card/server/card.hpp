// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "faults.hpp"
#include "object_table.hpp"
#include "pinned_memory.hpp"
#include "profile.hpp"

namespace opendoca::card {

class Card;

/// Nanoseconds of the card's clock. Completions are stamped with it.
std::uint64_t now_ns();

struct Function {
    FunctionProfile profile;
    std::uint32_t number; ///< N of uverbsN, on its side
    bool is_port_up = true;
    bool is_dead = false;   ///< after a fatal event
    bool is_silent = false; ///< vanished from the wire, and nobody was told
};

/// An open uverbs file. It ends when the program has closed its last descriptor of it, however it did.
class OpenFile {
public:
    static constexpr std::uint32_t most_objects = 1 << 18;
    static constexpr std::size_t most_pipes = 1024;

    OpenFile(Card &its_card, Function &its_function, UniqueFd its_socket)
        : card(its_card),
          function(its_function),
          socket(std::move(its_socket))
    {
    }

    /// Tells the program of an event; counts it where it could.
    void send_event(std::uint64_t element, std::uint32_t type, std::uint32_t *counter = nullptr) const;
    /// Takes back those events of `element` that the program has not got: how many of `sent` it got.
    [[nodiscard]] std::uint32_t delivered_events(std::uint64_t element, std::uint32_t sent) const;

    Card &card;
    Function &function;
    UniqueFd socket;
    std::uint32_t objects = 0;
    DoorbellRecordPages record_pages;
    std::shared_ptr<EventPipe> events;                ///< the asynchronous ones
    std::vector<std::shared_ptr<EventPipe>> channels; ///< of completions
    std::vector<std::shared_ptr<Process>> processes;  ///< that have spoken through it
};

class Card {
public:
    explicit Card(const Profile &its_profile);
    ~Card();

    /// The process of that number now. Null where there is none.
    std::shared_ptr<Process> process(pid_t pid);
    OpenFile &open(Function &function, UniqueFd socket);
    /// Ends all that the file has.
    void close(OpenFile &file);
    [[nodiscard]] Function *function(Side side, std::uint32_t number);
    [[nodiscard]] Function *function_of_vhca(std::uint32_t vhca_id);

    void set_port(Function &function, bool is_up);
    void kill_function(Function &function);
    /// Looks at the queues of all processes at the next turn.
    void look_at_all();

    const Profile &profile;
    std::vector<Function> functions;
    ObjectTable objects;
    KeyTable keys;
    Faults faults;
    std::list<OpenFile> files;
    std::vector<std::shared_ptr<Process>> processes;
    std::vector<CompletionQueue *> late_queues;      ///< that hold completions back
    std::vector<CompletionQueue *> moderated_queues; ///< that hold an event back
    bool is_verbose = false;
    // What was done, for those who want to know by what it was.
    std::uint64_t dma_copies = 0;
    mutable std::uint64_t alias_uses = 0; ///< ranges of memory that were found by an alias
    std::uint64_t messages = 0; ///< that have met a receive of another queue pair
    std::uint64_t message_bytes = 0;
    std::uint64_t remote_accesses = 0; ///< reads, writes and atomics that have ended
};

} // namespace opendoca::card
