// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <optional>

#include <doca_error.h>

#include "../../memory_range.hpp"
#include "../../public_values.hpp"
#include "../../unique_fd.hpp"

namespace opendoca {

/// Permissions of a memory map under which its memory is written, by whomever.
inline constexpr std::uint32_t writing_access = Access::local_read_write | Access::dpu_read_write |
                                                Access::rdma_write | Access::rdma_atomic;

/// A file or memfd whose mapping a range of this process's memory is, so that others can map it, too.
struct SharedObject {
    UniqueFd fd; ///< a descriptor of our own: the program may close its
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t offset = 0; ///< of the range's first byte
};

/// Whether every byte of @p range is mapped here and can be read, and written when @p for_writing. INVALID_VALUE where
/// not, NO_MEMORY where that can't be found out.
[[nodiscard]] doca_error_t check_accessible(const MemoryRange &range, bool for_writing);

/// The object that others must map to see @p range; nothing when it is private, or shared by no way that a peer has.
[[nodiscard]] std::optional<SharedObject> find_shared_object(const MemoryRange &range, bool for_writing);

} // namespace opendoca
