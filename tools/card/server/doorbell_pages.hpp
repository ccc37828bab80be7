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

/// Owned by Process. Used by the event loop's thread only.
class DoorbellPages {
public:
    /// Adds a page. A known address is replaced, since munmap() of the old page is not visible to the card.
    void add(std::uint64_t address, std::uint64_t length);
    /// Takes over the userfaultfd of the process's current memory (exec and fork create a new one), and drops all
    /// pages.
    void set_traps(UniqueFd userfaultfd);
    /// Drops all pages and the userfaultfd.
    void clear();

    [[nodiscard]] int traps_fd() const { return traps_.get(); }
    /// Returns whether stores to some pages go unnoticed, so that the process must be polled at intervals.
    [[nodiscard]] bool needs_polling() const { return has_untrapped_ || (!pages_.empty() && !traps_.is_open()); }
    /// Returns whether the pages are writable, so that the process must be polled until they are protected again.
    [[nodiscard]] bool are_open() const { return traps_.is_open() && !is_protected_ && !pages_.empty(); }

    /// Reads all pending faults and makes the pages writable, which resumes the faulting thread. Returns false if there
    /// was none.
    bool take_faults(const Process &process, std::uint64_t now);
    /// Protects the pages. Returns false, and leaves them writable, if the faulting thread has not repeated its store
    /// yet.
    bool try_protect(const Process &process, std::uint64_t now);

private:
    struct Page {
        std::uint64_t address, length;
    };
    /// Changes the protection of all pages, and drops those that were unmapped.
    void protect(bool on);
    /// Returns a hash of the doorbell words, which changes when a store is made.
    [[nodiscard]] std::uint64_t content(const Process &process) const;

    std::vector<Page> pages_;
    UniqueFd traps_;
    bool is_protected_ = false;
    // Set if a page cannot be protected: too many pages, or a kernel without support.
    bool has_untrapped_ = false;
    bool has_faulted_ = false;
    std::uint64_t opened_at_ = 0;
    std::uint64_t content_at_fault_ = 0;
};

} // namespace opendoca::card
