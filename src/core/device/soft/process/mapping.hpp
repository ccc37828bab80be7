// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Finds out which processes have a page of shared memory mapped. The contents of a page cannot be trusted for this,
// because each process that can open it can write them; the kernel's lists of mappings cannot be forged.
#pragma once

#include "process.hpp"

namespace opendoca::soft {

/// Returns true only if @p process, which lives, has certainly not mapped the page that is mapped at @p here. Reads the
/// maps of the process or, if these may not be read, the kernel's list of the file locks that users of a
/// SealedPage::Writers::all_named page hold. For this process itself, true means that the mapping at @p here is its
/// only one, so that no other copy of the library in it uses the page. Returns false if that cannot be determined.
///
/// Slow, because it reads files of /proc: meant for waiters that have already waited in vain. Allocates nothing, and
/// opens descriptors through the DescriptorReserve.
[[nodiscard]] bool has_certainly_not_mapped(ProcessId process, const void *here) noexcept;

} // namespace opendoca::soft
