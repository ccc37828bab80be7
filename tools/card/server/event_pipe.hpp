// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <sys/types.h>

#include "../../../src/core/unique_fd.hpp"

namespace opendoca::card {

class Process;

/// A completion channel or an asynchronous event file: the program has the read end of a pipe. The card opens
/// another to take back what the program has not read of a queue that is destroyed.
class EventPipe {
public:
    /// Null where descriptors are spent. `program_end` is for the program.
    static std::shared_ptr<EventPipe> create(UniqueFd &program_end);

    /// False where the pipe is full.
    bool write(const void *event, std::size_t size) const;
    /// Takes back the unread events of `size` bytes that begin with `element`: how many.
    [[nodiscard]] std::uint32_t take_back(std::uint64_t element, std::size_t size) const;
    /// Is descriptor `fd` of the process the program's end?
    [[nodiscard]] bool is_open_in(const Process &process, int fd) const;
    [[nodiscard]] bool is_closed_by_program() const;

private:
    UniqueFd write_end_;
    ino_t inode_ = 0;
    dev_t device_ = 0;
};

} // namespace opendoca::card
