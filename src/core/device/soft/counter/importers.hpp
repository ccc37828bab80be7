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

/// The processes that have imported a counter, as one of the others sees them: who is there, and who was
/// killed.
class Importers {
public:
    /// With @p completions, their ends make its event handle readable.
    explicit Importers(const CounterPage &page, CompletionQueue *completions = nullptr) noexcept
        : page_(page),
          completions_(completions)
    {
    }
    Importers(const Importers &) = delete;
    Importers &operator=(const Importers &) = delete;
    ~Importers();

    /// Finds those who have come and gone since, and watches those who could not be watched before for want of
    /// descriptors or memory. With @p polls, finds also those who have ended; otherwise this makes no system call
    /// where nothing has changed and nobody is left to be watched.
    void refresh(bool polls) noexcept;
    /// Some have ended without having destroyed their handle, and nobody is left.
    [[nodiscard]] bool have_died() const noexcept { return num_dead_ != 0 && num_living_ == 0; }

private:
    struct Known {
        ProcessId owner;
        ProcessWatch watch;     ///< while it lives
        bool is_alive = false;  ///< as far as is known
        bool has_event = false; ///< its end makes the event handle readable
        bool is_owed = false;   ///< it should, but descriptors or memory have lacked: refresh() tries again
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
