// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

namespace opendoca {

/// Returns whether @p bucket was registered and its source still exists.
[[nodiscard]] bool log_bucket_exists(int bucket) noexcept;

/// Counts one message in an existing bucket. Returns false if the bucket has reached its limit in this period.
[[nodiscard]] bool log_bucket_admits(int bucket) noexcept;

} // namespace opendoca
