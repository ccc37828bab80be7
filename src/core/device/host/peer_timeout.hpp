// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

namespace opendoca {

/// Returns how long a peer may be unresponsive, in seconds: DOCA_RDMA_TIMEOUT.
[[nodiscard]] double peer_timeout();

} // namespace opendoca
