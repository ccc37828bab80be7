// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Events of queues and of the port, on their way to programs: those of objects of verbs to completion channels and to
// the asynchronous event file, those of objects that DEVX has created to the channels that are subscribed to them.
#pragma once

#include "card.hpp"
#include "completion.hpp"

namespace opendoca::card {

/// Reports an event of a queue pair or of its last receive request.
void report_event(QueuePair &qp, Event event);
/// Reports that a completion queue has overflowed.
void report_overrun(CompletionQueue &cq);
/// Reports that entries are in a completion queue that was armed.
void report_completions(CompletionQueue &cq);
/// Returns whether a program is waiting for the completions of this queue by any means but polling.
[[nodiscard]] bool has_listener(const CompletionQueue &cq);
/// Reports that a shared receive queue has fewer receive requests than its limit.
void report_limit(SharedReceiveQueue &srq);
/// Reports the state of the function's port to one of its files.
void report_port(OpenFile &file, bool is_up);

} // namespace opendoca::card
