// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <sys/types.h>

#include "../../../src/core/base/unique_fd.hpp"

namespace opendoca::card {

class Process;

/// A completion channel or an asynchronous event file: a pipe, of which the program holds the read end. The card opens
/// its own read end to remove the unread events of a queue that is destroyed. Shared by the file and the queues that
/// report to it; used by the event loop's thread only.
class EventPipe {
public:
    /// How the program gets events by read(): as many as fit, or one for each call.
    enum class Reads : std::uint8_t { many, one };

    /// Creates a pipe. Returns null if no descriptor is left. `program_end` is to be passed to the program.
    static std::shared_ptr<EventPipe> create(UniqueFd &program_end, Reads reads = Reads::many);

    /// Writes an event without blocking. Returns false if the pipe is full.
    bool write(const void *event, std::size_t size) const;
    /// Removes the unread events (of `size` bytes each) that begin with `element`, and returns their number.
    [[nodiscard]] std::uint32_t remove_unread(std::uint64_t element, std::size_t size) const;
    /// Returns the number of bytes that the program has not read.
    [[nodiscard]] std::size_t unread_bytes() const;
    /// Returns whether descriptor `fd` of the process is the read end of this pipe.
    [[nodiscard]] bool is_open_in(const Process &process, int fd) const;
    /// Returns whether the program has closed all its copies of the read end.
    [[nodiscard]] bool is_closed_by_program() const;
    /// The card's end.
    [[nodiscard]] int descriptor() const { return write_end_.get(); }

private:
    UniqueFd write_end_;
    ino_t inode_ = 0;
    dev_t device_ = 0;
};

} // namespace opendoca::card
