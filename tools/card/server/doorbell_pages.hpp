// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The UAR pages of one process. A store to one wakes the card: the pages are write-protected by a
// userfaultfd, and the first store after a pause faults. While stores go on the pages are open, and the card
// looks at the doorbell records again and again. After a pause it protects the pages and looks once more: a
// store before the protection is seen by that look, a later one faults.
#pragma once

#include <cstdint>
#include <vector>

#include "../../../src/core/unique_fd.hpp"

namespace opendoca::card {

class Process;

class DoorbellPages {
public:
    /// A page of the process. An address that comes again replaces what was there: munmap is not seen.
    void add(std::uint64_t address, std::uint64_t length);
    void set_traps(UniqueFd userfaultfd);
    void clear();

    [[nodiscard]] int traps_fd() const { return traps_.get(); }
    /// Stores are not seen: the process has to be looked at from time to time.
    [[nodiscard]] bool needs_polling() const
    {
        return has_untrapped_ || (!pages_.empty() && !traps_.is_open());
    }
    /// Stores go unnoticed until the pages are protected again.
    [[nodiscard]] bool are_open() const { return traps_.is_open() && !is_protected_ && !pages_.empty(); }

    /// Takes the faults that have come and opens the pages. False where there was none.
    bool take_faults(const Process &process, std::uint64_t now);
    /// Protects the pages, unless the store that faulted has still to be made.
    bool try_protect(const Process &process, std::uint64_t now);

private:
    struct Page {
        std::uint64_t address, length;
    };
    void protect(bool on);
    [[nodiscard]] std::uint64_t content(const Process &process) const;

    std::vector<Page> pages_;
    UniqueFd traps_;
    bool is_protected_ = false;
    bool has_untrapped_ = false;
    bool has_faulted_ = false;
    std::uint64_t opened_at_ = 0;
    std::uint64_t content_at_fault_ = 0;
};

} // namespace opendoca::card
