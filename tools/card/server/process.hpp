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

#include "../../../src/core/base/unique_fd.hpp"
#include "doorbell_pages.hpp"

namespace opendoca::card {

struct QueuePair;
struct CompletionQueue;

/// Result of an access to a program's memory. A transfer that fails may have copied its first bytes.
enum class Access : std::uint8_t {
    done,
    fault, ///< the program has no such memory, or not with this protection
    gone,  ///< the program is dead or dying; on the wire this means no response
};

/// A client process: its memory, its doorbell pages and its queues. It stands for the process that had this number when
/// the object was created (held by a pidfd), never for a later process with the same number. Shared by the card, the
/// open files and all objects in its memory; used by the event loop's thread only.
class Process {
public:
    /// Opens a process. Returns null, with errno, if there is none.
    static std::shared_ptr<Process> open(pid_t pid);

    /// Copies from, or to, the memory of the process.
    [[nodiscard]] Access read(std::uint64_t from, void *to, std::size_t length) const;
    [[nodiscard]] Access write(std::uint64_t to, const void *from, std::size_t length) const;

    /// Bytes to write, and their address in the process.
    struct Part {
        std::uint64_t address;
        std::span<std::uint8_t> bytes;
    };
    /// Writes one part or two such that the process sees the first before the second. The order within a part is
    /// undefined.
    [[nodiscard]] Access write_in_order(std::initializer_list<Part> parts) const;
    /// Reads pieces of `piece` bytes at the addresses `from` into `to`, one after the other. A piece that cannot be
    /// read is set to zero, with false at its place in `is_read`.
    void read_pieces(std::span<const std::uint64_t> from, std::size_t piece, std::uint8_t *to,
                     std::span<bool> is_read) const;

    [[nodiscard]] pid_t pid() const { return pid_; }
    /// Returns a descriptor (pidfd) that becomes readable when the process is dead.
    [[nodiscard]] int death_fd() const { return pidfd_.get(); }
    [[nodiscard]] bool is_dead() const;
    /// Returns whether the main thread has this capability (CAP_*) in effect, in any user namespace.
    [[nodiscard]] bool has_capability(unsigned number) const;

    DoorbellPages doorbells;
    /// Queues of the process; their doorbell records are read in each poll.
    std::vector<QueuePair *> queue_pairs;
    std::vector<CompletionQueue *> completion_queues;
    bool needs_poll = false;        ///< poll once more, whatever the doorbell pages show
    bool is_waiting = false;        ///< one of its requests waits for a peer, or a queue pair is broken
    std::uint64_t pinned_pages = 0; ///< sum of its PinnedMemory objects

private:
    Process(pid_t pid, UniqueFd pidfd, UniqueFd memory);
    /// Decides from errno and the state of the process why a transfer failed.
    [[nodiscard]] Access failure() const;
    /// Transfers between local and remote ranges by process_vm_readv/writev, or by /proc/PID/mem if those are refused.
    [[nodiscard]] ssize_t transfer(bool is_write, std::span<const iovec> local, std::span<const iovec> remote) const;

    pid_t pid_;
    UniqueFd pidfd_;
    UniqueFd memory_; ///< /proc/PID/mem: bound to this process for ever, used if process_vm_readv is refused
    mutable bool uses_file_ = false; ///< set once process_vm_readv was refused; stays set
};

} // namespace opendoca::card
