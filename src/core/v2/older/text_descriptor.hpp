// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Export descriptors as JSON, as programs of DOCA 1.3 and 1.4 send them, without a NUL inside:
//
//     {"addr":94312345600,"len":4096,"opendoca_mmap":"0a1b..."}
//
// The numbers are for the importing program, which reads from them which range it has imported. The import itself uses
// the descriptor alone, and the exporter's process confirms the range.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "../../base/memory_range.hpp"

namespace opendoca::v2 {

/// Returns the object as text, without a NUL.
[[nodiscard]] std::string to_text_descriptor(std::span<const std::byte> descriptor, const MemoryRange &range);

/// Returns the descriptor in @p bytes if they are such an object up to their end or a NUL: members in any order, white
/// space between them, one member with the descriptor, other members strings or numbers. Returns nothing otherwise: @p
/// bytes may be a binary descriptor.
[[nodiscard]] std::vector<std::byte> from_text_descriptor(std::span<const std::byte> bytes);

} // namespace opendoca::v2
