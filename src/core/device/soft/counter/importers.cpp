// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "importers.hpp"

#include <algorithm>
#include <atomic>

#include <unistd.h>

#include "../../../engine/completion_queue.hpp"

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
        } else if (polls && known.is_alive && known.watch.has_ended()) {
            leave(known); // its descriptor stays readable
            known.owner = owner;
        } else if (known.is_owed) {
            leave(known);
            enter(known, owner);
        }
        if (!owner.is_nobody())
            ++(known.is_alive ? num_living_ : num_dead_);
    }
}

void Importers::enter(Known &known, ProcessId owner) noexcept
{
    if (owner.is_nobody())
        return;
    known.owner = owner;
    const doca_error_t status = known.watch.open(owner);
    known.is_alive = status != DOCA_ERROR_INVALID_VALUE;
    if (completions_ == nullptr || owner.pid() == getpid())
        return;
    known.has_event = known.watch.fd() >= 0 && completions_->watch(known.watch.fd()) == DOCA_SUCCESS;
    // A descriptor that the system gives to nobody is not asked for again.
    known.is_owed = status == DOCA_ERROR_OPERATING_SYSTEM || (known.watch.fd() >= 0 && !known.has_event);
}

void Importers::leave(Known &known) noexcept
{
    if (known.has_event)
        completions_->unwatch(known.watch.fd());
    known = Known();
}

} // namespace opendoca::soft
