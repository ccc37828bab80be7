// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory that processes share: memfds with a sealed size, so that no access to a mapping of them raises SIGBUS,
// whatever the others do. What software devices add to them is in device/soft/process/sealed_page.hpp.
#pragma once

#include <cerrno>
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

/// The access of other processes to such memory. The kernel keeps them from writing, except by earlier mappings.
enum class SealedFor : unsigned char { all_writers, one_writer };

[[nodiscard]] constexpr int seals_of(SealedFor use) noexcept
{
    return F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | (use == SealedFor::one_writer ? F_SEAL_FUTURE_WRITE : 0);
}

/// Makes one of @p size bytes, all zero, that its owner maps and then seals. Not open, with errno, when there is none
/// to be had. Beyond the program's limit for files the kernel would send it SIGXFSZ.
[[nodiscard]] inline UniqueFd create_file_to_seal(const char *name, std::size_t size) noexcept
{
    UniqueFd made(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    rlimit limit{};
    if (!made.is_open())
        return made;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < size) {
        errno = EFBIG;
        return {};
    }
    return ftruncate(made.get(), static_cast<off_t>(size)) == 0 ? std::move(made) : UniqueFd();
}

/// False with errno.
[[nodiscard]] inline bool seal_file(int fd, SealedFor use) noexcept
{
    return fcntl(fd, F_ADD_SEALS, seals_of(use)) == 0;
}

/// Whether what another process made is such memory; @p info: of it. False with errno, which is EINVAL for what is
/// none. Its size has to be checked by the caller.
[[nodiscard]] inline bool is_sealed_file(int fd, SealedFor use, struct stat &info) noexcept
{
    const int seals = fcntl(fd, F_GET_SEALS);
    struct statfs file_system {};
    // The size after the seals: before them its owner could still take pages away.
    if (seals < 0 || fstatfs(fd, &file_system) != 0 || fstat(fd, &info) != 0)
        return false;
    constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_FUTURE_WRITE | F_SEAL_WRITE;
    // In hugetlbfs its owner can free a page that nobody can get a new one for. In tmpfs there is always another.
    if (S_ISREG(info.st_mode) && file_system.f_type == TMPFS_MAGIC && (seals & all_seals) == seals_of(use))
        return true;
    errno = EINVAL;
    return false;
}

} // namespace opendoca
