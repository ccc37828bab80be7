// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A program that loads the library, exports memory, destroys everything and unloads the library, again and
// again: no descriptor and no mapping is left each time.
//     attack_unloaded LIBRARY
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <dlfcn.h>

#include "unloaded.hpp"

namespace {

using attack::export_memory;
using attack::must;

struct Held {
    std::size_t descriptors = 0, mappings = 0;

    static Held now()
    {
        Held held;
        for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
            ++held.descriptors;
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);)
            held.mappings += line.find("memfd:opendoca") != line.npos;
        return held;
    }
};

void load_and_use(const char *path)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    must(library != nullptr, "the library can be loaded");
    export_memory(library);
    must(dlclose(library) == 0, "the library can be unloaded");
}

} // namespace

int main(int argc, char **argv)
{
    must(argc == 2, "the argument is the library");
    setenv("DOCA_SOFT", "1", 1);
    load_and_use(argv[1]);
    const Held once = Held::now();
    for (int i = 0; i < 8; ++i)
        load_and_use(argv[1]);
    const Held often = Held::now();
    std::printf("%zu descriptors and %zu pages, then %zu and %zu\n", once.descriptors, once.mappings, often.descriptors,
                often.mappings);
    must(often.descriptors == once.descriptors && often.mappings == once.mappings, "nothing is left each time");
}
