// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "version.hpp"

#include <doca_version.h>

#include "core/base/release.hpp"

namespace opendoca::tools {

// The library in use may be newer than the one the program was built with; release() and the API come from the former.
std::string version_line(std::string_view program)
{
    return std::string(program) + " (opendoca) " + release() + ", with the API of DOCA " + doca_version_runtime() +
           '\n';
}

} // namespace opendoca::tools
