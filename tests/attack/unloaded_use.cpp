// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "unloaded.hpp"

#include <cstdint>
#include <cstring>

#include <doca_dev.h>
#include <doca_mmap.h>

namespace attack {

void export_memory(void *library)
{
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
}

} // namespace attack
