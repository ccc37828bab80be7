// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "peer.hpp"

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <bench_api.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "../common/doca.hpp"
#include "machine.hpp"

namespace opendoca::tools {

namespace {

constexpr std::uint32_t ping_pongs = 10000;       ///< round trips of one measurement
constexpr std::uint32_t warm_up = ping_pongs / 5; ///< round trips that do not count

/// Requests to the second process.
enum class MemoryCommand : std::uint32_t { export_memory, ping_pong };

/// A request. The last three members are for export_memory.
struct MemoryRequest {
    MemoryCommand command;
    MemoryKind kind;
    std::size_t size;
    char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE];
};

/// The answer to a request.
struct Reply {
    std::byte *addr;
    int memfd;
    std::size_t descriptor_size;
    std::byte descriptor[256]; ///< larger than any descriptor of the library
    char problem[200];         ///< empty on success
};

/// Maps zeroed, populated memory, in a memfd or private.
std::byte *map_memory(MemoryKind kind, std::size_t size, int &memfd)
{
    memfd = -1;
    if (kind == MemoryKind::shared) {
        memfd = memfd_create("doca_bench", MFD_CLOEXEC);
        if (memfd < 0 || ftruncate(memfd, static_cast<off_t>(size)) != 0)
            fail("creating a memfd");
    }
    void *const mapped =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, memfd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, memfd, 0);
    if (mapped == MAP_FAILED)
        fail("mapping the memory");
    std::memset(mapped, 0, size);
    return static_cast<std::byte *>(mapped);
}

/// Exports memory. All objects stay until the process ends, so that exports are valid for the whole benchmark.
void export_permanently(const MemoryRequest &request, Reply &reply)
{
    reply.addr = map_memory(request.kind, request.size, reply.memfd);
    doca_dev *const dev = open_by_name(request.ibdev).release();
    doca_mmap *map = nullptr;
    must(api::create_map(&map), "creating a memory map");
    must(doca_mmap_set_memrange(map, reply.addr, request.size), "setting a memory range");
    must(doca_mmap_set_permissions(map, api::pci_rights), "setting permissions");
    must(api::add_dev_to_map(map, dev), "adding a device");
    must(doca_mmap_start(map), "starting a memory map");
    const void *descriptor = nullptr;
    must(api::export_pci(map, dev, &descriptor, &reply.descriptor_size), "exporting memory");
    if (reply.descriptor_size > sizeof(reply.descriptor))
        throw std::runtime_error("the export descriptor is too long");
    std::memcpy(reply.descriptor, descriptor, reply.descriptor_size);
}

/// Polls until @p line has @p value. Throws after 20 seconds, for the peer may have died.
void wait_for(const std::atomic<std::uint32_t> &line, std::uint32_t value)
{
    constexpr double patience = 20;
    const double start = seconds_now();
    // Acquire: pairs with the release stores of the ping-pong in serve() and one_way_latency().
    for (std::uint32_t spins = 1; line.load(std::memory_order_acquire) != value; ++spins) {
        if (spins % (1U << 24) == 0 && seconds_now() - start > patience)
            throw std::runtime_error("the other process does not answer");
    }
}

} // namespace

Peer::Peer(int cpu) : process_(cpu, [this](int channel) { serve(channel); }) {}

Peer::~Peer() = default;

void Peer::serve(int channel)
{
    MemoryRequest request;
    while (receive_message(channel, request)) {
        Reply reply{};
        try {
            if (request.command == MemoryCommand::export_memory) {
                export_permanently(request, reply);
            } else {
                for (std::uint32_t i = 1; i <= ping_pongs; ++i) {
                    wait_for(lines_[0].value, i);
                    // Release: pairs with the acquire load in wait_for() of the other process.
                    lines_[1].value.store(i, std::memory_order_release);
                }
            }
        } catch (const std::exception &error) {
            std::snprintf(reply.problem, sizeof(reply.problem), "%s", error.what());
        }
        send_message(channel, reply);
    }
}

PeerMemory Peer::export_memory(MemoryKind kind, std::size_t size, const std::string &ibdev)
{
    MemoryRequest request{MemoryCommand::export_memory, kind, size, {}};
    ibdev.copy(request.ibdev, sizeof(request.ibdev) - 1);
    send_message(process_.channel(), request);
    const auto reply = await_reply<Reply>(process_.channel());
    return {{reply.descriptor, reply.descriptor + reply.descriptor_size}, reply.addr, reply.memfd};
}

double Peer::one_way_latency()
{
    // Relaxed: the request's message orders them before the peer's first load.
    lines_[0].value.store(0, std::memory_order_relaxed);
    lines_[1].value.store(0, std::memory_order_relaxed);
    send_message(process_.channel(), MemoryRequest{MemoryCommand::ping_pong, {}, 0, {}});
    double start = 0;
    for (std::uint32_t i = 1; i <= ping_pongs; ++i) {
        if (i == warm_up)
            start = seconds_now();
        // Release: pairs with the acquire load in wait_for() of the other process.
        lines_[0].value.store(i, std::memory_order_release);
        wait_for(lines_[1].value, i);
    }
    const double taken = seconds_now() - start;
    (void)await_reply<Reply>(process_.channel());
    return taken * 1e9 / (ping_pongs - warm_up) / 2;
}

} // namespace opendoca::tools
