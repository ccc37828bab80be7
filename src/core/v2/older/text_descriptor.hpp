// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Export descriptors as texts, as programs of DOCA 1.3 send them: without a NUL inside. {"opendoca_mmap":"0a1b..."}.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace opendoca::v2 {

[[nodiscard]] std::string to_text_descriptor(std::span<const std::byte> descriptor);

/// The descriptor that @p bytes are the text of. Nothing for what is no such text: a descriptor in bytes, or anything
/// else from anywhere.
[[nodiscard]] std::vector<std::byte> from_text_descriptor(std::span<const std::byte> bytes);

} // namespace opendoca::v2
