// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory that another process exports, and what it does there when it is told to.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "child_process.hpp"
#include "dma_fixture.hpp"

namespace doca_test {

/// What the exporting process is to do first.
struct ExportRequest {
    char device[DOCA_DEVINFO_IBDEV_NAME_SIZE];
    MemoryKind kind;
    std::uint32_t access;
    std::size_t size;
    std::size_t lead;   ///< bytes before the range, so that it need not be aligned
    std::uint32_t seed; ///< of the content
    bool from_a_thread; ///< which ends after the export
    uid_t user;         ///< to become first, or 0
    bool is_dumpable;
};

struct ExportReply {
    doca_error_t status;
    std::byte *addr;
    std::size_t size; ///< of the descriptor
    std::byte descriptor[256];
};

/// The exporting process, seen from the importing one.
class RemoteMemory {
public:
    struct Options {
        MemoryKind kind = MemoryKind::heap;
        std::size_t size = 4096;
        std::uint32_t access = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE;
        std::size_t lead = 0;
        std::uint32_t seed = 1;
        bool from_a_thread = false;
        uid_t user = 0;
        bool is_dumpable = true;
    };

    RemoteMemory(const DeviceParam &device, const Options &options);

    [[nodiscard]] doca_error_t status() const { return reply_.status; }
    [[nodiscard]] std::byte *addr() const { return reply_.addr; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::span<const std::byte> descriptor() const { return {reply_.descriptor, reply_.size}; }
    [[nodiscard]] ChildProcess &process() { return process_; }

    [[nodiscard]] doca_error_t import(doca_dev *dev, doca_mmap **mmap) const
    {
        return doca_mmap_create_from_export(nullptr, reply_.descriptor, reply_.size, dev, mmap);
    }
    [[nodiscard]] MmapHandle import(doca_dev *dev) const
    {
        MmapHandle mmap;
        must(import(dev, mmap.out()));
        return mmap;
    }

    // What the process does with its memory.

    void fill(std::uint32_t seed);
    /// Whether bytes [from, from + size) have the content of @p seed, counted from its beginning.
    [[nodiscard]] bool has(std::uint32_t seed, std::size_t from, std::size_t size, std::size_t seed_from = 0);
    [[nodiscard]] bool has(std::uint32_t seed) { return has(seed, 0, size_); }
    /// Stops the map, then fills the memory at once and looks whether anybody changes it.
    void begin_stop(std::uint32_t seed);
    [[nodiscard]] bool has_stopped() const { return process_.channel_of().is_readable(); }
    [[nodiscard]] bool stops_within(std::chrono::milliseconds patience) const
    {
        return process_.channel_of().is_readable(patience);
    }
    struct StopReply {
        doca_error_t status;
        bool was_changed_after;
    };
    [[nodiscard]] StopReply end_stop();
    [[nodiscard]] doca_error_t stop()
    {
        begin_stop(0);
        return end_stop().status;
    }
    /// Starts and exports the stopped map again.
    [[nodiscard]] doca_error_t export_again();
    void free();
    /// Gives the memory's pages another protection.
    void protect(int protection);
    /// What the process lacks from now on.
    enum class Want : std::uint32_t {
        nothing,     ///< what it had lacked it has again
        descriptors, ///< it has as many as it can
        quiet,       ///< it gets a signal every 30 us
    };
    void starve(Want want);
    /// Forks a child, which ends by exit() after having destroyed its copies of the objects, and waits for
    /// it.
    void fork_and_exit();
    /// Replaces the process's program by one that maps the same addresses, filled by @p seed.
    void exec(std::uint32_t seed);

private:
    struct Process : ChildProcess {
        using ChildProcess::ChildProcess;
        [[nodiscard]] const Channel &channel_of() const { return const_cast<Process *>(this)->channel(); }
    };

    std::size_t size_;
    Process process_;
    ExportReply reply_{};
};

} // namespace doca_test
