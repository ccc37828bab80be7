// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "card_file.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "../wire.hpp"
#include "names.hpp"

namespace opendoca::card {

namespace {

/// Sets the address of a device's socket. Returns false if it is too long.
bool set_path(sockaddr_un &address, int number)
{
    address = {};
    address.sun_family = AF_UNIX;
    return store_socket_path(address.sun_path, sizeof(address.sun_path), number);
}

/// Permits the card's process to read this process's memory, which Yama (ptrace_scope 1) otherwise refuses. Done once
/// for each process: the permission is not inherited by fork. Concurrent first calls repeat the same system call, so
/// the relaxed accesses to allowed_process need no order.
void allow_card_to_read_memory(int fd)
{
    static pid_t allowed_process = 0; // value of another process after a fork
    const pid_t self = getpid();
    if (__atomic_load_n(&allowed_process, __ATOMIC_RELAXED) == self)
        return;
    ucred peer{};
    socklen_t length = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0)
        prctl(PR_SET_PTRACER, static_cast<unsigned long>(peer.pid), 0, 0, 0); // EINVAL: the kernel has no Yama
    __atomic_store_n(&allowed_process, self, __ATOMIC_RELAXED);
}

/// Sends a request with its descriptors. Returns false if the card's process has ended.
bool send_request(int fd, const Request &request, const int *descriptors, std::size_t count)
{
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    iovec part = {const_cast<Request *>(&request), sizeof(request)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
    ssize_t sent = 0;
    do
        sent = sendmsg(fd, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(sizeof(request));
}

/// Receives the reply. Stores the number of a received descriptor at the address that the card gives. Returns an errno,
/// or 0.
int receive_reply(int fd, Reply &reply)
{
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    iovec part = {&reply, sizeof(reply)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    ssize_t got = 0;
    do
        got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(sizeof(reply)))
        return EIO; // the card's process has ended
    const cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (reply.descriptors == 1) {
        if (header == nullptr)
            return EMFILE; // the kernel had no number for it
        int received = -1;
        std::memcpy(&received, CMSG_DATA(header), sizeof(received));
        if (reply.slot[0].size == sizeof(std::int64_t))
            *reinterpret_cast<std::int64_t *>(reply.slot[0].address) = received;
        else
            *reinterpret_cast<std::int32_t *>(reply.slot[0].address) = received;
    }
    return reply.error;
}

/// Sends a request with a socket for its reply (and the descriptor `extra`), and blocks until the reply arrives.
/// Returns an errno, or 0.
int call_card(int fd, const Request &request, Reply &reply, int extra = -1)
{
    allow_card_to_read_memory(fd);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return errno;
    const int descriptors[] = {pair[1], extra};
    // Each request has a socket pair of its own for the reply, so concurrent requests cannot take each other's.
    const bool is_sent = send_request(fd, request, descriptors, extra < 0 ? 1 : 2);
    // Closed here, so that the wait for the reply ends if the card's process ends.
    close(pair[1]);
    const int error = is_sent ? receive_reply(pair[0], reply) : EIO;
    close(pair[0]);
    return error;
}

int call_card(int fd, const Request &request, int extra = -1)
{
    Reply reply{};
    return call_card(fd, request, reply, extra);
}

/// Returns this process's userfaultfd, or -1. Sets `is_new` if it was created by this call, so that the card must get
/// it.
int process_userfaultfd(bool &is_new)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static int descriptor = -1;
    static pid_t owner = 0; // process that `descriptor` belongs to
    is_new = false;
    pthread_mutex_lock(&mutex);
    if (owner != getpid()) { // first use, or after a fork: a userfaultfd belongs to one address space
        owner = getpid();
        uffdio_api api{};
        api.api = UFFD_API;
        api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP;
        descriptor = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
        if (descriptor >= 0 && ioctl(descriptor, UFFDIO_API, &api) != 0) {
            close(descriptor);
            descriptor = -1;
        }
        is_new = descriptor >= 0;
    }
    const int result = descriptor;
    pthread_mutex_unlock(&mutex);
    return result;
}

/// Closes the descriptor at an address, as a cleanup handler. Not by close(), which is a cancellation point.
void close_file(void *fd)
{
    syscall(SYS_close, *static_cast<int *>(fd));
}

/// Passes a command of rdma_cm to the card, as card_write().
ssize_t write_command(int fd, const void *command, std::size_t size)
{
    Request request{};
    request.type = RequestType::rdma_cm;
    request.a = reinterpret_cast<std::uintptr_t>(command);
    request.b = size;
    for (;;) {
        Reply reply{};
        // Only the wait for an event is a cancellation point: a thread that ended in a call would leave its sockets
        // open.
        int state = PTHREAD_CANCEL_ENABLE;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
        const int error = call_card(fd, request, reply);
        char mark = 0;
        if (reply.takes_mark != 0)
            recv(reply.mark_descriptor < 0 ? fd : reply.mark_descriptor, &mark, sizeof(mark), MSG_DONTWAIT);
        pthread_setcancelstate(state, nullptr);
        if (error == 0)
            return static_cast<ssize_t>(size);
        errno = error;
        // The card holds no event. It sends a mark with the next one, which stays in the socket for poll(). recv()
        // honours O_NONBLOCK and SA_RESTART as a read of the real device does.
        if (error != EAGAIN)
            return -1;
        const ssize_t got = recv(fd, &mark, sizeof(mark), MSG_PEEK);
        if (got < 0)
            return -1;
        if (got == 0) {
            errno = EIO; // the card's process has ended
            return -1;
        }
    }
}

} // namespace

int device_number(int fd)
{
    const char *folder = side_folder();
    const std::size_t length = std::strlen(folder);
    sockaddr_un address{};
    socklen_t size = sizeof(address);
    const int saved = errno;
    int number = -1;
    // The name of the peer's socket identifies the device.
    if (length != 0 && getpeername(fd, reinterpret_cast<sockaddr *>(&address), &size) == 0 &&
        address.sun_family == AF_UNIX && std::strncmp(address.sun_path, folder, length) == 0) {
        static constexpr char uverbs[] = "/dev/uverbs";
        const char *name = address.sun_path + length;
        if (std::strcmp(name, "/dev/rdma_cm") == 0)
            number = rdma_cm_device;
        else if (std::strncmp(name, uverbs, sizeof(uverbs) - 1) == 0)
            number = std::atoi(name + sizeof(uverbs) - 1);
    }
    errno = saved;
    return number;
}

bool is_uverbs(int fd)
{
    const int number = device_number(fd);
    return number >= 0 && number != rdma_cm_device;
}

int open_device(int number)
{
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    sockaddr_un address{};
    // The card reads this word, to verify that it can access this process's memory.
    const std::uint64_t word = hello_word;
    Request hello{};
    hello.type = RequestType::hello;
    hello.a = reinterpret_cast<std::uintptr_t>(&word);
    hello.b = static_cast<std::uint64_t>(fd);
    int error = ENODEV;
    if (set_path(address, number) && connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0) {
        error = call_card(fd, hello);
        if (error == EPERM)
            std::fprintf(stderr,
                         "with_card: the card is not permitted to read the memory of process %d (another user's, not "
                         "dumpable, or denied by ptrace_scope or seccomp)\n",
                         getpid());
    }
    if (error == 0)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

int card_ioctl(int fd, void *header)
{
    Request request{};
    request.type = RequestType::ioctl;
    request.a = reinterpret_cast<std::uintptr_t>(header);
    Reply reply{};
    int error = call_card(fd, request, reply);
    if (error == EAGAIN && reply.wanted_descriptor >= 0) {
        const int wanted = reply.wanted_descriptor;
        error = fcntl(wanted, F_GETFD) < 0 ? EBADF : call_card(fd, request, reply, wanted);
    }
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

ssize_t card_write(int program_fd, const void *command, std::size_t size)
{
    // The kernel keeps a file open during a system call, so a wait for an event survives a close() by another thread.
    // rping relies on that: its main thread closes the channel on which its other thread waits.
    int fd = fcntl(program_fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    ssize_t result = -1;
    int error = 0;
    pthread_cleanup_push(close_file, &fd); // without exceptions, a cancelled thread runs no destructors
    result = write_command(fd, command, size);
    error = errno;
    pthread_cleanup_pop(1);
    errno = error;
    return result;
}

void *card_map(int fd, std::size_t length, int protection, off_t offset)
{
    // Private pages of this process stand for those of the device. The card reads and writes them like other memory.
    void *pages = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return pages;
    // Doorbell stores are trapped by page, so the pages must neither be shared with a child nor become part of a huge
    // page.
    madvise(pages, length, MADV_DONTFORK);
    madvise(pages, length, MADV_NOHUGEPAGE);
    // Populates the pages: a userfaultfd can write-protect present pages only.
    std::memset(pages, 0, length);
    bool is_new = false;
    const int userfaultfd = process_userfaultfd(is_new);
    if (userfaultfd >= 0) {
        uffdio_register range{};
        range.range.start = reinterpret_cast<std::uintptr_t>(pages);
        range.range.len = length;
        range.mode = UFFDIO_REGISTER_MODE_WP;
        // If this fails, the card cannot protect the page either, and polls.
        ioctl(userfaultfd, UFFDIO_REGISTER, &range);
    }
    Request request{};
    request.type = RequestType::map;
    request.a = reinterpret_cast<std::uintptr_t>(pages);
    request.b = length;
    request.c = static_cast<std::uint64_t>(offset);
    Reply reply{};
    int error = call_card(fd, request, reply, is_new ? userfaultfd : -1);
    if (error == 0 && reply.descriptors == 1) {
        // Memory of the device, which the card and other processes have mapped as well.
        int file = -1;
        std::memcpy(&file, pages, sizeof(file));
        if (mmap(pages, length, protection, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
            error = errno;
        close(file);
        if (error == 0)
            return pages;
    }
    if (error != 0) {
        munmap(pages, length);
        errno = error;
        return MAP_FAILED;
    }
    // The clock page is read-only for the program, and was written by the card before.
    if ((protection & PROT_WRITE) == 0)
        mprotect(pages, length, protection);
    return pages;
}

} // namespace opendoca::card
