// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "preload_path.hpp"

#include <cstdio>
#include <filesystem>
#include <system_error>

namespace opendoca::card {

std::string preload_library()
{
    namespace fs = std::filesystem;
    // By the executable's own path: argv[0] may be a name that the shell found, and the tree may have been moved.
    std::error_code error;
    const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path &path : {folder / CARD_PRELOAD_NAME, folder / CARD_PRELOAD_FROM_BIN}) {
        if (fs::exists(path, error))
            return fs::canonical(path, error);
    }
    std::fprintf(stderr, "with_card: " CARD_PRELOAD_NAME " is neither in %s nor in %s of it\n", folder.c_str(),
                 CARD_PRELOAD_FROM_BIN);
    return {};
}

} // namespace opendoca::card
