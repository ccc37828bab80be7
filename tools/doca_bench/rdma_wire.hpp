// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The messages that the two sides of the RDMA benchmark exchange. A message from another machine is untrusted: parsers
// check that each value is present and within its limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "channel.hpp"
#include "rdma_session.hpp"

namespace opendoca::tools {

/// The limits of a case, for values from the command line and from the network alike.
inline constexpr std::size_t max_rdma_size = std::size_t{64} << 20;
inline constexpr std::uint32_t max_rdma_depth = 1024;
inline constexpr std::uint32_t max_rdma_threads = 64;
inline constexpr std::uint32_t max_rdma_connections = 1024;         ///< for each thread
inline constexpr std::size_t max_rdma_count = std::size_t{1} << 25; ///< for one loop

/// Returns the reason why a case as a whole is invalid: too many jobs or too much memory. Empty if it is valid.
[[nodiscard]] std::string complaint_about(const PairCase &what);

/// Adds a case to a message.
void put(Message &message, const PairCase &what);
/// Parses a case. Throws if anything is missing or out of bounds.
[[nodiscard]] PairCase case_of(const Message &message);

/// Adds the details to a message, one set for each thread.
void put(Message &message, std::span<const RdmaDetails> details);
/// Parses the details. Throws unless they match the threads and connections of @p what and have a bounded size.
[[nodiscard]] std::vector<RdmaDetails> details_of(const Message &message, const PairCase &what);

} // namespace opendoca::tools
