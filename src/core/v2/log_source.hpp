// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

namespace opendoca {

/// Name of a source of messages, also of source 0, which stands for one that could not be registered. Null
/// when there is no such source. The text is valid for the life of the process.
[[nodiscard]] const char *log_source_name(int source) noexcept;

[[nodiscard]] bool log_bucket_exists(int bucket) noexcept;

/// Counts one message in a bucket that exists; false when the bucket has no room for it in this period.
[[nodiscard]] bool log_bucket_admits(int bucket) noexcept;

} // namespace opendoca
