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

/// How many times in all such memory is made, while another process keeps changing it before it is sealed.
inline constexpr int max_tries_to_seal = 16;

/// Returns the exact set of seals that such memory has.
[[nodiscard]] constexpr int seals_of(SealedFor use) noexcept
{
    return F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (use == SealedFor::one_writer ? F_SEAL_FUTURE_WRITE : 0);
}

/// Returns the seals of @p fd that matter here, or -1 with errno.
[[nodiscard]] inline int seals_on(int fd) noexcept
{
    constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE | F_SEAL_WRITE;
    const int found = fcntl(fd, F_GET_SEALS);
    return found < 0 ? found : found & all_seals;
}

/// Takes a read lease on the memfd @p fd, which keeps others from opening it for writing; with a writable mapping from
/// before the seal they could write for ever. What memfd_create() has returned does not count as open for writing.
/// Returns false, with errno, on failure: EBUSY if it is already open for writing. True also where there are no leases.
[[nodiscard]] inline bool keep_writers_out(int fd) noexcept
{
    // An attempt to open the file is reported by this signal, which programs ignore by default. SIGIO, the kernel's
    // default, would end the program.
    if (fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
        return true;
    if (errno == EAGAIN)
        errno = EBUSY;
    return errno != EBUSY && errno != ENOMEM;
}

/// Ends the lease of keep_writers_out(). Returns false, with errno, if it has ended before, as a lease does when others
/// have waited for its end for long (/proc/sys/fs/lease-break-time).
[[nodiscard]] inline bool let_writers_in(int fd) noexcept
{
    if (fcntl(fd, F_SETLEASE, F_UNLCK) == 0)
        return true;
    // Asked for again, to find out whether it has ended or there are no leases.
    const bool is_granted = fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
    if (!is_granted && errno != EAGAIN)
        return errno != ENOMEM;
    errno = EBUSY;
    return false;
}

/// Creates a memfd of @p size bytes, all zero, which its owner maps and then seals; with `one_writer` a lease keeps
/// others from opening it for writing meanwhile. The result is not open, with errno, if it cannot be created: EBUSY if
/// another process already has it open for writing, or has sealed it.
[[nodiscard]] inline UniqueFd create_file_to_seal(const char *name, std::size_t size, SealedFor use) noexcept
{
    UniqueFd made(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    rlimit limit{};
    if (!made.is_open() || (use == SealedFor::one_writer && !keep_writers_out(made.get())))
        return {};
    if (const int found = seals_on(made.get()); found != 0) {
        errno = found > 0 ? EBUSY : errno;
        return {};
    }
    // Checked first, because ftruncate() beyond the limit would send SIGXFSZ to the program.
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < size) {
        errno = EFBIG;
        return {};
    }
    // First to nothing, which removes what others may have written.
    const bool has_size = ftruncate(made.get(), 0) == 0 && ftruncate(made.get(), static_cast<off_t>(size)) == 0;
    return has_size ? std::move(made) : UniqueFd();
}

/// Seals @p fd, which create_file_to_seal() has created. Returns false, with errno, on failure: EBUSY if another
/// process has changed its size or its seals, or may have a mapping for writing that `one_writer` excludes.
[[nodiscard]] inline bool seal_file(int fd, std::size_t size, SealedFor use) noexcept
{
    struct stat info {};
    if (fcntl(fd, F_ADD_SEALS, seals_of(use)) != 0 && seals_on(fd) == 0)
        return false;
    const int found = seals_on(fd);
    if (found < 0 || fstat(fd, &info) != 0)
        return false;
    if (found != seals_of(use) || static_cast<std::size_t>(info.st_size) != size) {
        errno = EBUSY;
        return false;
    }
    return use == SealedFor::all_writers || let_writers_in(fd);
}

/// Checks that @p fd, which another process has created, is such memory, and sets @p info. Returns false, with errno,
/// if not (EINVAL) or on an error. The caller must check the size.
[[nodiscard]] inline bool is_sealed_file(int fd, SealedFor use, struct stat &info) noexcept
{
    const int found = seals_on(fd);
    struct statfs file_system {};
    // The size is read after the seals: before it was sealed, the owner could still have shrunk it.
    if (found < 0 || fstatfs(fd, &file_system) != 0 || fstat(fd, &info) != 0)
        return false;
    // Only tmpfs: the owner can punch holes in either, and in hugetlbfs an access may then raise SIGBUS, if there is no
    // free huge page.
    if (S_ISREG(info.st_mode) && file_system.f_type == TMPFS_MAGIC && found == seals_of(use))
        return true;
    errno = EINVAL;
    return false;
}

} // namespace opendoca
