// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "importers.hpp"

#include <algorithm>

#include <sys/syscall.h>
#include <unistd.h>

#include "../../../engine/completion_queue.hpp"
#include "../process/process.hpp"

namespace opendoca::soft {

Importers::~Importers()
{
    for (Known &known : known_)
        leave(known);
}

void Importers::refresh(bool polls) noexcept
{
    const std::uint32_t count = std::min(page_.num_importers.load(std::memory_order_seq_cst), max_importers);
    num_dead_ = 0;
    num_living_ = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const ImporterPlace &place = page_.importers[i];
        const std::uint64_t started = place.started.load(std::memory_order_seq_cst);
        const std::uint32_t owner = started == 0 ? 0 : place.owner.load(std::memory_order_relaxed);
        Known &known = known_[i];
        if (known.owner != owner || known.started != started) {
            leave(known);
            if (owner == 0)
                continue;
            // Without memory for it, another look finds it.
            if (guarded([&] {
                    enter(known, owner, started);
                    return DOCA_SUCCESS;
                }) != DOCA_SUCCESS)
                continue;
        } else if (polls && known.exit.is_open() && has_ended(known.exit.get())) {
            if (known.is_watched)
                completions_->unwatch(known.exit.get()); // it stays readable
            known.is_watched = false;
            known.exit = UniqueFd();
        }
        if (known.owner != 0)
            ++(known.exit.is_open() ? num_living_ : num_dead_);
    }
}

void Importers::enter(Known &known, std::uint32_t owner, std::uint64_t started)
{
    UniqueFd exit(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(owner), 0)));
    if (exit.is_open() && is_running(static_cast<pid_t>(owner), started)) {
        known.is_watched = completions_ != nullptr && static_cast<pid_t>(owner) != getpid() &&
                           completions_->watch(exit.get()) == DOCA_SUCCESS;
        known.exit = std::move(exit);
    }
    known.owner = owner;
    known.started = started;
}

void Importers::leave(Known &known) noexcept
{
    if (known.is_watched)
        completions_->unwatch(known.exit.get());
    known.owner = 0;
    known.is_watched = false;
    known.started = 0;
    known.exit = UniqueFd();
}

} // namespace opendoca::soft
