// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>

#include <sys/syscall.h>
#include <unistd.h>

#include "importer.hpp"

namespace opendoca::soft {

// Copies from and to the ordinary memory of another process, in the way that is fastest for the size. Return
// CONNECTION_RESET if the process has ended, IO_FAILED if the memory does not exist any more, OPERATING_SYSTEM if the
// kernel refuses.
//
// Short copies use /proc/<pid>/mem, which the kernel binds to the memory for which it was opened. Long copies use
// process_vm_readv(2) and process_vm_writev(2), which need no page in between, but identify a process by its number
// alone: between a liveness check and the call the process may end and another may get the number. Hence the guard, a
// byte that the exporter has at a random address. A call that accesses it first fails there in any other process (also
// in a forked child, or in a program that the process has executed since), and has then accessed nothing else: the
// kernel handles the parts of a call in order. A read needs no guard if the exporter's liveness word, checked
// afterwards, shows that the number was the exporter's all the time.
//
// The protection that the owner has given to its pages since it exported them does not matter, as it does not for a
// device that has registered them: /proc/<pid>/mem ignores it, and is used for what the other call does not copy.

/// The largest copy by /proc/<pid>/mem in one call, in bytes.
constexpr std::size_t largest_by_file = std::size_t{8} << 10;

/// Copy the rest, or all of a long copy; retry partial results and log errors.
[[nodiscard]] doca_error_t read_process_in_parts(const ExporterProcess &process, std::byte *here, std::byte *there,
                                                 std::size_t length) noexcept;
[[nodiscard]] doca_error_t write_process_in_parts(const ExporterProcess &process, std::byte *there, std::byte *here,
                                                  std::size_t length) noexcept;

// Short copies by one system call. Return false if not everything was copied.

// Sanitizers check the calls of the C library, so those are used with them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPENDOCA_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define OPENDOCA_SANITIZED
#endif
#endif

#if defined(__x86_64__) && !defined(OPENDOCA_SANITIZED)

/// The system call itself: pread() and pwrite() of the C library are cancellation points and add a return, and the
/// processor predicts the returns after a system call badly.
template <long number>
[[gnu::always_inline]] [[nodiscard]] inline bool transfer(int memory_fd, std::byte *here, std::byte *there,
                                                          std::size_t length) noexcept
{
    long result = number;
    __asm__ volatile("movq %[there], %%r10\n\tsyscall"
                     : "+a"(result)
                     : "D"(static_cast<long>(memory_fd)), "S"(here), "d"(length), [there] "r"(there)
                     : "rcx", "r10", "r11", "memory");
    return result == static_cast<long>(length);
}

#else

template <long number>
[[nodiscard]] inline bool transfer(int memory_fd, std::byte *here, std::byte *there, std::size_t length) noexcept
{
    const auto offset = reinterpret_cast<off_t>(there);
    return (number == SYS_pread64 ? pread(memory_fd, here, length, offset) : pwrite(memory_fd, here, length, offset)) ==
           static_cast<ssize_t>(length);
}

#endif

[[nodiscard]] inline bool read_at_once(int memory_fd, std::byte *here, std::byte *there, std::size_t length) noexcept
{
    return transfer<SYS_pread64>(memory_fd, here, there, length);
}

[[nodiscard]] inline bool write_at_once(int memory_fd, std::byte *there, std::byte *here, std::size_t length) noexcept
{
    return transfer<SYS_pwrite64>(memory_fd, here, there, length);
}

[[nodiscard]] inline doca_error_t read_process(const ExporterProcess &process, std::byte *here, std::byte *there,
                                               std::size_t length) noexcept
{
    return length <= largest_by_file && read_at_once(process.memory_fd(), here, there, length)
               ? DOCA_SUCCESS
               : read_process_in_parts(process, here, there, length);
}

[[nodiscard]] inline doca_error_t write_process(const ExporterProcess &process, std::byte *there, std::byte *here,
                                                std::size_t length) noexcept
{
    return length <= largest_by_file && write_at_once(process.memory_fd(), there, here, length)
               ? DOCA_SUCCESS
               : write_process_in_parts(process, there, here, length);
}

} // namespace opendoca::soft
