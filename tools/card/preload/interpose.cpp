// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Replacements of the functions of libc that reach a device of the card or sysfs. For anything else each calls libc's
// function of the same name. A real function is found by next(), with a number that is unique in this library: 0 to 42,
// and 100 more for the variants by descriptor in stat_at().

// Fortified headers and large file support must not rename the functions that are defined below.
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "../wire.hpp"
#include "card_file.hpp"
#include "names.hpp"
#include "netlink.hpp"
#include "next.hpp"

using namespace opendoca::card;

namespace {

using Open = int(const char *, int, ...);
using OpenAt = int(int, const char *, int, ...);
using Stat = int(const char *, struct stat *);
using Stat64 = int(const char *, struct stat64 *);

/// Returns the optional third argument of open(), which exists for certain flags only.
mode_t mode_argument(int flags, va_list arguments)
{
    const bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return has_mode ? va_arg(arguments, mode_t) : 0;
}

/// Sets the type and the device number of a uverbs device or of rdma_cm.
template <typename Result>
void describe_device(Result &result, int number)
{
    result.st_mode = S_IFCHR | 0666;
    result.st_rdev = number == rdma_cm_device ? makedev(rdma_cm_major, rdma_cm_minor)
                                              : makedev(uverbs_major, uverbs_minor + static_cast<unsigned>(number));
}

/// Implements stat() of a device node, which exists if its socket does.
template <typename Result>
int stat_device(Result *result, int number)
{
    // The socket's existence stands for that of the node.
    struct stat socket_state {};
    char path[PATH_MAX];
    if (!store_socket_path(path, sizeof(path), number)) {
        errno = ENOENT;
        return -1;
    }
    if (next<Stat, 0>("stat")(path, &socket_state) != 0)
        return -1;
    *result = {};
    describe_device(*result, number);
    return 0;
}

/// Implements stat() and its variants by path.
template <int Tag, typename Result>
int stat_path(const char *name, const char *path, Result *result)
{
    const int number = device_number(path);
    if (number >= 0)
        return stat_device(result, number);
    return next<int(const char *, Result *), Tag>(name)(SysfsPath(path).get(), result);
}

/// Implements fstat() and its variants.
template <int Tag, typename Result>
int stat_descriptor(const char *name, int fd, Result *result)
{
    const int error = next<int(int, Result *), Tag>(name)(fd, result);
    if (error == 0 && S_ISSOCK(result->st_mode)) {
        const int number = device_number(fd);
        if (number >= 0)
            describe_device(*result, number);
    }
    return error;
}

/// Implements fstatat() and its variants.
template <int Tag, typename Result>
int stat_at(const char *name, int folder, const char *path, Result *result, int flags)
{
    const int number = device_number(path);
    if (number >= 0)
        return stat_device(result, number);
    if (path != nullptr && *path == '\0' && (flags & AT_EMPTY_PATH) != 0)
        return stat_descriptor<Tag + 100>(sizeof(Result) == sizeof(struct stat) ? "fstat" : "fstat64", folder, result);
    return next<int(int, const char *, Result *, int), Tag>(name)(folder, SysfsPath(path).get(), result, flags);
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// The functions below have the signatures of libc's. Each checks whether its path or descriptor belongs to the card,
// and passes everything else on to the next library. They are called by any thread, also before main().
int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    const int number = device_number(path);
    return number >= 0 ? open_device(number) : next<Open, 1>("open")(SysfsPath(path).get(), flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    const int number = device_number(path);
    return number >= 0 ? open_device(number) : next<Open, 2>("open64")(SysfsPath(path).get(), flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    const int number = device_number(path);
    return number >= 0 ? open_device(number) : next<OpenAt, 3>("openat")(folder, SysfsPath(path).get(), flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_argument(flags, arguments);
    va_end(arguments);
    const int number = device_number(path);
    return number >= 0 ? open_device(number) : next<OpenAt, 4>("openat64")(folder, SysfsPath(path).get(), flags, mode);
}

// Called by programs that were compiled with _FORTIFY_SOURCE.
int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

int __open64_2(const char *path, int flags)
{
    return open64(path, flags);
}

int __openat_2(int folder, const char *path, int flags)
{
    return openat(folder, path, flags);
}

int __openat64_2(int folder, const char *path, int flags)
{
    return openat64(folder, path, flags);
}

FILE *fopen(const char *path, const char *mode)
{
    return next<FILE *(const char *, const char *), 5>("fopen")(SysfsPath(path).get(), mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return next<FILE *(const char *, const char *), 6>("fopen64")(SysfsPath(path).get(), mode);
}

DIR *opendir(const char *path)
{
    return next<DIR *(const char *), 7>("opendir")(SysfsPath(path).get());
}

// Device nodes may be read and written, but not executed.
int access(const char *path, int mode) noexcept
{
    const int number = device_number(path);
    struct stat ignored {};
    if (number >= 0)
        return (mode & X_OK) != 0 ? (errno = EACCES, -1) : stat_device(&ignored, number);
    return next<int(const char *, int), 8>("access")(SysfsPath(path).get(), mode);
}

int faccessat(int folder, const char *path, int mode, int flags) noexcept
{
    if (device_number(path) >= 0)
        return access(path, mode);
    return next<int(int, const char *, int, int), 9>("faccessat")(folder, SysfsPath(path).get(), mode, flags);
}

ssize_t readlink(const char *path, char *target, size_t size) noexcept
{
    return next<ssize_t(const char *, char *, size_t), 10>("readlink")(SysfsPath(path).get(), target, size);
}

ssize_t readlinkat(int folder, const char *path, char *target, size_t size) noexcept
{
    return next<ssize_t(int, const char *, char *, size_t), 11>("readlinkat")(folder, SysfsPath(path).get(), target,
                                                                              size);
}

// Programs must see names below /sys, not those in the card's folder.
char *realpath(const char *path, char *resolved) noexcept
{
    char *result = next<char *(const char *, char *), 12>("realpath")(SysfsPath(path).get(), resolved);
    if (result != nullptr)
        restore_sysfs_name(result);
    return result;
}

// Called by programs that were compiled with _FORTIFY_SOURCE; aborts as libc's does if the buffer is too small.
char *__realpath_chk(const char *path, char *resolved, size_t size) noexcept
{
    if (size < PATH_MAX)
        std::abort();
    return realpath(path, resolved);
}

char *canonicalize_file_name(const char *path) noexcept
{
    return realpath(path, nullptr);
}

int scandir(const char *path, dirent ***list, int (*filter)(const dirent *),
            int (*compare)(const dirent **, const dirent **))
{
    return next<decltype(scandir), 13>("scandir")(SysfsPath(path).get(), list, filter, compare);
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size) noexcept
{
    return next<decltype(getxattr), 31>("getxattr")(SysfsPath(path).get(), name, value, size);
}

ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size) noexcept
{
    return next<decltype(lgetxattr), 32>("lgetxattr")(SysfsPath(path).get(), name, value, size);
}

int stat(const char *path, struct stat *result) noexcept
{
    return stat_path<14>("stat", path, result);
}

int stat64(const char *path, struct stat64 *result) noexcept
{
    return stat_path<15>("stat64", path, result);
}

int lstat(const char *path, struct stat *result) noexcept
{
    return stat_path<16>("lstat", path, result);
}

int lstat64(const char *path, struct stat64 *result) noexcept
{
    return stat_path<17>("lstat64", path, result);
}

int fstat(int fd, struct stat *result) noexcept
{
    return stat_descriptor<18>("fstat", fd, result);
}

int fstat64(int fd, struct stat64 *result) noexcept
{
    return stat_descriptor<19>("fstat64", fd, result);
}

int fstatat(int folder, const char *path, struct stat *result, int flags) noexcept
{
    return stat_at<20>("fstatat", folder, path, result, flags);
}

int fstatat64(int folder, const char *path, struct stat64 *result, int flags) noexcept
{
    return stat_at<21>("fstatat64", folder, path, result, flags);
}

// Of a device node only type, mode and device number are reported.
int statx(int folder, const char *path, int flags, unsigned mask, struct statx *result) noexcept
{
    const auto real = next<int(int, const char *, int, unsigned, struct statx *), 22>("statx");
    const int number = device_number(path);
    if (number < 0)
        return real(folder, SysfsPath(path).get(), flags, mask, result);
    struct stat device {};
    if (stat_device(&device, number) != 0)
        return -1;
    *result = {};
    result->stx_mask = STATX_TYPE | STATX_MODE;
    result->stx_mode = static_cast<decltype(result->stx_mode)>(device.st_mode);
    result->stx_rdev_major = major(device.st_rdev);
    result->stx_rdev_minor = minor(device.st_rdev);
    return 0;
}

// Only the uverbs ioctl of a uverbs descriptor goes to the card. Others, such as FIONBIO, act on the socket.
int ioctl(int fd, unsigned long request, ...) noexcept
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (request == RDMA_VERBS_IOCTL && is_uverbs(fd))
        return card_ioctl(fd, argument);
    return next<int(int, unsigned long, ...), 23>("ioctl")(fd, request, argument);
}

// Maps pages of the card: the kernel refuses to map a socket, with ENODEV.
void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) noexcept
{
    void *pages =
        next<void *(void *, size_t, int, int, int, off_t), 24>("mmap")(address, length, protection, flags, fd, offset);
    if (pages == MAP_FAILED && errno == ENODEV && fd >= 0 && is_uverbs(fd))
        return card_map(fd, length, protection, offset);
    return pages;
}

void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) noexcept
{
    return mmap(address, length, protection, flags, fd, offset);
}

// libibverbs discovers devices by RDMA netlink first, and through sysfs only if that fails. A card lists the devices of
// the program's side by it.
int socket(int domain, int type, int protocol) noexcept
{
    if (domain == AF_NETLINK && protocol == NETLINK_RDMA && *side_folder() != '\0')
        return open_rdma_netlink(type);
    if (domain == AF_NETLINK && protocol == NETLINK_GENERIC && has_netlink())
        return open_netlink(type);
    return next<int(int, int, int), 25>("socket")(domain, type, protocol);
}

// A connection to the card is no netlink socket: addresses and options of netlink are emulated below.
int bind(int fd, const sockaddr *address, socklen_t size) noexcept
{
    return is_netlink(fd) ? 0 : next<decltype(bind), 26>("bind")(fd, address, size);
}

// The port number of a process's first netlink socket is its process id.
int getsockname(int fd, sockaddr *address, socklen_t *size) noexcept
{
    if (!is_netlink(fd))
        return next<decltype(getsockname), 27>("getsockname")(fd, address, size);
    store_netlink_address(static_cast<unsigned>(getpid()), address, size);
    return 0;
}

// Options of netlink, such as group membership and extended acknowledgements, have no effect here.
int setsockopt(int fd, int level, int name, const void *value, socklen_t size) noexcept
{
    if (level == SOL_NETLINK && is_netlink(fd))
        return 0;
    return next<decltype(setsockopt), 28>("setsockopt")(fd, level, name, value, size);
}

// Replies appear to come from the kernel (port 0), which libraries verify.
ssize_t recvmsg(int fd, msghdr *message, int flags)
{
    const socklen_t room = message->msg_namelen;
    const ssize_t got = next<decltype(recvmsg), 29>("recvmsg")(fd, message, flags);
    if (got >= 0 && message->msg_name != nullptr && is_netlink(fd)) {
        message->msg_namelen = room;
        store_netlink_address(0, message->msg_name, &message->msg_namelen);
    }
    return got;
}

// As recvmsg().
ssize_t recvfrom(int fd, void *buffer, size_t size, int flags, sockaddr *address, socklen_t *address_size)
{
    const socklen_t room = address_size != nullptr ? *address_size : 0;
    const ssize_t got = next<decltype(recvfrom), 30>("recvfrom")(fd, buffer, size, flags, address, address_size);
    if (got >= 0 && address != nullptr && address_size != nullptr && is_netlink(fd)) {
        *address_size = room;
        store_netlink_address(0, address, address_size);
    }
    return got;
}

} // extern "C"
#pragma GCC visibility pop
