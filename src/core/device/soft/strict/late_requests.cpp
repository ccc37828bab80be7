// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "late_requests.hpp"

#include <utility>

#include "../../../log/log.hpp"
#include "../device.hpp"
#include "strict.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_LATE_REQUESTS);

namespace opendoca::soft {

LateRequests::LateRequests(const SoftDevice &device) noexcept : device_(device), is_strict_(device.is_strict()) {}

bool LateRequests::include(Opcode opcode) noexcept
{
    if (!is_strict_ || opcode == Opcode::send || opcode == Opcode::send_with_immediate ||
        opcode == Opcode::write_with_immediate)
        return false;
    if (!std::exchange(was_logged_, true))
        LOG_INFO("reads, writes and atomics of a connection of device %s are carried out when its queue is polled%s",
                 device_.function().description().c_str(), suffix_of(StrictRule::late_destination));
    return true;
}

} // namespace opendoca::soft
