// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory that processes share: memfds with a sealed size, so that no access to a mapping of them raises SIGBUS,
// whatever the other processes do. device/soft/process/sealed_page.hpp builds on it for software devices.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstddef>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "unique_fd.hpp"

namespace opendoca {

/// The access of other processes to such memory. With `one_writer`, the kernel denies writing except by mappings that
/// exist already: those of the owner.
enum class SealedFor : unsigned char { all_writers, one_writer };

/// Returns the exact set of seals that such memory has.
[[nodiscard]] constexpr int seals_of(SealedFor use) noexcept
{
    return F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (use == SealedFor::one_writer ? F_SEAL_FUTURE_WRITE : 0);
}

/// Creates a memfd of @p size bytes, all zero, which its owner maps and then seals. The result is not open, with errno,
/// if it cannot be created.
[[nodiscard]] inline UniqueFd create_file_to_seal(const char *name, std::size_t size) noexcept
{
    UniqueFd made(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    rlimit limit{};
    if (!made.is_open())
        return made;
    // Checked first, because ftruncate() beyond the limit would send SIGXFSZ to the program.
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < size) {
        errno = EFBIG;
        return {};
    }
    return ftruncate(made.get(), static_cast<off_t>(size)) == 0 ? std::move(made) : UniqueFd();
}

/// Returns true if somebody has opened the memfd @p fd for writing since its creation, and has it open or mapped. The
/// kernel grants a read lease only on a file that nobody has opened for writing; what memfd_create() has returned is
/// not counted. False also where there are no leases.
[[nodiscard]] inline bool was_opened_for_writing(int fd) noexcept
{
    // Who opens the file while the lease is held is reported by this signal, which is ignored by default; SIGIO, the
    // kernel's own choice, would end the program.
    if (fcntl(fd, F_SETSIG, SIGURG) != 0)
        return false;
    if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
        (void)fcntl(fd, F_SETLEASE, F_UNLCK);
        return false;
    }
    return errno == EAGAIN;
}

/// Seals @p fd. Returns false, with errno, on failure: EBUSY if with `one_writer` another process may already have
/// mapped it for writing, which the seal does not undo.
[[nodiscard]] inline bool seal_file(int fd, SealedFor use) noexcept
{
    if (fcntl(fd, F_ADD_SEALS, seals_of(use)) != 0)
        return false;
    if (use == SealedFor::all_writers || !was_opened_for_writing(fd))
        return true;
    errno = EBUSY;
    return false;
}

/// Checks that @p fd, which another process has created, is such memory, and sets @p info. Returns false, with errno,
/// if not (EINVAL) or on an error. The caller must check the size.
[[nodiscard]] inline bool is_sealed_file(int fd, SealedFor use, struct stat &info) noexcept
{
    const int seals = fcntl(fd, F_GET_SEALS);
    struct statfs file_system {};
    // The size is read after the seals: before it was sealed, the owner could still have shrunk it.
    if (seals < 0 || fstatfs(fd, &file_system) != 0 || fstat(fd, &info) != 0)
        return false;
    constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE | F_SEAL_WRITE;
    // Only tmpfs: the owner can punch holes in either, and in hugetlbfs an access may then raise SIGBUS, if there is no
    // free huge page.
    if (S_ISREG(info.st_mode) && file_system.f_type == TMPFS_MAGIC && (seals & all_seals) == seals_of(use))
        return true;
    errno = EINVAL;
    return false;
}

} // namespace opendoca
