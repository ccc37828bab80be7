// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "deferred_log.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

namespace opendoca {

constinit thread_local DeferredLog *DeferredLog::current_ = nullptr;

/// A copy of a collected LogLine: the original text is destroyed when the call that has logged it returns.
struct DeferredLog::Line {
    std::string text;
    std::uint32_t level;
    std::size_t time_size;
    Line *next = nullptr;
};

bool DeferredLog::keep(const LogLine &line) noexcept
{
    return guarded([&] {
               auto *const kept = new Line{std::string(line.text), line.level, line.time_size};
               (last_ != nullptr ? last_->next : first_) = kept;
               last_ = kept;
               return DOCA_SUCCESS;
           }) == DOCA_SUCCESS;
}

void DeferredLog::discard() noexcept
{
    last_ = nullptr;
    while (first_ != nullptr)
        delete std::exchange(first_, first_->next);
}

void DeferredLog::write() noexcept
{
    // A destructor, which must not change the error that its scope has left in errno.
    const int error_of_caller = errno;
    for (const Line *line = first_; line != nullptr; line = line->next) {
        const LogLine kept = {line->level, line->text, line->time_size};
        // The enclosing scope may hold a lock as well. Without memory, the line is written in spite of that.
        if (outer_ == nullptr || !outer_->keep(kept))
            (void)library_log().write(kept);
    }
    discard();
    errno = error_of_caller;
}

} // namespace opendoca
