// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A program that loads the library, exports memory, destroys everything and unloads the library, again and
// again: no descriptor and no mapping is left each time.
//     attack_unloaded LIBRARY
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <dlfcn.h>

#include <doca_dev.h>
#include <doca_mmap.h>

namespace {

void must(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "not true: %s\n", what);
    std::exit(1);
}

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

/// Calls a function of the library by its name.
template <typename Function, typename... Arguments>
void call(void *library, const char *name, Function *, Arguments... arguments)
{
    auto *const function = reinterpret_cast<Function *>(dlsym(library, name));
    must(function != nullptr && function(arguments...) == DOCA_SUCCESS, name);
}
#define CALL(name, ...) call(library, #name, static_cast<decltype(name) *>(nullptr), __VA_ARGS__)

void use(const char *path)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    must(library != nullptr, "the library can be loaded");
    doca_devinfo **list = nullptr;
    std::uint32_t size = 0;
    CALL(doca_devinfo_list_create, &list, &size);
    doca_dev *dev = nullptr;
    for (std::uint32_t i = 0; i < size && dev == nullptr; ++i) {
        char name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
        CALL(doca_devinfo_get_ibdev_name, list[i], name, std::uint32_t{sizeof(name)});
        if (std::strcmp(name, "soft_pf0") == 0)
            CALL(doca_dev_open, list[i], &dev);
    }
    static char memory[64];
    doca_mmap *mmap = nullptr;
    const void *descriptor = nullptr;
    std::size_t length = 0;
    CALL(doca_mmap_create, nullptr, &mmap);
    CALL(doca_mmap_dev_add, mmap, dev);
    CALL(doca_mmap_set_memrange, mmap, memory, sizeof(memory));
    CALL(doca_mmap_set_permissions, mmap, DOCA_ACCESS_DPU_READ_ONLY);
    CALL(doca_mmap_start, mmap);
    CALL(doca_mmap_export_dpu, mmap, dev, &descriptor, &length);
    CALL(doca_mmap_destroy, mmap);
    CALL(doca_dev_close, dev);
    CALL(doca_devinfo_list_destroy, list);
    must(dlclose(library) == 0, "the library can be unloaded");
}

} // namespace

int main(int argc, char **argv)
{
    must(argc == 2, "the argument is the library");
    setenv("DOCA_SOFT", "1", 1);
    use(argv[1]);
    const Held once = Held::now();
    for (int i = 0; i < 8; ++i)
        use(argv[1]);
    const Held often = Held::now();
    std::printf("%zu descriptors and %zu pages, then %zu and %zu\n", once.descriptors, once.mappings,
                often.descriptors, often.mappings);
    must(often.descriptors == once.descriptors && often.mappings == once.mappings,
         "nothing is left each time");
}
