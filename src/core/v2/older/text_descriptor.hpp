// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Export descriptors as JSON, as programs of DOCA 1.3 and 1.4 send them, without a NUL inside:
//
//     {"addr":94312345600,"len":4096,"opendoca_mmap":"0a1b..."}
//
// The numbers are for the program that imports: it learns from them which range it has imported. The import itself uses
// the descriptor alone; the exporter's process confirms its range.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "../../memory_range.hpp"

namespace opendoca::v2 {

[[nodiscard]] std::string to_text_descriptor(std::span<const std::byte> descriptor, const MemoryRange &range);

/// Returns the descriptor in @p bytes, if they are such an object up to their end or to a NUL: members in any order,
/// with any white space between them, of which one is the descriptor and others are strings or numbers. Otherwise
/// returns nothing: @p bytes may be a descriptor in its binary form, or anything else.
[[nodiscard]] std::vector<std::byte> from_text_descriptor(std::span<const std::byte> bytes);

} // namespace opendoca::v2
