// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../../../src/core/base/unique_fd.hpp"

namespace opendoca::card {

/// Signals programs' eventfds as the kernel does: this never blocks, and a counter that is full stays full. A write()
/// could block, because the open file is the program's: it is a blocking one, and others write to it as well. So the
/// kernel is asked to signal the eventfd at the end of an asynchronous write, which is one to /dev/null (io_submit(2),
/// IOCB_FLAG_RESFD). Used by the event loop's thread only.
class EventfdSignals {
public:
    EventfdSignals() = default;
    EventfdSignals(const EventfdSignals &) = delete;
    EventfdSignals &operator=(const EventfdSignals &) = delete;
    ~EventfdSignals();

    /// Prepares for send(), at the first call. Returns an errno, with a line in the log, or 0.
    [[nodiscard]] int open();
    /// Adds one to the counter.
    void send(int eventfd) const;

private:
    UniqueFd null_device_;
    unsigned long context_ = 0; // aio_context_t; 0: none
};

} // namespace opendoca::card
