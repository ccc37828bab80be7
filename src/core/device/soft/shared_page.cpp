// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "shared_page.hpp"

#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(DOCA_SOFT_PAGE);

namespace opendoca::soft {

namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

} // namespace

void Unmap::operator()(void *mapped) const noexcept
{
    munmap(mapped, size);
}

doca_error_t create_shared_page(const char *name, std::size_t size, UniqueFd &fd, Mapping &mapping)
{
    UniqueFd created(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!created.is_open() || ftruncate(created.get(), static_cast<off_t>(size)) != 0 ||
        fcntl(created.get(), F_ADD_SEALS, seals) != 0) {
        DOCA_LOG_ERR("creating the memfd '%s': %s", name, std::strerror(errno));
        return DOCA_ERROR_NO_MEMORY;
    }
    void *const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, created.get(), 0);
    if (mapped == MAP_FAILED) {
        DOCA_LOG_ERR("mapping the memfd '%s': %s", name, std::strerror(errno));
        return DOCA_ERROR_NO_MEMORY;
    }
    fd = std::move(created);
    mapping = Mapping(mapped, Unmap{size});
    return DOCA_SUCCESS;
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
