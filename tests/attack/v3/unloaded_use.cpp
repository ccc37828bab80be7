// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../unloaded.hpp"

#include <cstdint>
#include <cstring>

#include <doca_dev.h>
#include <doca_mmap.h>

namespace attack {

void export_memory(void *library)
{
    doca_devinfo **list = nullptr;
    std::uint32_t size = 0;
    CALL(doca_devinfo_create_list, &list, &size);
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
    CALL(doca_mmap_create, &mmap);
    CALL(doca_mmap_add_dev, mmap, dev);
    CALL(doca_mmap_set_memrange, mmap, memory, sizeof(memory));
    CALL(doca_mmap_set_permissions, mmap, std::uint32_t{DOCA_ACCESS_FLAG_PCI_READ_ONLY});
    CALL(doca_mmap_start, mmap);
    CALL(doca_mmap_export_pci, mmap, dev, &descriptor, &length);
    CALL(doca_mmap_destroy, mmap);
    CALL(doca_dev_close, dev);
    CALL(doca_devinfo_destroy_list, list);
}

} // namespace attack
