// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Which programs share a domain of XRC: those that open it with the same file, by whatever names and descriptors.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include <sys/types.h>

#include "../../../src/core/base/unique_fd.hpp"

namespace opendoca::card {

class Process;

/// The identity of a domain, which all objects XrcDomain of one domain share. It holds the file of the domain, so that
/// the file's inode number is not reused meanwhile. A domain of one program alone has no file.
struct XrcIdentity {
    UniqueFd file;
};

/// The domains of a function that have a file. A member of Function; does not own them: they end with their last
/// object.
class XrcFiles {
public:
    static constexpr std::size_t max_files = 1024; ///< each costs the card a descriptor

    /// Opens the domain of the file that is open in a process as `fd`. The flags `creates` and `is_new` are O_CREAT and
    /// O_EXCL. Returns an errno, or 0 and sets `identity`: EBADF without such a file, EAGAIN if there is no domain and
    /// none may be created, EINVAL if there is one and it must be new, ENOMEM if there are too many.
    [[nodiscard]] int open(const Process &process, int fd, bool creates, bool is_new,
                           std::shared_ptr<const XrcIdentity> &identity);

private:
    std::map<std::pair<dev_t, ino_t>, std::weak_ptr<const XrcIdentity>> domains_; ///< by device and inode of the file
};

} // namespace opendoca::card
