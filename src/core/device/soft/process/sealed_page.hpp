// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory of our own that several processes map: sealed memfds, and robust locks in them.
#pragma once

#include <cerrno>
#include <cstddef>
#include <memory>

#include <pthread.h>

#include <doca_error.h>

#include "../../../unique_fd.hpp"

namespace opendoca::soft {

/// Unmaps.
struct Unmap {
    std::size_t size = 0;
    void operator()(void *mapped) const noexcept;
};

using Mapping = std::unique_ptr<void, Unmap>;

/// A memfd of @p size bytes, all zero, whose size can't change any more, and its mapping. NO_MEMORY.
[[nodiscard]] doca_error_t create_shared_page(const char *name, std::size_t size, UniqueFd &fd,
                                              Mapping &mapping);

/// Maps @p size bytes of @p fd, for reading and writing. NO_MEMORY.
[[nodiscard]] doca_error_t map_shared_page(int fd, std::size_t size, Mapping &mapping);

/// Whether the size of the memfd @p fd can't change any more, so that nobody's access to it raises SIGBUS.
[[nodiscard]] bool is_sealed(int fd) noexcept;

/// Makes a lock that several processes can use, and that survives the death of who holds it.
[[nodiscard]] bool init_robust_lock(pthread_mutex_t &mutex) noexcept;

/// Holds such a lock, where what it guards is right at any point of its last holder's death.
class RobustLock {
public:
    explicit RobustLock(pthread_mutex_t &mutex) noexcept : mutex_(mutex)
    {
        if (pthread_mutex_lock(&mutex_) == EOWNERDEAD)
            pthread_mutex_consistent(&mutex_);
    }
    RobustLock(const RobustLock &) = delete;
    RobustLock &operator=(const RobustLock &) = delete;
    ~RobustLock() { pthread_mutex_unlock(&mutex_); }

private:
    pthread_mutex_t &mutex_;
};

} // namespace opendoca::soft
