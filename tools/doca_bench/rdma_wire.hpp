// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the two sides of the RDMA benchmark tell each other, in messages.
#pragma once

#include "channel.hpp"
#include "rdma_session.hpp"

namespace opendoca::tools {

/// The most of each that a case may have, wherever it comes from.
inline constexpr std::size_t max_rdma_size = std::size_t{64} << 20;
inline constexpr std::uint32_t max_rdma_depth = 1024;
inline constexpr std::uint32_t max_rdma_threads = 64;
inline constexpr std::uint32_t max_rdma_connections = 1024; ///< of a thread
inline constexpr std::size_t max_rdma_count = std::size_t{1} << 25; ///< of one loop

/// What is wrong with a case as a whole: too many jobs, or too much memory. Empty when nothing is.
[[nodiscard]] std::string complaint_about(const PairCase &what);

void put(Message &message, const PairCase &what);
/// Throws when anything in it is missing or out of bounds.
[[nodiscard]] PairCase case_of(const Message &message);

/// One for each thread.
void put(Message &message, std::span<const RdmaDetails> details);
/// Throws unless there are as many as @p what has threads and connections, of bounded size.
[[nodiscard]] std::vector<RdmaDetails> details_of(const Message &message, const PairCase &what);

} // namespace opendoca::tools
