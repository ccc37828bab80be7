// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "hazard_guard.hpp"
#include "importer.hpp"
#include "remote_key_cache.hpp"

namespace opendoca::soft {

/// Copies between the memories of processes, for one thread. Owned by a copy engine or a ConnectionPoller. Has one
/// hazard pointer in the page of each exporter that it has copied from or to. Those of processes from which nothing is
/// imported any more are given back at the next first contact with another process.
class Copier {
public:
    Copier();
    Copier(const Copier &) = delete;
    Copier &operator=(const Copier &) = delete;
    ~Copier();

    /// Copies @p length bytes of a job of @p total bytes, in parts between which the exports are checked again. Null
    /// stands for memory of this process. Returns NOT_PERMITTED if an export was revoked, CONNECTION_RESET if its
    /// process has ended, NO_MEMORY without a hazard pointer, or an error of process_copy.hpp.
    [[nodiscard]] doca_error_t copy(const RemoteMemory *dst_memory, std::byte *dst, const RemoteMemory *src_memory,
                                    std::byte *src, std::size_t length, std::size_t total) noexcept;

    /// Returns a cache entry for short copies between this process and @p memory, which has the key @p number and is on
    /// @p side of the copy. The entry is empty if such copies need copy().
    [[nodiscard]] CachedRemoteKey cached_key_for(std::uint64_t number, const RemoteMemory &memory,
                                                 HazardGuard::Side side) noexcept;

    /// Returns this thread's hazard pointer in the page of the exporter, or null, after a log line, if all are in use.
    [[nodiscard]] HazardPointer *hazard_pointer_for(const RemoteMemory &memory) noexcept
    {
        for (const Exporter &exporter : exporters_) {
            if (exporter.process == memory.process())
                return exporter.pointer;
        }
        return add_exporter(memory);
    }

private:
    /// A process that memory is imported from, and this copier's hazard pointer there.
    struct Exporter {
        std::shared_ptr<ExporterProcess> process;
        HazardPointer *pointer; ///< in the exporter's page
    };

    /// Copies between one other process and this one.
    template <HazardGuard::Side side>
    [[nodiscard]] doca_error_t copy_here(const RemoteMemory &memory, std::byte *there, std::byte *here,
                                         std::size_t length, std::size_t total) noexcept;
    /// Copies a part with both exports announced and checked.
    [[nodiscard]] doca_error_t copy_guarded(const RemoteMemory *dst_memory, std::byte *dst,
                                            const RemoteMemory *src_memory, std::byte *src, std::size_t length,
                                            std::size_t total) noexcept;
    /// Copies by the kernel, for memory that is not mapped here.
    [[nodiscard]] doca_error_t copy_by_kernel(const RemoteMemory *dst_memory, std::byte *dst,
                                              const RemoteMemory *src_memory, std::byte *src,
                                              std::size_t length) noexcept;
    /// Takes a hazard pointer at the first contact with a process.
    [[gnu::cold]] [[nodiscard]] HazardPointer *add_exporter(const RemoteMemory &memory) noexcept;

    std::vector<Exporter> exporters_;
    std::unique_ptr<std::byte[]> bounce_; ///< buffer for copies between two other processes
};

} // namespace opendoca::soft
