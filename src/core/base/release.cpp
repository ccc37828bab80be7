// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "release.hpp"

#include "release_number.hpp"

namespace opendoca {

const char *release() noexcept
{
    return OPENDOCA_RELEASE;
}

} // namespace opendoca
