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
    for (Importer &importer : entries_)
        leave(importer);
}

void Importers::refresh(bool checks_ends) noexcept
{
    // Sequentially consistent: pairs with raise_to() in register_as_importer(). The count comes from a shared page.
    const std::uint32_t count = std::min(page_.num_importers.load(std::memory_order_seq_cst), max_importers);
    num_ended_ = 0;
    num_alive_ = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const ProcessId owner(page_.importers[i].owner.load(std::memory_order_seq_cst));
        Importer &importer = entries_[i];
        if (importer.owner != owner) {
            leave(importer);
            enter(importer, owner);
        } else if (checks_ends && importer.is_alive && importer.watch.has_ended()) {
            leave(importer); // its descriptor stays readable, and would wake the queue again and again
            importer.owner = owner;
        } else if (importer.needs_retry) {
            leave(importer);
            enter(importer, owner);
        }
        if (!owner.is_nobody())
            ++(importer.is_alive ? num_alive_ : num_ended_);
    }
}

void Importers::enter(Importer &importer, ProcessId owner) noexcept
{
    if (owner.is_nobody())
        return;
    importer.owner = owner;
    const doca_error_t status = importer.watch.open(owner);
    importer.is_alive = status != DOCA_ERROR_INVALID_VALUE;
    if (completions_ == nullptr || owner.pid() == getpid())
        return;
    importer.has_event = importer.watch.fd() >= 0 && completions_->watch(importer.watch.fd()) == DOCA_SUCCESS;
    // Retried if descriptors or memory were short. Not if the system has no descriptors for processes at all: then
    // watch.open() succeeds without one.
    importer.needs_retry = status == DOCA_ERROR_OPERATING_SYSTEM || (importer.watch.fd() >= 0 && !importer.has_event);
}

void Importers::leave(Importer &importer) noexcept
{
    if (importer.has_event)
        completions_->unwatch(importer.watch.fd());
    importer = Importer();
}

} // namespace opendoca::soft
