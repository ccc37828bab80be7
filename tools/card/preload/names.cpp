// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "names.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../wire.hpp"

namespace opendoca::card {

namespace {

// Folders that come from the card only: the kernel's own RDMA devices must not be visible.
constexpr const char *replaced_folders[] = {"/sys/class/infiniband", "/sys/class/infiniband_verbs",
                                            "/sys/class/misc/rdma_cm"};
// Folders that show the files of the card and those of the kernel.
constexpr const char *merged_folders[] = {"/sys/class/net", "/sys/bus/pci/devices", "/sys/bus/auxiliary/devices",
                                          "/sys/devices"};

/// Returns whether a path is a folder or in it.
bool is_below(const char *path, const char *folder)
{
    const std::size_t length = std::strlen(folder);
    return std::strncmp(path, folder, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/// Returns whether a file exists, by a system call that this library does not replace. Preserves errno.
bool exists(const char *path)
{
    const int saved = errno;
    const bool found = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
    errno = saved;
    return found;
}

} // namespace

const char *side_folder()
{
    // The value at the first call counts, since programs may clear their environment. Concurrent first calls store the
    // same text. The release store of is_known pairs with the acquire load: a thread that reads true also reads the
    // complete folder.
    static char folder[PATH_MAX];
    static std::atomic<bool> is_known;
    if (!is_known.load(std::memory_order_acquire)) {
        const char *value = std::getenv(side_variable);
        if (value != nullptr && std::strlen(value) < sizeof(folder))
            std::strcpy(folder, value);
        is_known.store(true, std::memory_order_release);
    }
    return folder;
}

int device_number(const char *path)
{
    static constexpr char prefix[] = "/dev/infiniband/uverbs", rdma_cm[] = "/dev/infiniband/rdma_cm";
    if (path == nullptr || *side_folder() == '\0')
        return -1;
    if (std::strcmp(path, rdma_cm) == 0)
        return rdma_cm_device;
    if (std::strncmp(path, prefix, sizeof(prefix) - 1) != 0)
        return -1;
    int number = 0;
    const char *digit = path + sizeof(prefix) - 1;
    if (*digit == '\0')
        return -1;
    for (; *digit != '\0'; ++digit) {
        if (*digit < '0' || *digit > '9' || number > 999)
            return -1;
        number = number * 10 + (*digit - '0');
    }
    return number;
}

bool store_socket_path(char *to, std::size_t size, int number)
{
    const int length = number == rdma_cm_device ? std::snprintf(to, size, "%s/dev/rdma_cm", side_folder())
                                                : std::snprintf(to, size, "%s/dev/uverbs%d", side_folder(), number);
    return length > 0 && static_cast<std::size_t>(length) < size;
}

SysfsPath::SysfsPath(const char *path) : result_(path)
{
    const char *folder = side_folder();
    if (path == nullptr || *folder == '\0' || std::strncmp(path, "/sys/", 5) != 0 ||
        std::strlen(folder) + std::strlen(path) >= sizeof(buffer_))
        return;
    std::strcpy(buffer_, folder);
    std::strcat(buffer_, path);
    for (const char *ours : replaced_folders) {
        if (is_below(path, ours))
            result_ = buffer_;
    }
    for (const char *folder_of_both : merged_folders) {
        if (is_below(path, folder_of_both) && exists(buffer_))
            result_ = buffer_;
    }
}

void restore_sysfs_name(char *path)
{
    const char *folder = side_folder();
    const std::size_t length = std::strlen(folder);
    if (length != 0 && std::strncmp(path, folder, length) == 0 && is_below(path + length, "/sys"))
        std::memmove(path, path + length, std::strlen(path + length) + 1);
}

} // namespace opendoca::card
