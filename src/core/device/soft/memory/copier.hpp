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

/// Copies between the memories of processes, for one thread.
class Copier {
public:
    Copier();
    Copier(const Copier &) = delete;
    Copier &operator=(const Copier &) = delete;
    ~Copier();

    /// Copies @p length bytes of a job of @p total. Null stands for memory of this process. Errors:
    /// NOT_PERMITTED (the memory was revoked), CONNECTION_RESET (its process has ended), NO_MEMORY, and those
    /// of process_copy.hpp.
    [[nodiscard]] doca_error_t copy(const RemoteMemory *dst_memory, std::byte *dst, const RemoteMemory *src_memory,
                                    std::byte *src, std::size_t length, std::size_t total) noexcept;

    /// For short copies between this process and @p memory, which has a key of @p number and is on @p side.
    /// An empty one where they need copy().
    [[nodiscard]] CachedRemoteKey cached_key_for(std::uint64_t number, const RemoteMemory &memory,
                                                 HazardGuard::Side side) noexcept;

    /// This thread's hazard pointer in the page of the exporter, or null when it has no place for another
    /// one.
    [[nodiscard]] HazardPointer *hazard_pointer_for(const RemoteMemory &memory) noexcept
    {
        for (const Exporter &exporter : exporters_) {
            if (exporter.process == memory.process())
                return exporter.pointer;
        }
        return add_exporter(memory);
    }

private:
    /// A process that memory is imported from.
    struct Exporter {
        std::shared_ptr<ExporterProcess> process;
        HazardPointer *pointer; ///< in its page
    };

    template <HazardGuard::Side side>
    [[nodiscard]] doca_error_t copy_here(const RemoteMemory &memory, std::byte *there, std::byte *here,
                                         std::size_t length, std::size_t total) noexcept;
    [[nodiscard]] doca_error_t copy_guarded(const RemoteMemory *dst_memory, std::byte *dst,
                                            const RemoteMemory *src_memory, std::byte *src, std::size_t length,
                                            std::size_t total) noexcept;
    [[nodiscard]] doca_error_t copy_by_kernel(const RemoteMemory *dst_memory, std::byte *dst,
                                              const RemoteMemory *src_memory, std::byte *src,
                                              std::size_t length) noexcept;
    [[gnu::cold]] [[nodiscard]] HazardPointer *add_exporter(const RemoteMemory &memory) noexcept;

    std::vector<Exporter> exporters_;
    std::unique_ptr<std::byte[]> bounce_; ///< between the memories of two other processes
};

} // namespace opendoca::soft
