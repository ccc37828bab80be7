// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dmabuf.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>

#include "log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_DMABUF);

namespace opendoca {

doca_error_t Dmabuf::map(int fd, std::size_t offset, std::size_t len, std::unique_ptr<Dmabuf> &dmabuf)
{
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t lead = offset % page;
    UniqueFd own(fcntl(fd, F_DUPFD_CLOEXEC, 0));
    void *const start = own.is_open() ? mmap(nullptr, lead + len, PROT_READ | PROT_WRITE, MAP_SHARED,
                                             own.get(), static_cast<off_t>(offset - lead))
                                      : MAP_FAILED;
    if (start == MAP_FAILED) {
        LOG_ERR("file descriptor %d can't be mapped as a dmabuf from %zu on, %zu bytes: %s", fd, offset,
                     len, std::strerror(errno));
        return errno == ENOMEM   ? DOCA_ERROR_NO_MEMORY
               : errno == ENODEV ? DOCA_ERROR_NOT_SUPPORTED // its exporter keeps the CPU out
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
    if (!own.is_open()) {
        LOG_ERR("file descriptor %d is no dmabuf: %s", fd, std::strerror(errno));
        return DOCA_ERROR_INVALID_VALUE;
    }
    dmabuf.reset(new Dmabuf(std::move(own), offset, {addr, len}, {}));
    return DOCA_SUCCESS;
}

Dmabuf::~Dmabuf()
{
    if (mapped_.addr != nullptr)
        munmap(mapped_.addr, mapped_.len);
}

} // namespace opendoca
