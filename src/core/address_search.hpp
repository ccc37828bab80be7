// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <mutex>
#include <string>

#include "fork.hpp"

namespace opendoca {

/// What a program has looked for among the elements of one list, by PCI address. Thread-safe.
class AddressSearch {
public:
    void note(const std::string &address, bool is_match)
    {
        const std::lock_guard guard(lock_);
        has_match_ = has_match_ || is_match;
        if (!has_match_)
            last_miss_ = address;
    }

    /// The address that was asked for last, if none was ever found; otherwise empty.
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
