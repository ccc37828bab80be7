// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Which processes have a page of shared memory mapped. What a page says of its users anybody may have written who
// can open it; what the kernel says of their mappings nobody can forge.
#pragma once

#include "process.hpp"

namespace opendoca::soft {

/// Whether it is certain that @p process, which lives, has not mapped the page that is mapped here at @p here: by
/// its maps, or where those are closed to this process, by the lock that users leave on the page, which is one of
/// SealedPage::Writers::all_named. For this process itself: that the mapping at @p here is its only one, so that nobody
/// but this copy of the library uses it. What can't be found out is not certain: false.
///
/// For those who have waited in vain already: reads files of /proc. Allocates nothing, and needs no descriptor but
/// those of the DescriptorReserve.
[[nodiscard]] bool has_certainly_not_mapped(ProcessId process, const void *here) noexcept;

} // namespace opendoca::soft
