// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "failing.hpp"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

namespace attack {

namespace {

Failing failing = Failing::nothing;
std::uint64_t wanted = 0;
std::uint64_t count = 0;
const char *failed = nullptr;
thread_local int depth = 0;
std::atomic<std::int64_t> live_allocations{0};

bool is_struck(Failing what, const char *function) noexcept
{
    if (depth == 0 || failing != what || ++count != wanted)
        return false;
    failed = function;
    return true;
}

bool allocation_fails(const char *function) noexcept
{
    if (!is_struck(Failing::allocations, function))
        return false;
    errno = ENOMEM;
    return true;
}

void *note(void *memory) noexcept
{
    if (memory != nullptr)
        live_allocations.fetch_add(1, std::memory_order_relaxed);
    return memory;
}

void forget(void *memory) noexcept
{
    if (memory != nullptr)
        live_allocations.fetch_sub(1, std::memory_order_relaxed);
}

/// With an error that this call can have where the machine is short of something.
bool call_fails(const char *function, int error) noexcept
{
    if (!is_struck(Failing::system_calls, function))
        return false;
    errno = error;
    return true;
}

template <typename Function>
Function *real(const char *name) noexcept
{
    return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

} // namespace

void fail_at(Failing what, std::uint64_t k) noexcept
{
    failing = what;
    wanted = k;
    count = 0;
    failed = nullptr;
}

std::uint64_t counted() noexcept
{
    return count;
}

const char *failed_function() noexcept
{
    return failed;
}

Inside::Inside() noexcept
{
    ++depth;
}

Inside::~Inside()
{
    --depth;
}

Outside::Outside() noexcept : depth_(depth)
{
    depth = 0;
}

Outside::~Outside()
{
    depth = depth_;
}

Resources count_resources() noexcept
{
    Resources found = {live_allocations, 0, 0};
    for (int fd = 0; fd < 256; ++fd)
        found.descriptors += fcntl(fd, F_GETFD) >= 0;
    // Read without memory of our own, which would be counted.
    const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char text[4096];
    ssize_t size;
    while ((size = read(maps, text, sizeof(text))) > 0) {
        for (const char *at = text; (at = static_cast<const char *>(std::memchr(at, '\n', text + size - at))); ++at)
            ++found.mappings;
    }
    close(maps);
    return found;
}

} // namespace attack

// What the C library has under these names. Those that allocate are there by names of their own.

extern "C" {

void *__libc_malloc(std::size_t size);
void *__libc_calloc(std::size_t count, std::size_t size);
void *__libc_realloc(void *memory, std::size_t size);
void *__libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void *memory);

void *malloc(std::size_t size) noexcept
{
    return attack::allocation_fails("malloc") ? nullptr : attack::note(__libc_malloc(size));
}

void *calloc(std::size_t count, std::size_t size) noexcept
{
    return attack::allocation_fails("calloc") ? nullptr : attack::note(__libc_calloc(count, size));
}

void *realloc(void *memory, std::size_t size) noexcept
{
    if (attack::allocation_fails("realloc"))
        return nullptr;
    attack::forget(memory);
    return attack::note(__libc_realloc(memory, size));
}

void *memalign(std::size_t alignment, std::size_t size) noexcept
{
    return attack::allocation_fails("memalign") ? nullptr : attack::note(__libc_memalign(alignment, size));
}

void *aligned_alloc(std::size_t alignment, std::size_t size) noexcept
{
    return memalign(alignment, size);
}

int posix_memalign(void **memory, std::size_t alignment, std::size_t size) noexcept
{
    void *const made = memalign(alignment, size);
    if (made == nullptr)
        return ENOMEM;
    *memory = made;
    return 0;
}

void free(void *memory) noexcept
{
    attack::forget(memory);
    __libc_free(memory);
}

#define REPLACED(result, name, parameters, arguments, specification, failure, error)                                   \
    result name parameters specification                                                                               \
    {                                                                                                                  \
        static auto *const call = attack::real<result parameters>(#name);                                              \
        return attack::call_fails(#name, error) ? failure : call arguments;                                            \
    }

REPLACED(void *, mmap, (void *at, std::size_t size, int protection, int flags, int fd, off_t offset),
         (at, size, protection, flags, fd, offset), noexcept, MAP_FAILED, ENOMEM)
REPLACED(int, memfd_create, (const char *name, unsigned flags), (name, flags), noexcept, -1, EMFILE)
REPLACED(int, socket, (int domain, int type, int protocol), (domain, type, protocol), noexcept, -1, EMFILE)
REPLACED(int, accept4, (int fd, sockaddr *address, socklen_t *length, int flags), (fd, address, length, flags), , -1,
         EMFILE)
REPLACED(int, bind, (int fd, const sockaddr *address, socklen_t length), (fd, address, length), noexcept, -1, ENOMEM)
REPLACED(int, listen, (int fd, int backlog), (fd, backlog), noexcept, -1, ENOBUFS)
REPLACED(int, connect, (int fd, const sockaddr *address, socklen_t length), (fd, address, length), , -1, ENOBUFS)
REPLACED(int, getsockopt, (int fd, int level, int name, void *value, socklen_t *length),
         (fd, level, name, value, length), noexcept, -1, ENOBUFS)
REPLACED(int, setsockopt, (int fd, int level, int name, const void *value, socklen_t length),
         (fd, level, name, value, length), noexcept, -1, ENOBUFS)
REPLACED(ssize_t, sendmsg, (int fd, const msghdr *message, int flags), (fd, message, flags), , -1, ENOBUFS)
REPLACED(ssize_t, recvmsg, (int fd, msghdr *message, int flags), (fd, message, flags), , -1, ENOMEM)
REPLACED(ssize_t, send, (int fd, const void *bytes, std::size_t size, int flags), (fd, bytes, size, flags), , -1,
         ENOBUFS)
REPLACED(ssize_t, recv, (int fd, void *bytes, std::size_t size, int flags), (fd, bytes, size, flags), , -1, ENOMEM)
REPLACED(int, epoll_create1, (int flags), (flags), noexcept, -1, EMFILE)
REPLACED(int, epoll_wait, (int epoll, epoll_event *events, int size, int timeout), (epoll, events, size, timeout), , -1,
         EINTR)
REPLACED(int, timerfd_create, (int clock, int flags), (clock, flags), noexcept, -1, EMFILE)
REPLACED(int, timerfd_settime, (int fd, int flags, const itimerspec *value, itimerspec *before),
         (fd, flags, value, before), noexcept, -1, ECANCELED)
REPLACED(int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends), noexcept,
         -1, EMFILE)
REPLACED(int, madvise, (void *at, std::size_t size, int advice), (at, size, advice), noexcept, -1, ENOMEM)
REPLACED(int, pthread_create,
         (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument),
         (thread, attributes, function, argument), noexcept, EAGAIN, EAGAIN)
REPLACED(int, eventfd, (unsigned value, int flags), (value, flags), noexcept, -1, EMFILE)
REPLACED(int, pipe2, (int ends[2], int flags), (ends, flags), noexcept, -1, EMFILE)
REPLACED(int, poll, (pollfd * fds, nfds_t size, int timeout), (fds, size, timeout), , -1, ENOMEM)
REPLACED(int, ftruncate, (int fd, off_t size), (fd, size), noexcept, -1, ENOSPC)
REPLACED(int, fstat, (int fd, struct stat *info), (fd, info), noexcept, -1, ENOMEM)
REPLACED(int, stat, (const char *path, struct stat *info), (path, info), noexcept, -1, ENOMEM)
REPLACED(int, lstat, (const char *path, struct stat *info), (path, info), noexcept, -1, ENOMEM)
REPLACED(int, fstatfs, (int fd, struct statfs *info), (fd, info), noexcept, -1, ENOMEM)
REPLACED(ssize_t, getrandom, (void *bytes, std::size_t size, unsigned flags), (bytes, size, flags), , -1, ENOSYS)
REPLACED(ssize_t, pread, (int fd, void *bytes, std::size_t size, off_t offset), (fd, bytes, size, offset), , -1, ENOMEM)
REPLACED(ssize_t, pwrite, (int fd, const void *bytes, std::size_t size, off_t offset), (fd, bytes, size, offset), , -1,
         ENOMEM)
REPLACED(ssize_t, read, (int fd, void *bytes, std::size_t size), (fd, bytes, size), , -1, EINTR)
REPLACED(ssize_t, write, (int fd, const void *bytes, std::size_t size), (fd, bytes, size), , -1, EINTR)
REPLACED(ssize_t, process_vm_readv,
         (pid_t pid, const iovec *here, unsigned long num_here, const iovec *there, unsigned long num_there,
          unsigned long flags),
         (pid, here, num_here, there, num_there, flags), noexcept, -1, ENOMEM)
REPLACED(ssize_t, process_vm_writev,
         (pid_t pid, const iovec *here, unsigned long num_here, const iovec *there, unsigned long num_there,
          unsigned long flags),
         (pid, here, num_here, there, num_there, flags), noexcept, -1, ENOMEM)
REPLACED(int, kill, (pid_t pid, int signal), (pid, signal), noexcept, -1, EPERM)
REPLACED(int, mkdir, (const char *path, mode_t mode), (path, mode), noexcept, -1, ENOSPC)
REPLACED(int, unlinkat, (int directory, const char *path, int flags), (directory, path, flags), noexcept, -1, EACCES)
REPLACED(int, fstatat, (int directory, const char *path, struct stat *info, int flags), (directory, path, info, flags),
         noexcept, -1, ENOMEM)
REPLACED(int, flock, (int fd, int action), (fd, action), noexcept, -1, ENOLCK)
REPLACED(int, shutdown, (int fd, int how), (fd, how), noexcept, -1, ENOTCONN)
REPLACED(int, getsockname, (int fd, sockaddr *address, socklen_t *length), (fd, address, length), noexcept, -1, ENOBUFS)
REPLACED(int, eventfd_read, (int fd, eventfd_t *value), (fd, value), , -1, EINTR)
REPLACED(int, eventfd_write, (int fd, eventfd_t value), (fd, value), , -1, EINTR)
REPLACED(dirent *, readdir, (DIR * directory), (directory), , nullptr, ENOMEM)
REPLACED(ssize_t, __getdelim, (char **line, std::size_t *size, int end, FILE *file), (line, size, end, file), , -1,
         ENOMEM)
REPLACED(int, unlink, (const char *path), (path), noexcept, -1, EACCES)
REPLACED(int, rename, (const char *from, const char *to), (from, to), noexcept, -1, ENOSPC)
REPLACED(ssize_t, readlink, (const char *path, char *text, std::size_t size), (path, text, size), noexcept, -1, ENOMEM)
REPLACED(DIR *, opendir, (const char *path), (path), , nullptr, EMFILE)
REPLACED(DIR *, fdopendir, (int fd), (fd), , nullptr, ENOMEM)
REPLACED(FILE *, fopen, (const char *path, const char *mode), (path, mode), , nullptr, EMFILE)
REPLACED(int, getifaddrs, (ifaddrs * *list), (list), noexcept, -1, EMFILE)

// A caller that gives fewer arguments than these read gives whatever there is, which the kernel does not look
// at.

int open(const char *path, int flags, ...)
{
    static auto *const call = attack::real<int(const char *, int, long)>("open");
    va_list rest;
    va_start(rest, flags);
    const long mode = va_arg(rest, long);
    va_end(rest);
    return attack::call_fails("open", EMFILE) ? -1 : call(path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
    static auto *const call = attack::real<int(int, const char *, int, long)>("openat");
    va_list rest;
    va_start(rest, flags);
    const long mode = va_arg(rest, long);
    va_end(rest);
    return attack::call_fails("openat", EMFILE) ? -1 : call(directory, path, flags, mode);
}

int fcntl(int fd, int command, ...)
{
    static auto *const call = attack::real<int(int, int, long)>("fcntl");
    va_list rest;
    va_start(rest, command);
    const long argument = va_arg(rest, long);
    va_end(rest);
    return attack::call_fails("fcntl", command == F_DUPFD_CLOEXEC ? EMFILE : ENOMEM) ? -1 : call(fd, command, argument);
}

int prctl(int option, ...) noexcept
{
    static auto *const call = attack::real<int(int, long, long, long, long)>("prctl");
    va_list rest;
    va_start(rest, option);
    long words[4];
    for (long &word : words)
        word = va_arg(rest, long);
    va_end(rest);
    return attack::call_fails("prctl", EINVAL) ? -1 : call(option, words[0], words[1], words[2], words[3]);
}

/// Only what adds a descriptor needs memory: to change or remove one that is watched does not fail in the kernel.
int epoll_ctl(int epoll, int action, int fd, epoll_event *event) noexcept
{
    static auto *const call = attack::real<int(int, int, int, epoll_event *)>("epoll_ctl");
    return action == EPOLL_CTL_ADD && attack::call_fails("epoll_ctl", ENOSPC) ? -1 : call(epoll, action, fd, event);
}

long syscall(long number, ...) noexcept
{
    static auto *const call = attack::real<long(long, long, long, long, long, long, long)>("syscall");
    va_list rest;
    va_start(rest, number);
    long words[6];
    for (long &word : words)
        word = va_arg(rest, long);
    va_end(rest);
    const char *const name = number == SYS_membarrier    ? "membarrier"
                             : number == SYS_pidfd_open  ? "pidfd_open"
                             : number == SYS_pidfd_getfd ? "pidfd_getfd"
                             : number == SYS_futex       ? "futex"
                                                         : "syscall";
    // To wake a thread does not fail in the kernel, and std::atomic::notify_one() relies on that.
    const bool wakes = number == SYS_futex && (words[1] & FUTEX_CMD_MASK) == FUTEX_WAKE;
    if (!wakes && attack::call_fails(name, number == SYS_futex ? EINTR : number == SYS_membarrier ? ENOMEM : EMFILE))
        return -1;
    return call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
}
