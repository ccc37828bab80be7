// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <mutex>
#include <string>

#include "../process/fork.hpp"

namespace opendoca {

/// The record of a program's search for a PCI address among the elements of one list. Shared by the elements of the
/// list; thread-safe.
class AddressSearch {
public:
    /// Records a comparison. After a match, nothing more is recorded: the search was successful.
    void note(const std::string &address, bool is_match)
    {
        const std::lock_guard guard(lock_);
        has_match_ = has_match_ || is_match;
        if (!has_match_)
            last_miss_ = address;
    }

    /// Returns the address that was compared last if no comparison was successful; otherwise an empty string.
    [[nodiscard]] std::string missed() const
    {
        const std::lock_guard guard(lock_);
        return has_match_ ? std::string() : last_miss_;
    }

private:
    mutable ObjectMutex lock_;
    std::string last_miss_;
    bool has_match_ = false;
};

} // namespace opendoca
