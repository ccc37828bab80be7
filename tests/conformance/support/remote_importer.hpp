// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Another process that imports memory and copies from and to it when it is told to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "child_process.hpp"
#include "dma_fixture.hpp"

namespace doca_test {

class RemoteImporter {
public:
    enum class Direction : std::uint32_t { from_export, to_export };

    struct Options {
        std::size_t size = 4096; ///< to copy, from the beginning of the range
        std::uint32_t num_queues = 1;
        bool main_thread_ends = false; ///< after the import; another one copies
        uid_t user = 0;                ///< to become first, or 0
    };

    RemoteImporter(const DeviceParam &device, std::span<const std::byte> descriptor, const Options &options);

    [[nodiscard]] doca_error_t status() const { return reply_.status; }
    /// What the import logged.
    [[nodiscard]] std::string log() const { return reply_.log; }
    [[nodiscard]] ChildProcess &process() { return process_; }

    /// Imports anew, and copies from and to that from now on, by the same queues.
    [[nodiscard]] doca_error_t import(std::span<const std::byte> descriptor);
    /// One copy on each queue: what the last one, or the first that failed, came to.
    [[nodiscard]] doca_error_t copy(Direction direction);
    /// Copies again and again until it fails. Returns when the first copy has been made.
    void begin_copying(Direction direction);
    [[nodiscard]] bool has_failed() const { return process_.channel_of().is_readable(); }
    [[nodiscard]] doca_error_t end_copying() { return process_.channel().receive<doca_error_t>(); }

    // The importer's own memory, of which copies go and to which they come.

    void fill(std::uint32_t seed);
    [[nodiscard]] bool has(std::uint32_t seed);

    /// Forks a child, which ends by exit() after having destroyed its copies of the objects, and waits for
    /// it.
    void fork_and_exit();

private:
    struct Reply {
        doca_error_t status;
        char log[1024];
    };
    struct Process : ChildProcess {
        using ChildProcess::ChildProcess;
        [[nodiscard]] const Channel &channel_of() const { return const_cast<Process *>(this)->channel(); }
    };
    friend class Importing;

    Process process_;
    Reply reply_{};
};

} // namespace doca_test
