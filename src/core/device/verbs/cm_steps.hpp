// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Steps of rdma_cm that connections by address share with those of the program's own ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <doca_error.h>

#include "rdma_cm_library.hpp"

namespace opendoca::verbs {

class VerbsFunction;
class VerbsQueuePair;

inline constexpr std::uint8_t no_cm_limit = 7; ///< value of a retry count that means no limit, for the peer

/// Returns whether @p id is bound to the device and port of @p port.
[[nodiscard]] bool is_id_on_port(const rdma_cm_id &id, const VerbsFunction &port) noexcept;

/// Connects @p queue_pair with the attributes that rdma_cm has negotiated for @p id. CONNECTION_ABORTED, logged, on
/// failure.
[[nodiscard]] doca_error_t connect_by_id(const RdmaCmLibrary &library, rdma_cm_id &id, VerbsQueuePair &queue_pair);

/// Accepts the client of @p id for @p queue_pair, which must be connected: the client may send as soon as it has the
/// reply. id.qp must be null. Returns false, and sets errno, on failure.
[[nodiscard]] bool accept_client(const RdmaCmLibrary &library, rdma_cm_id &id, const VerbsQueuePair &queue_pair,
                                 std::span<const std::byte> private_data) noexcept;

} // namespace opendoca::verbs
