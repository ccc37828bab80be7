// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <optional>

#include <doca_error.h>

#include "../../base/memory_range.hpp"
#include "../../base/public_values.hpp"
#include "../../base/unique_fd.hpp"

namespace opendoca {

/// Permissions of a memory map that allow anyone, local or remote, to write to its memory.
inline constexpr std::uint32_t writing_access =
    Access::local_read_write | Access::dpu_read_write | Access::rdma_write | Access::rdma_atomic;

/// The file or memfd that a range of this process's memory maps, so that other processes can map it too.
struct SharedObject {
    UniqueFd fd; ///< opened by the library, since the program may close its own descriptor
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t offset = 0; ///< offset of the range's first byte in the file
};

/// Checks that every byte of @p range is mapped and readable, and writable if @p for_writing. INVALID_VALUE, logged, if
/// not; NO_MEMORY if the mappings cannot be read.
[[nodiscard]] doca_error_t check_accessible(const MemoryRange &range, bool for_writing);

/// Returns the object that other processes must map to access @p range; nothing if the range is private memory, or if
/// the object cannot be opened again.
[[nodiscard]] std::optional<SharedObject> find_shared_object(const MemoryRange &range, bool for_writing);

} // namespace opendoca
