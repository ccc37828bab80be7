// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Names of files that the card provides in place of the kernel.
#pragma once

#include <climits>

namespace opendoca::card {

/// The folder of this program's side of the card, or "" where there is no card.
const char *side_folder();

/// N of "/dev/infiniband/uverbsN", or -1.
int uverbs_number(const char *path);

/// Where the file `path` of sysfs really is.
class SysfsPath {
public:
    explicit SysfsPath(const char *path);
    [[nodiscard]] const char *get() const { return result_; }

private:
    char buffer_[PATH_MAX];
    const char *result_;
};

/// Turns the real name of a file of the card's sysfs tree back into the name below /sys, in place.
void restore_sysfs_name(char *path);

} // namespace opendoca::card
