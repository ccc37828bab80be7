// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include <sys/types.h>
#include <sys/uio.h>

#include "../../../src/core/unique_fd.hpp"
#include "doorbell_pages.hpp"

namespace opendoca::card {

struct QueuePair;
struct CompletionQueue;

/// How an access to a program's memory ended.
enum class Access : std::uint8_t {
    done,
    fault, ///< the program has no such memory
    gone,  ///< the program is dead or dying, which on a wire is no answer
};

/// A client process: its memory and its doorbell pages. It is what `pid` was when it first spoke, and no
/// later process of that number.
class Process {
public:
    /// Null where there is no such process. errno says why.
    static std::shared_ptr<Process> open(pid_t pid);

    [[nodiscard]] Access read(std::uint64_t from, void *to, std::size_t length) const;
    [[nodiscard]] Access write(std::uint64_t to, const void *from, std::size_t length) const;

    /// Bytes of the process, and ours.
    struct Part {
        std::uint64_t address;
        std::span<std::uint8_t> bytes;
    };
    // One part or two, in their order: the bytes of one part are not ordered, parts are.
    [[nodiscard]] Access write_in_order(std::initializer_list<Part> parts) const;
    /// Reads pieces of `piece` bytes into `to`, one after the other. Those that cannot be read are set to
    /// zero, and their place in `is_read` to false.
    void read_pieces(std::span<const std::uint64_t> from, std::size_t piece, std::uint8_t *to,
                     std::span<bool> is_read) const;

    [[nodiscard]] pid_t pid() const { return pid_; }
    /// Readable once the process is dead.
    [[nodiscard]] int death_fd() const { return pidfd_.get(); }
    [[nodiscard]] bool is_dead() const;
    /// Whether its main thread has this capability (CAP_*) in effect, in whichever user namespace it is.
    [[nodiscard]] bool has_capability(unsigned number) const;

    DoorbellPages doorbells;
    /// Queues whose doorbell records are read when a doorbell rings.
    std::vector<QueuePair *> queue_pairs;
    std::vector<CompletionQueue *> completion_queues;
    bool has_news = false;   ///< to be looked at whatever its doorbell pages say
    bool is_waiting = false; ///< a request of it waits for a peer
    std::uint64_t pinned_pages = 0; ///< what all its PinnedMemory holds

private:
    Process(pid_t pid, UniqueFd pidfd, UniqueFd memory);
    [[nodiscard]] Access failure() const;
    [[nodiscard]] ssize_t transfer(bool is_write, std::span<const iovec> local,
                                   std::span<const iovec> remote) const;

    pid_t pid_;
    UniqueFd pidfd_;
    UniqueFd memory_; ///< /proc/PID/mem: where process_vm_readv is refused, and for ever this process's
    mutable bool uses_file_ = false;
};

} // namespace opendoca::card
