// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Names of files that the card provides in place of the kernel.
#pragma once

#include <climits>
#include <cstddef>

namespace opendoca::card {

/// Returns the folder of this program's side of the card, or "" if the program runs without a card.
const char *side_folder();

/// Stands for /dev/infiniband/rdma_cm where a number of a device is expected; no function has this number.
inline constexpr int rdma_cm_device = 1 << 20;

/// Returns N of "/dev/infiniband/uverbsN", rdma_cm_device for "/dev/infiniband/rdma_cm", or -1.
int device_number(const char *path);
/// Stores the name of the card's socket for a device, which device_number() has returned. Returns false if it is too
/// long.
bool store_socket_path(char *to, std::size_t size, int number);

/// Translates a path: the result is in the card's tree if the card provides this file of sysfs, and unchanged
/// otherwise. A temporary in the call of the real function, in any thread. It allocates nothing, since open() and
/// stat() may be called in signal handlers. The result is valid as long as the object and the path that it was given.
class SysfsPath {
public:
    explicit SysfsPath(const char *path);
    [[nodiscard]] const char *get() const { return result_; }

private:
    char buffer_[PATH_MAX];
    const char *result_; // the path that was given, or buffer_
};

/// Translates a path in the card's tree back to the name below /sys, in place.
void restore_sysfs_name(char *path);

} // namespace opendoca::card
