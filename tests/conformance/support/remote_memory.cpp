// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "remote_memory.hpp"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "process_traits.hpp"

namespace doca_test {

namespace {

enum class MemoryAction : std::uint32_t {
    fill,
    compare,
    stop,
    export_again,
    free,
    protect,
    starve,
    fork_and_exit,
    exec
};

struct MemoryCommand {
    MemoryAction action;
    std::uint32_t seed;
    std::size_t from;
    std::size_t size;
    std::size_t seed_from;
};

/// What the program that follows an exec is to map.
struct Replacement {
    std::byte *addr;
    std::size_t size;
    std::uint32_t seed;
};

/// The exporting process, from inside.
class Exporting {
public:
    explicit Exporting(const ExportRequest &request)
        : from_a_thread_(request.from_a_thread),
          dev_(open_device(request.device)),
          memory_(request.kind, request.size, request.lead)
    {
        doca_test::fill(memory_.bytes(), request.seed);
        must(doca_mmap_create(nullptr, mmap_.out()));
        must(doca_mmap_dev_add(mmap_, dev_));
        must(doca_mmap_set_memrange(mmap_, memory_.data(), memory_.size()));
        must(doca_mmap_set_permissions(mmap_, request.access));
    }

    [[nodiscard]] ExportReply start_and_export()
    {
        ExportReply reply{};
        if (from_a_thread_)
            std::thread([&] { start_and_export(reply); }).join();
        else
            start_and_export(reply);
        return reply;
    }

    void fill(std::uint32_t seed) { doca_test::fill(memory_.bytes(), seed); }

    [[nodiscard]] bool has(const MemoryCommand &command) const
    {
        return is_filled(memory_.bytes().subspan(command.from, command.size), command.seed, command.seed_from);
    }

    [[nodiscard]] doca_error_t stop() { return doca_mmap_stop(mmap_); }

    /// Whether somebody changes the memory, which is filled anew.
    [[nodiscard]] bool is_changed(std::uint32_t seed)
    {
        if (!has_memory_)
            return false;
        fill(seed);
        return !is_filled(memory_.bytes(), seed);
    }

    void free()
    {
        memory_.free();
        has_memory_ = false;
    }

    void protect(int protection)
    {
        must_hold(mprotect(memory_.data(), memory_.size(), protection) == 0, "the memory is protected");
    }

    /// The status of a child that destroys its copies of everything, and ends as programs do.
    [[nodiscard]] int fork_and_exit()
    {
        const pid_t child = fork();
        if (child == 0) {
            mmap_.reset();
            dev_.reset();
            std::exit(testing::Test::HasFailure() ? 1 : 0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        return status;
    }

    [[nodiscard]] Replacement replacement(std::uint32_t seed) const { return {memory_.data(), memory_.size(), seed}; }

private:
    void start_and_export(ExportReply &reply)
    {
        must(doca_mmap_start(mmap_));
        const void *descriptor = nullptr;
        std::size_t size = 0;
        reply.addr = memory_.data();
        reply.status = doca_mmap_export_dpu(mmap_, dev_, &descriptor, &size);
        if (reply.status != DOCA_SUCCESS)
            return;
        must_hold(size <= sizeof(reply.descriptor), "the descriptor fits");
        reply.size = size;
        std::memcpy(reply.descriptor, descriptor, size);
    }

    bool from_a_thread_;
    bool has_memory_ = true;
    DevHandle dev_;
    Memory memory_;
    MmapHandle mmap_;
};

constexpr const char *replacement_name = "program-after-exec";

/// Executes another program in this process, with the same channel: its number is this program's last
/// argument.
void exec_replacement()
{
    std::ifstream file("/proc/self/cmdline");
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    const std::string channel = line.substr(line.rfind('\0', line.size() - 2) + 1);
    execl("/proc/self/exe", "replacement", "--child-program", replacement_name, channel.c_str(), nullptr);
    std::perror("execl");
    std::exit(1);
}

void starve(RemoteMemory::Want want)
{
    static std::vector<int> taken;
    for (const int fd : std::exchange(taken, {}))
        close(fd);
    if (want == RemoteMemory::Want::descriptors)
        taken = take_all_descriptors();
    struct sigaction action {};
    action.sa_handler = [](int) {};
    const suseconds_t microseconds = want == RemoteMemory::Want::quiet ? 30 : 0;
    const itimerval often = {{0, microseconds}, {0, microseconds}};
    must_hold(sigaction(SIGALRM, &action, nullptr) == 0 && setitimer(ITIMER_REAL, &often, nullptr) == 0,
              "signals come");
}

void run_exporter(const ExportRequest &request, Channel &parent)
{
    Exporting exporting(request);
    parent.send(exporting.start_and_export());
    for (;;) {
        const auto command = parent.receive<MemoryCommand>();
        switch (command.action) {
        case MemoryAction::fill:
            exporting.fill(command.seed);
            parent.send(true);
            break;
        case MemoryAction::compare:
            parent.send(exporting.has(command));
            break;
        case MemoryAction::stop:
            parent.send(exporting.stop());
            parent.send(exporting.is_changed(command.seed));
            break;
        case MemoryAction::export_again:
            parent.send(exporting.start_and_export());
            break;
        case MemoryAction::free:
            exporting.free();
            parent.send(true);
            break;
        case MemoryAction::protect:
            exporting.protect(static_cast<int>(command.seed));
            parent.send(true);
            break;
        case MemoryAction::starve:
            starve(static_cast<RemoteMemory::Want>(command.seed));
            parent.send(true);
            break;
        case MemoryAction::fork_and_exit:
            parent.send(exporting.fork_and_exit());
            break;
        case MemoryAction::exec:
            parent.send(exporting.replacement(command.seed));
            exec_replacement();
        }
    }
}

void begin_exporter(Channel &parent)
{
    const auto request = parent.receive<ExportRequest>();
    become(request.user, request.is_dumpable);
    run_exporter(request, parent);
}

/// Says whether it has memory where the program before it had its own.
void run_replacement(Channel &parent)
{
    const auto wanted = parent.receive<Replacement>();
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto addr = reinterpret_cast<std::uintptr_t>(wanted.addr);
    const std::uintptr_t start = addr / page * page;
    void *const mapped = mmap(reinterpret_cast<void *>(start), addr + wanted.size - start, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    const bool is_there = mapped == reinterpret_cast<void *>(start);
    if (is_there)
        fill({wanted.addr, wanted.size}, wanted.seed);
    parent.send(is_there);
    for (;;) {
        const auto command = parent.receive<MemoryCommand>();
        parent.send(is_filled({wanted.addr + command.from, command.size}, command.seed, command.seed_from));
    }
}

const ChildProgram exporter_program("exporter", begin_exporter);
const ChildProgram replacement_program(replacement_name, run_replacement);

MemoryCommand only(MemoryAction action, std::uint32_t seed = 0)
{
    return {action, seed, 0, 0, 0};
}

} // namespace

RemoteMemory::RemoteMemory(const DeviceParam &device, const Options &options)
    : size_(options.size),
      process_("exporter")
{
    ExportRequest request{};
    device.ibdev.copy(request.device, sizeof(request.device) - 1);
    request.kind = options.kind;
    request.access = options.access;
    request.size = options.size;
    request.lead = options.lead;
    request.seed = options.seed;
    request.from_a_thread = options.from_a_thread;
    request.user = options.user;
    request.is_dumpable = options.is_dumpable;
    process_.channel().send(request);
    reply_ = process_.channel().receive<ExportReply>();
}

void RemoteMemory::fill(std::uint32_t seed)
{
    process_.channel().send(only(MemoryAction::fill, seed));
    must_hold(process_.channel().receive<bool>(), "filled");
}

bool RemoteMemory::has(std::uint32_t seed, std::size_t from, std::size_t size, std::size_t seed_from)
{
    process_.channel().send(MemoryCommand{MemoryAction::compare, seed, from, size, seed_from});
    return process_.channel().receive<bool>();
}

void RemoteMemory::begin_stop(std::uint32_t seed)
{
    process_.channel().send(only(MemoryAction::stop, seed));
}

RemoteMemory::StopReply RemoteMemory::end_stop()
{
    const auto status = process_.channel().receive<doca_error_t>();
    return {status, process_.channel().receive<bool>()};
}

doca_error_t RemoteMemory::export_again()
{
    process_.channel().send(only(MemoryAction::export_again));
    reply_ = process_.channel().receive<ExportReply>();
    return reply_.status;
}

void RemoteMemory::free()
{
    process_.channel().send(only(MemoryAction::free));
    must_hold(process_.channel().receive<bool>(), "freed");
}

void RemoteMemory::protect(int protection)
{
    process_.channel().send(only(MemoryAction::protect, static_cast<std::uint32_t>(protection)));
    must_hold(process_.channel().receive<bool>(), "protected");
}

void RemoteMemory::starve(Want want)
{
    process_.channel().send(only(MemoryAction::starve, static_cast<std::uint32_t>(want)));
    must_hold(process_.channel().receive<bool>(), "starved");
}

void RemoteMemory::fork_and_exit()
{
    process_.channel().send(only(MemoryAction::fork_and_exit));
    EXPECT_EQ(process_.channel().receive<int>(), 0) << "status of the exporter's forked child";
}

void RemoteMemory::exec(std::uint32_t seed)
{
    process_.channel().send(only(MemoryAction::exec, seed));
    const auto replacement = process_.channel().receive<Replacement>();
    process_.channel().send(replacement);
    must_hold(process_.channel().receive<bool>(), "the program after an exec has memory at the same address");
}

} // namespace doca_test
