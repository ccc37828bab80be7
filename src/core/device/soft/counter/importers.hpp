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

/// The processes that have imported a counter: which of them are alive, and which have ended without destroying their
/// handle. Used by a wait of the counter's owner, in its thread. The counts are those of the last refresh().
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
    /// descriptors or memory. If @p checks_ends is set, it also checks which have ended; otherwise it makes no system
    /// call while nothing has changed and each importer is watched.
    void refresh(bool checks_ends) noexcept;
    /// Returns true if an importer has ended without destroying its handle, and none is left.
    [[nodiscard]] bool have_all_ended() const noexcept { return num_ended_ != 0 && num_alive_ == 0; }

private:
    struct Importer {
        ProcessId owner;
        ProcessWatch watch;       ///< valid while the importer lives
        bool is_alive = false;    ///< false once the end was detected
        bool has_event = false;   ///< its end makes the event handle readable
        bool needs_retry = false; ///< the event is missing for lack of descriptors or memory: refresh() retries
    };

    /// Begins to watch @p owner, unless the entry is free.
    void enter(Importer &importer, ProcessId owner) noexcept;
    /// Stops watching and resets @p importer.
    void leave(Importer &importer) noexcept;

    const CounterPage &page_;
    CompletionQueue *const completions_;          ///< null: ends are only found by refresh(true)
    std::uint32_t num_ended_ = 0;                 ///< entries of processes that have ended
    std::uint32_t num_alive_ = 0;                 ///< entries of other processes
    std::array<Importer, max_importers> entries_; ///< by index in CounterPage::importers
};

} // namespace opendoca::soft
