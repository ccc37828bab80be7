// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sealed_page.hpp"

#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_PAGE);

namespace opendoca::soft {

namespace {

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

} // namespace

void Unmap::operator()(void *mapped) const noexcept
{
    munmap(mapped, size);
}

doca_error_t create_shared_page(const char *name, std::size_t size, UniqueFd &fd, Mapping &mapping)
{
    UniqueFd created(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!created.is_open() || ftruncate(created.get(), static_cast<off_t>(size)) != 0 ||
        fcntl(created.get(), F_ADD_SEALS, size_seals) != 0) {
        LOG_ERR("creating the memfd '%s': %s", name, std::strerror(errno));
        return DOCA_ERROR_NO_MEMORY;
    }
    if (const doca_error_t status = map_shared_page(created.get(), size, mapping); status != DOCA_SUCCESS)
        return status;
    fd = std::move(created);
    return DOCA_SUCCESS;
}

doca_error_t map_shared_page(int fd, std::size_t size, Mapping &mapping)
{
    void *const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        LOG_ERR("mapping %zu bytes of a memfd: %s", size, std::strerror(errno));
        return DOCA_ERROR_NO_MEMORY;
    }
    mapping = Mapping(mapped, Unmap{size});
    return DOCA_SUCCESS;
}

bool is_sealed(int fd) noexcept
{
    const int seals = fcntl(fd, F_GET_SEALS); // -1 for what can't be sealed
    return seals >= 0 && (seals & size_seals) == size_seals;
}

bool init_robust_lock(pthread_mutex_t &mutex) noexcept
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    const bool is_made = pthread_mutex_init(&mutex, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    return is_made;
}

} // namespace opendoca::soft
