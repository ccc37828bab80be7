// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <unistd.h>

#include "importer.hpp"

namespace opendoca::soft {

// Copies from and to the ordinary memory of another process, in the way that is fastest for the size. Errors:
// CONNECTION_RESET (the process has ended), IO_FAILED (the memory is not there any more), OPERATING_SYSTEM
// (the kernel refuses).

/// Up to here /proc/<pid>/mem is the faster way, above process_vm_readv and process_vm_writev, which copy
/// without a page in between.
constexpr std::size_t largest_by_file = std::size_t{16} << 10;

[[nodiscard]] doca_error_t read_process_in_parts(const ExporterProcess &process, std::byte *here,
                                                 std::byte *there, std::size_t length) noexcept;
[[nodiscard]] doca_error_t write_process_in_parts(const ExporterProcess &process, std::byte *there,
                                                  std::byte *here, std::size_t length) noexcept;

// Inline up to the system call: a processor foresees few returns after one.

[[nodiscard]] inline doca_error_t read_process(const ExporterProcess &process, std::byte *here,
                                               std::byte *there, std::size_t length) noexcept
{
    if (length <= largest_by_file && pread(process.memory_fd(), here, length,
                                           reinterpret_cast<off_t>(there)) == static_cast<ssize_t>(length))
        [[likely]]
        return DOCA_SUCCESS;
    return read_process_in_parts(process, here, there, length);
}

[[nodiscard]] inline doca_error_t write_process(const ExporterProcess &process, std::byte *there,
                                                std::byte *here, std::size_t length) noexcept
{
    if (length <= largest_by_file && pwrite(process.memory_fd(), here, length,
                                            reinterpret_cast<off_t>(there)) == static_cast<ssize_t>(length))
        [[likely]]
        return DOCA_SUCCESS;
    return write_process_in_parts(process, there, here, length);
}

} // namespace opendoca::soft
