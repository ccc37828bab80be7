// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

namespace opendoca {

[[nodiscard]] bool log_bucket_exists(int bucket) noexcept;

/// Counts one message in a bucket that exists; false when the bucket has no room for it in this period.
[[nodiscard]] bool log_bucket_admits(int bucket) noexcept;

} // namespace opendoca
