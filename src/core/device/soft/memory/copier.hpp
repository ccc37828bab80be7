// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include "hazard.hpp"
#include "importer.hpp"
#include "route.hpp"

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
    [[nodiscard]] doca_error_t copy(const RemoteMemory *dst_memory, std::byte *dst,
                                    const RemoteMemory *src_memory, std::byte *src, std::size_t length,
                                    std::size_t total) noexcept;

    /// For short copies between this process and @p memory, which has a key of @p number and is on @p side.
    /// One that leads nowhere where they need copy().
    [[nodiscard]] Route route_to(std::uint64_t number, const RemoteMemory &memory,
                                 Hazard::Side side) noexcept;

    /// This thread's hazard pointer in the page of the exporter, or null when it has no place for another
    /// one.
    [[nodiscard]] ReaderSlot *reader_for(const RemoteMemory &memory) noexcept
    {
        for (const Reader &reader : readers_) {
            if (reader.process == memory.process())
                return reader.slot;
        }
        return add_reader(memory);
    }

private:
    struct Reader {
        std::shared_ptr<ExporterProcess> process;
        ReaderSlot *slot;
    };

    template <Hazard::Side side>
    [[nodiscard]] doca_error_t copy_here(const RemoteMemory &memory, std::byte *there, std::byte *here,
                                         std::size_t length, std::size_t total) noexcept;
    [[nodiscard]] doca_error_t copy_guarded(const RemoteMemory *dst_memory, std::byte *dst,
                                            const RemoteMemory *src_memory, std::byte *src,
                                            std::size_t length, std::size_t total) noexcept;
    [[nodiscard]] doca_error_t copy_by_kernel(const RemoteMemory *dst_memory, std::byte *dst,
                                              const RemoteMemory *src_memory, std::byte *src,
                                              std::size_t length) noexcept;
    [[gnu::cold]] [[nodiscard]] ReaderSlot *add_reader(const RemoteMemory &memory) noexcept;

    std::vector<Reader> readers_;
    std::unique_ptr<std::byte[]> bounce_; ///< between the memories of two other processes
};

} // namespace opendoca::soft
