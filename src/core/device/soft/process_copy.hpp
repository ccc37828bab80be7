// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "importer.hpp"

namespace opendoca::soft {

// Copies from and to the ordinary memory of another process, in the way that is fastest for the size. Errors:
// CONNECTION_RESET (the process has ended), IO_FAILED (the memory is not there any more), OPERATING_SYSTEM (the kernel
// refuses).

[[nodiscard]] doca_error_t read_process(const ExporterProcess &process, std::byte *here, std::byte *there,
                                        std::size_t length) noexcept;
[[nodiscard]] doca_error_t write_process(const ExporterProcess &process, std::byte *there, std::byte *here,
                                         std::size_t length) noexcept;

} // namespace opendoca::soft
