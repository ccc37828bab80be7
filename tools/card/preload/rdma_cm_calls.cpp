// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Replaces write(), by which programs send commands to /dev/infiniband/rdma_cm.

// Fortified headers must not rename the function that is defined below.
#undef _FORTIFY_SOURCE

#include <cstddef>

#include <unistd.h>

#include "card_file.hpp"
#include "names.hpp"
#include "next.hpp"

using namespace opendoca::card;

#pragma GCC visibility push(default)
extern "C" {

// Called by any thread, also before main() and in signal handlers. Descriptors may come from another process, so each
// is asked for its peer; for a descriptor that is no socket that fails at once.
ssize_t write(int fd, const void *data, size_t size)
{
    if (*side_folder() != '\0' && device_number(fd) == rdma_cm_device)
        return card_write(fd, data, size);
    return next<ssize_t(int, const void *, size_t), 34>("write")(fd, data, size);
}

} // extern "C"
#pragma GCC visibility pop
