// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "abilities.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "../../../src/core/base/unique_fd.hpp"

namespace opendoca::card {

namespace {

/// Returns 0 if a userfaultfd with write protection can be created, or an errno.
int try_userfaultfd()
{
    const UniqueFd fd(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY)));
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP;
    return fd.is_open() && ioctl(fd.get(), UFFDIO_API, &api) == 0 ? 0 : errno;
}

/// Returns 0 if process_vm_readv is permitted, or an errno.
int try_process_vm()
{
    // The own process is sufficient: a seccomp filter looks at the number of the system call, not at its target.
    std::uint64_t from = 1, to = 0;
    const iovec source{&from, sizeof(from)}, target{&to, sizeof(to)};
    return process_vm_readv(getpid(), &target, 1, &source, 1, 0) == static_cast<ssize_t>(sizeof(to)) ? 0 : errno;
}

} // namespace

bool check_kernel_features()
{
    if (const int error = try_userfaultfd())
        std::fprintf(stderr,
                     "with_card: userfaultfd is refused here (%s): the card polls for doorbells every millisecond\n",
                     std::strerror(error));
    const int error = try_process_vm();
    if (error == 0)
        return true;
    // Process::transfer() makes the same choice between the two ways.
    if (UniqueFd(open("/proc/self/mem", O_RDWR | O_CLOEXEC)).is_open()) {
        std::fprintf(stderr,
                     "with_card: process_vm_readv is refused here (%s): the card uses /proc/PID/mem, which is slower\n",
                     std::strerror(error));
        return true;
    }
    std::fprintf(
        stderr,
        "with_card: neither process_vm_readv (%s) nor /proc/PID/mem (%s) may be used here: the card cannot run\n",
        std::strerror(error), std::strerror(errno));
    return false;
}

} // namespace opendoca::card
