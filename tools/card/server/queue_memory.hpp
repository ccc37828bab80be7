// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "command.hpp"

namespace opendoca::card {

/// The pinned buffer and doorbell record of a queue that is about to be created, on the stack of the command. Pinning
/// comes first, so that a failure leaves nothing to undo: pins that were not moved to a queue end with this object.
class QueueMemory {
public:
    /// Pins both. Returns an errno, or 0. A queue without a buffer has a length of 0.
    [[nodiscard]] int pin(Command &command, std::uint64_t buffer, std::uint64_t length, bool is_written,
                          std::uint64_t record)
    {
        if (length != 0) {
            if (const int error = pin_memory(command.process, buffer, length, is_written, buffer_))
                return error;
        }
        return command.file.record_pages.pin(command.process, record, record_);
    }

    /// Transfers the pins to the queue.
    template <typename Queue>
    void move_to(Queue &queue)
    {
        queue.pinned_buffer = std::move(buffer_);
        queue.pinned_record = std::move(record_);
    }

private:
    PinnedMemory buffer_;
    std::shared_ptr<PinnedMemory> record_;
};

} // namespace opendoca::card
