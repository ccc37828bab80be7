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
        const ProcessId owner(page_.importers[i].owner.load(std::memory_order_seq_cst));
        Known &known = known_[i];
        if (known.owner != owner) {
            leave(known);
            enter(known, owner);
        } else if (polls && known.life != Life::ended) {
            look(known);
        }
        if (!known.owner.is_nobody())
            ++(known.life == Life::ended ? num_dead_ : num_living_);
    }
}

void Importers::enter(Known &known, ProcessId owner) noexcept
{
    if (owner.is_nobody())
        return;
    known.owner = owner;
    known.exit = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, owner.pid(), 0)));
    // The descriptor is that of the process, since that runs now.
    known.life = life_of(owner);
    known.is_watched = known.exit.is_open() && known.life == Life::alive && completions_ != nullptr &&
                       owner.pid() != getpid() && completions_->watch(known.exit.get()) == DOCA_SUCCESS;
}

/// Whether it has ended meanwhile. Without a descriptor, the kernel is asked by its number.
void Importers::look(Known &known) noexcept
{
    if (known.life == Life::alive && known.exit.is_open() ? !has_ended(known.exit.get())
                                                          : life_of(known.owner) != Life::ended)
        return;
    const ProcessId owner = known.owner;
    leave(known); // its descriptor stays readable
    known.owner = owner;
}

void Importers::leave(Known &known) noexcept
{
    if (known.is_watched)
        completions_->unwatch(known.exit.get());
    known = Known();
}

} // namespace opendoca::soft
