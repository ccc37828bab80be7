// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <vector>

#include <infiniband/verbs.h>

namespace opendoca::verbs {

/// Returns the valid GIDs of a port, best first: RoCE v2 before v1, IPv4 before IPv6, and link-local addresses last.
[[nodiscard]] std::vector<ibv_gid_entry> gids_of(ibv_context &context, std::uint32_t port);

[[nodiscard]] bool is_link_local(const ibv_gid &gid) noexcept;

/// Returns the preference of @p entry; lower is better. Two devices can only reach each other with GIDs of equal rank.
[[nodiscard]] int rank_of(const ibv_gid_entry &entry) noexcept;

} // namespace opendoca::verbs
