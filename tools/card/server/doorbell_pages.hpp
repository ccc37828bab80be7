// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The UAR pages (doorbell pages) of one process. An idle process costs nothing: its pages are write-protected by a
// userfaultfd, so the first store after a pause faults and wakes the card. While the process is active its pages stay
// writable and the card polls the doorbell records. After a pause the card protects the pages and polls once more: that
// poll sees every store from before the protection, and every later store faults.
#pragma once

#include <cstdint>
#include <vector>

#include "../../../src/core/base/unique_fd.hpp"

namespace opendoca::card {

class Process;

/// The UAR pages of a process, and their write protection. Owned by Process; used by the event loop's thread only.
/// Invariant: with a userfaultfd, either all pages are protected or all are writable, and the process is polled while
/// they are writable. Pages that cannot be protected make needs_polling() true instead.
class DoorbellPages {
public:
    /// Adds a page. A known address is replaced, since munmap() of the old page is not visible to the card.
    void add(std::uint64_t address, std::uint64_t length);
    /// Takes over the userfaultfd of the process's current memory (exec and fork create a new one), and drops all
    /// pages.
    void set_userfaultfd(UniqueFd userfaultfd);
    /// Drops all pages and the userfaultfd.
    void clear();

    /// Returns the descriptor that becomes readable when a store to a protected page faults; -1 without one.
    [[nodiscard]] int userfaultfd() const { return userfaultfd_.get(); }
    /// Returns whether stores to some pages cause no fault, so that the process must be polled at intervals.
    [[nodiscard]] bool needs_polling() const
    {
        return has_unprotected_ || (!pages_.empty() && !userfaultfd_.is_open());
    }
    /// Returns whether the pages are writable, so that the process must be polled until they are protected again.
    [[nodiscard]] bool are_open() const { return userfaultfd_.is_open() && !is_protected_ && !pages_.empty(); }

    /// Reads all pending faults and makes the pages writable, which resumes the faulting thread. Returns false if there
    /// was none.
    bool take_faults(const Process &process, std::uint64_t now);
    /// Protects the pages. Returns false, and leaves them writable, if the faulting thread has not repeated its store
    /// yet.
    bool try_protect(const Process &process, std::uint64_t now);

private:
    struct Page {
        std::uint64_t address, length; // in the process; length in bytes
    };
    /// Changes the protection of all pages, and drops those that were unmapped.
    void protect(bool on);
    /// Returns a hash of the doorbell words, which changes when a store is made.
    [[nodiscard]] std::uint64_t content(const Process &process) const;

    std::vector<Page> pages_;
    UniqueFd userfaultfd_;
    bool is_protected_ = false;
    // Set if a page cannot be protected: too many pages, or a kernel without support.
    bool has_unprotected_ = false;
    bool has_faulted_ = false;           // a thread has faulted, and may not have repeated its store yet
    std::uint64_t opened_at_ = 0;        // time of the last fault, in ns
    std::uint64_t content_at_fault_ = 0; // content() before the faulting store
};

} // namespace opendoca::card
