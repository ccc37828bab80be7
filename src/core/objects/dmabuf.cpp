// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dmabuf.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_DMABUF);

namespace opendoca {

namespace {

/// Checks that the range ends within a regular file, which can be mapped beyond its end: an access there would raise
/// SIGBUS. For a dmabuf the kernel checks it.
doca_error_t check_end(int fd, std::size_t offset, std::size_t len) noexcept
{
    struct stat file {};
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || static_cast<std::size_t>(file.st_size) >= offset + len)
        return DOCA_SUCCESS;
    LOG_ERR("file descriptor %d has %jd bytes: a range from %zu on, %zu bytes, ends beyond", fd,
            static_cast<std::intmax_t>(file.st_size), offset, len);
    return DOCA_ERROR_INVALID_VALUE;
}

} // namespace

doca_error_t Dmabuf::map(int fd, std::size_t offset, std::size_t len, std::unique_ptr<Dmabuf> &dmabuf)
{
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    // mmap() needs a multiple of the page size: maps `lead` bytes more in front.
    const std::size_t lead = offset % page;
    if (const doca_error_t status = check_end(fd, offset, len); status != DOCA_SUCCESS)
        return status;
    UniqueFd own(fcntl(fd, F_DUPFD_CLOEXEC, 0));
    void *const start = own.is_open() ? mmap(nullptr, lead + len, PROT_READ | PROT_WRITE, MAP_SHARED, own.get(),
                                             static_cast<off_t>(offset - lead))
                                      : MAP_FAILED;
    if (start == MAP_FAILED) {
        LOG_ERR("file descriptor %d can't be mapped as a dmabuf from %zu on, %zu bytes: %s", fd, offset, len,
                std::strerror(errno));
        return errno == ENOMEM   ? DOCA_ERROR_NO_MEMORY
               : errno == ENODEV ? DOCA_ERROR_NOT_SUPPORTED // its exporter allows no access by the CPU
                                 : DOCA_ERROR_INVALID_VALUE;
    }
    const MemoryRange mapped = {static_cast<std::byte *>(start), lead + len};
    dmabuf.reset(new Dmabuf(std::move(own), offset, {mapped.addr + lead, len}, mapped));
    return DOCA_SUCCESS;
}

doca_error_t Dmabuf::adopt(int fd, std::byte *addr, std::size_t offset, std::size_t len,
                           std::unique_ptr<Dmabuf> &dmabuf)
{
    UniqueFd own(fcntl(fd, F_DUPFD_CLOEXEC, 0));
    // A duplicate, since the program may close its own descriptor.
    if (!own.is_open()) {
        LOG_ERR("file descriptor %d is no dmabuf: %s", fd, std::strerror(errno));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = check_end(fd, offset, len); status != DOCA_SUCCESS)
        return status;
    // Nothing to unmap: the mapping stays the program's.
    dmabuf.reset(new Dmabuf(std::move(own), offset, {addr, len}, {}));
    return DOCA_SUCCESS;
}

Dmabuf::~Dmabuf()
{
    if (mapped_.addr != nullptr)
        munmap(mapped_.addr, mapped_.len);
}

} // namespace opendoca
