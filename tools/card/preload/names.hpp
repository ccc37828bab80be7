// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Names of files that the card provides in place of the kernel.
#pragma once

#include <climits>

namespace opendoca::card {

/// Returns the folder of this program's side of the card, or "" if the program runs without a card.
const char *side_folder();

/// Returns N of "/dev/infiniband/uverbsN", or -1.
int uverbs_number(const char *path);

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
