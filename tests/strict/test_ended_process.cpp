// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: memory of a process that has ended. The clock stands still, so that the software device has looked for
// the end of the process just now.
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "strict_fixture.hpp"

namespace {

std::atomic<bool> stands_still{false};

} // namespace

extern "C" int clock_gettime(clockid_t clock, timespec *time)
{
    static auto *const original = reinterpret_cast<int (*)(clockid_t, timespec *)>(dlsym(RTLD_NEXT, "clock_gettime"));
    static timespec first{};
    const int status = original(clock, time);
    if (clock != CLOCK_MONOTONIC)
        return status;
    if (stands_still)
        *time = first;
    else
        first = *time;
    return status;
}

namespace doca_test {
namespace {

constexpr std::size_t size = 4096;

/// Exports memory of a memfd in a thread that ends, sends the descriptor, and waits to be killed.
[[noreturn]] void export_and_wait(int to)
{
    std::thread([to] {
        const int fd = memfd_create("exported", 0);
        void *const addr =
            ftruncate(fd, size) == 0 ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
        static DevHandle dev = open_device("soft_pf0");
        static MmapHandle map = map_of(dev, {static_cast<std::byte *>(addr), size},
                                       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
        const void *descriptor = nullptr;
        std::size_t length = 0;
        must(doca_mmap_export_pci(map, dev, &descriptor, &length));
        if (write(to, descriptor, length) != static_cast<ssize_t>(length))
            _exit(1);
    }).join();
    close(to); // after the end of the thread, which the importer finds in the page of exports
    for (;;)
        pause();
}

class StrictEndedProcess : public StrictTest {};
INSTANTIATE_STRICT(StrictEndedProcess);

TEST_P(StrictEndedProcess, memory_of_a_process_that_has_ended_is_refused_at_once)
{
    if (!has_device("soft_pf0"))
        GTEST_SKIP() << "takes the software device's two sides";
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(pipe(pipe_ends.data()), 0);
    const pid_t child = fork();
    if (child == 0)
        export_and_wait(pipe_ends[1]);
    close(pipe_ends[1]);
    std::vector<std::byte> descriptor(4096);
    std::size_t length = 0;
    for (ssize_t got = 0; (got = read(pipe_ends[0], descriptor.data() + length, descriptor.size() - length)) > 0;)
        length += static_cast<std::size_t>(got);
    close(pipe_ends[0]);
    ASSERT_NE(length, 0u);

    MmapHandle remote;
    must(doca_mmap_create_from_export(nullptr, descriptor.data(), length, dev, remote.out()));
    void *there = nullptr;
    std::size_t room = 0;
    must(doca_mmap_get_memrange(remote, &there, &room));
    std::vector<std::byte> here(64);
    const MmapHandle map = map_of(dev, here);
    const InventoryHandle inventory = inventory_of(2);
    DmaContext dma(dev, pe, 1);
    must(doca_ctx_start(dma.ctx()));
    const auto copy = [&] {
        BufHandle src, dst;
        must(doca_buf_inventory_buf_get_by_data(inventory, remote, there, 64, src.out()));
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, here.data(), 64, dst.out()));
        Copy one;
        must(dma.alloc(one, src, dst));
        must(doca_task_submit(one.as_task()));
        run_until([&] { return one.has_ended(); });
        doca_task_free(one.as_task());
        return one.status;
    };
    stands_still = true;
    EXPECT_EQ(copy(), DOCA_SUCCESS);
    kill(child, SIGKILL);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_EQ(copy(), is_strict() ? DOCA_ERROR_CONNECTION_RESET : DOCA_SUCCESS);
    stands_still = false;
    (void)doca_ctx_stop(dma.ctx());
    run_until([&] { return dma.state() == DOCA_CTX_STATE_IDLE; });
    EXPECT_EQ(log.has("strict: ended-process"), is_strict());
}

} // namespace
} // namespace doca_test
