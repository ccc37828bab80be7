// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "peer.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <doca_mmap.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "../common/doca.hpp"
#include "machine.hpp"

namespace opendoca::tools {

struct Peer::Line {
    alignas(256) std::atomic<std::uint32_t> value;
};

namespace {

constexpr std::uint32_t ping_pongs = 10000;
constexpr std::uint32_t warm_up = ping_pongs / 5;

enum class Command : std::uint32_t { export_memory, ping_pong };

struct Request {
    Command command;
    MemoryKind kind;
    std::size_t size;
    char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
};

struct Reply {
    std::byte *addr;
    int memfd;
    std::size_t descriptor_size;
    std::byte descriptor[256];
    char problem[200]; ///< empty on success
};

[[noreturn]] void fail(const char *what)
{
    throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

template <typename Message>
void send_message(int fd, const Message &message)
{
    if (send(fd, &message, sizeof(message), MSG_NOSIGNAL) != sizeof(message))
        fail("talking to the other process");
}

/// False when the other end has gone.
template <typename Message>
bool receive_message(int fd, Message &message)
{
    ssize_t size = 0;
    while ((size = recv(fd, &message, sizeof(message), 0)) < 0 && errno == EINTR) {
    }
    return size == sizeof(message);
}

std::byte *map_memory(MemoryKind kind, std::size_t size, int &memfd)
{
    memfd = -1;
    if (kind == MemoryKind::shared) {
        memfd = memfd_create("doca_bench", MFD_CLOEXEC);
        if (memfd < 0 || ftruncate(memfd, static_cast<off_t>(size)) != 0)
            fail("creating a memfd");
    }
    void *const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              memfd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, memfd, 0);
    if (mapped == MAP_FAILED)
        fail("mapping the memory");
    std::memset(mapped, 0, size);
    return static_cast<std::byte *>(mapped);
}

DeviceHandle open_by_name(const char *ibdev)
{
    const DeviceList devices;
    for (doca_devinfo *const info : devices.infos()) {
        char name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
        if (doca_devinfo_get_ibdev_name(info, name, sizeof(name)) == DOCA_SUCCESS &&
            std::strcmp(name, ibdev) == 0)
            return open_device(*info);
    }
    throw std::runtime_error(std::string("no device ") + ibdev);
}

/// Everything is kept until the process ends.
void export_for_good(const Request &request, Reply &reply)
{
    reply.addr = map_memory(request.kind, request.size, reply.memfd);
    doca_dev *const dev = open_by_name(request.ibdev).release();
    doca_mmap *map = nullptr;
    must(doca_mmap_create(nullptr, &map), "creating a memory map");
    must(doca_mmap_set_memrange(map, reply.addr, request.size), "setting a memory range");
    must(doca_mmap_set_permissions(map, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE),
         "setting permissions");
    must(doca_mmap_dev_add(map, dev), "adding a device");
    must(doca_mmap_start(map), "starting a memory map");
    const void *descriptor = nullptr;
    must(doca_mmap_export_dpu(map, dev, &descriptor, &reply.descriptor_size), "exporting memory");
    if (reply.descriptor_size > sizeof(reply.descriptor))
        throw std::runtime_error("the export descriptor is too long");
    std::memcpy(reply.descriptor, descriptor, reply.descriptor_size);
}

void wait_for(const std::atomic<std::uint32_t> &line, std::uint32_t value)
{
    constexpr double patience = 20;
    const double start = seconds_now();
    for (std::uint32_t spins = 1; line.load(std::memory_order_acquire) != value; ++spins) {
        if (spins % (1U << 24) == 0 && seconds_now() - start > patience)
            throw std::runtime_error("the other process does not answer");
    }
}

} // namespace

Peer::Peer(int cpu)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        fail("socketpair");
    channel_ = UniqueFd(ends[0]);
    const UniqueFd other_end(ends[1]);
    void *const page =
        mmap(nullptr, 2 * sizeof(Line), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        fail("mmap");
    lines_ = static_cast<Line *>(page);

    const pid_t parent = getpid();
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ < 0)
        fail("fork");
    if (pid_ != 0)
        return;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    channel_ = UniqueFd();
    if (getppid() != parent)
        _exit(0);
    try {
        if (cpu >= 0)
            pin_to(cpu);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "doca_bench: the other process: %s\n", error.what());
    }
    Request request;
    while (receive_message(other_end.get(), request)) {
        Reply reply{};
        try {
            if (request.command == Command::export_memory) {
                export_for_good(request, reply);
            } else {
                for (std::uint32_t i = 1; i <= ping_pongs; ++i) {
                    wait_for(lines_[0].value, i);
                    lines_[1].value.store(i, std::memory_order_release);
                }
            }
        } catch (const std::exception &error) {
            std::snprintf(reply.problem, sizeof(reply.problem), "%s", error.what());
        }
        send_message(other_end.get(), reply);
    }
    _exit(0);
}

Peer::~Peer()
{
    channel_ = UniqueFd(); // which it waits for
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    munmap(lines_, 2 * sizeof(Line));
}

PeerMemory Peer::export_memory(MemoryKind kind, std::size_t size, const std::string &ibdev)
{
    Request request{Command::export_memory, kind, size, {}};
    ibdev.copy(request.ibdev, sizeof(request.ibdev) - 1);
    send_message(channel_.get(), request);
    Reply reply;
    if (!receive_message(channel_.get(), reply))
        throw std::runtime_error("the other process has gone");
    if (reply.problem[0] != '\0')
        throw std::runtime_error(std::string("the other process: ") + reply.problem);
    return {{reply.descriptor, reply.descriptor + reply.descriptor_size}, reply.addr, reply.memfd};
}

double Peer::one_way_latency()
{
    lines_[0].value.store(0, std::memory_order_relaxed);
    lines_[1].value.store(0, std::memory_order_relaxed);
    send_message(channel_.get(), Request{Command::ping_pong, {}, 0, {}});
    double start = 0;
    for (std::uint32_t i = 1; i <= ping_pongs; ++i) {
        if (i == warm_up)
            start = seconds_now();
        lines_[0].value.store(i, std::memory_order_release);
        wait_for(lines_[1].value, i);
    }
    const double taken = seconds_now() - start;
    Reply reply;
    if (!receive_message(channel_.get(), reply))
        throw std::runtime_error("the other process has gone");
    return taken * 1e9 / (ping_pongs - warm_up) / 2;
}

} // namespace opendoca::tools
