// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Two functions that no header of DOCA 2.2 declares, but that programs compiled against it import from the version
// node INTERNAL. Their parameters and results are those of the functions that they are named after: strlcpy() of BSD,
// and zalloc() of many libraries.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/guard.hpp"

extern "C" {

/// Copies as much of @p from as fits into @p size bytes with a NUL at the end; nothing if @p size is 0. Returns the
/// length of @p from: the text was truncated if that is @p size or more.
OPENDOCA_INTERNAL std::size_t priv_doca_strlcpy(char *to, const char *from, std::size_t size);

/// Allocates @p size bytes, all zero, which the caller frees with free(). Returns NULL if there is no memory.
OPENDOCA_INTERNAL void *priv_doca_zalloc(std::size_t size);

} // extern "C"

std::size_t priv_doca_strlcpy(char *to, const char *from, std::size_t size)
{
    const std::size_t length = std::strlen(from);
    if (size != 0) {
        const std::size_t copied = std::min(length, size - 1);
        std::memcpy(to, from, copied);
        to[copied] = '\0';
    }
    return length;
}

void *priv_doca_zalloc(std::size_t size)
{
    return std::calloc(1, size);
}
