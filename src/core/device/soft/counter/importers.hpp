// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstdint>

#include "../process/process.hpp"
#include "counter_page.hpp"

namespace opendoca {
class CompletionQueue;
}

namespace opendoca::soft {

/// The processes that have imported a counter, as seen by one of the counter's other processes: which of them live, and
/// which were killed.
class Importers {
public:
    /// If @p completions is set, the end of an importer makes its event handle readable.
    explicit Importers(const CounterPage &page, CompletionQueue *completions = nullptr) noexcept
        : page_(page),
          completions_(completions)
    {
    }
    Importers(const Importers &) = delete;
    Importers &operator=(const Importers &) = delete;
    ~Importers();

    /// Finds importers that were added or removed, and retries to watch those that could not be watched for lack of
    /// descriptors or memory. If @p polls is set, it also checks which have ended; otherwise it makes no system call
    /// while nothing has changed and each importer is watched.
    void refresh(bool polls) noexcept;
    /// Returns true if an importer has ended without destroying its handle, and none is left.
    [[nodiscard]] bool have_died() const noexcept { return num_dead_ != 0 && num_living_ == 0; }

private:
    struct Known {
        ProcessId owner;
        ProcessWatch watch;     ///< valid while the importer lives
        bool is_alive = false;  ///< false once the end was detected
        bool has_event = false; ///< its end makes the event handle readable
        bool is_owed = false;   ///< the event is missing for lack of descriptors or memory: refresh() retries
    };

    void enter(Known &known, ProcessId owner) noexcept;
    void leave(Known &known) noexcept;

    const CounterPage &page_;
    CompletionQueue *const completions_;
    std::uint32_t num_dead_ = 0;
    std::uint32_t num_living_ = 0;
    std::array<Known, max_importers> known_;
};

} // namespace opendoca::soft
