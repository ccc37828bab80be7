// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_log.h>

#include "../log/log_backend.hpp"

/// The opaque type of the C API.
struct doca_logger_backend : opendoca::LogBackend {
    using LogBackend::LogBackend;
};

namespace opendoca::v2 {

/// The one log of this generation, of the program and of the libraries.
extern LogChannel program_log;

} // namespace opendoca::v2
