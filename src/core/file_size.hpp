// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cerrno>
#include <cstddef>

#include <sys/resource.h>
#include <unistd.h>

namespace opendoca {

/// Sets the size of a new memfd; false with errno. Beyond the program's limit for files the kernel would send it SIGXFSZ.
[[nodiscard]] inline bool set_file_size(int fd, std::size_t size) noexcept
{
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < size) {
        errno = EFBIG;
        return false;
    }
    return ftruncate(fd, static_cast<off_t>(size)) == 0;
}

} // namespace opendoca
