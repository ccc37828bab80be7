// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Connections that the program establishes itself, by ids of rdma_cm of its own. All functions are called by the thread
// of the progress engine.
#pragma once

#include <cstddef>
#include <span>

#include "rdma.hpp"

namespace opendoca::v3 {

/// Creates a connection, and lets @p id refer to its queue pair.
[[nodiscard]] doca_error_t prepare_bridged(doca_rdma &rdma, rdma_cm_id &id, doca_rdma_connection *&connection);
/// Accepts the client of the id of @p connection. If that fails, the connection has ended.
[[nodiscard]] doca_error_t accept_bridged(doca_rdma_connection &connection, std::span<const std::byte> private_data);
/// Connects the queue pair of a client's connection in state initial, or takes over what librdmacm has connected:
/// the state is ready then.
[[nodiscard]] doca_error_t connect_bridged(doca_rdma_connection &connection);
/// Records that the id of @p connection is connected. The next progress calls the established callback, if a message
/// has not done so before. If the id is not connected, the connection has ended.
[[nodiscard]] doca_error_t establish_bridged(doca_rdma_connection &connection);

} // namespace opendoca::v3
