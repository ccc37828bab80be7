// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "xrc_domain.hpp"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "process.hpp"

namespace opendoca::card {

int XrcFiles::open(const Process &process, int fd, bool creates, bool is_new,
                   std::shared_ptr<const XrcIdentity> &identity)
{
    std::erase_if(domains_, [](const auto &entry) { return entry.second.expired(); });
    // O_PATH takes hold of the file without opening it, which could block on a pipe or on a file system of a program.
    // For the same reason its number is asked for without synchronisation.
    const std::string path = "/proc/" + std::to_string(process.pid()) + "/fd/" + std::to_string(fd);
    UniqueFd file(fd < 0 ? -1 : ::open(path.c_str(), O_PATH | O_CLOEXEC));
    struct statx state {};
    if (!file.is_open() || statx(file.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &state) != 0)
        return EBADF;
    const std::pair<dev_t, ino_t> key{makedev(state.stx_dev_major, state.stx_dev_minor), state.stx_ino};
    if (const auto found = domains_.find(key); found != domains_.end()) {
        identity = found->second.lock();
        return is_new ? EINVAL : 0;
    }
    if (!creates)
        return EAGAIN;
    if (domains_.size() == max_files)
        return ENOMEM;
    identity = std::make_shared<const XrcIdentity>(XrcIdentity{std::move(file)});
    domains_.emplace(key, identity);
    return 0;
}

} // namespace opendoca::card
