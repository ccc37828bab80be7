// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "folder.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

namespace opendoca::card {

namespace {

/// Returns whether only this user can access the folder. A symbolic link is no folder here: in /tmp another user might
/// have created it.
bool is_private_folder(const std::string &path)
{
    struct stat state {};
    return lstat(path.c_str(), &state) == 0 && S_ISDIR(state.st_mode) && state.st_uid == geteuid() &&
           (state.st_mode & 077) == 0;
}

} // namespace

std::string cards_folder()
{
    const char *runtime = std::getenv("XDG_RUNTIME_DIR");
    // Limits the length of socket names, which have at most 107 characters.
    constexpr std::size_t longest = 40;
    const bool has_runtime =
        runtime != nullptr && *runtime == '/' && std::strlen(runtime) <= longest && access(runtime, W_OK) == 0;
    const std::string folder =
        has_runtime ? std::string(runtime) + "/opendoca-cards" : "/tmp/opendoca-cards-" + std::to_string(geteuid());
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        std::fprintf(stderr, "with_card: cannot create the folder %s: %s\n", folder.c_str(), std::strerror(errno));
        return {};
    }
    if (!is_private_folder(folder)) {
        std::fprintf(stderr,
                     "with_card: %s must be a folder that belongs to user %u and that no other user can access\n",
                     folder.c_str(), geteuid());
        return {};
    }
    return folder;
}

} // namespace opendoca::card
