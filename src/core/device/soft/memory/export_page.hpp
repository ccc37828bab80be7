// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a process that exports memory shares with those that import it: a page that only it writes to, and a
// HazardPage, which they write to as well. Both are sealed, and found at its /proc/<pid>/fd/<n>.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <pthread.h>

#include <doca_error.h>

#include "../../../public_values.hpp"
#include "../../descriptor.hpp"
#include "../process/hazard_pointer.hpp"

namespace opendoca::soft {

inline constexpr char export_page_name[] = "opendoca-exports";
inline constexpr char hazard_page_name[] = "opendoca-hazards";
inline constexpr char export_magic[8] = {'O', 'P', 'E', 'N', 'D', 'O', 'C', 'A'};
inline constexpr std::uint32_t export_version = 4;
inline constexpr std::uint32_t max_exports = 16384;

/// Permissions of a memory map under which others write to it.
inline constexpr std::uint32_t remote_writing_access =
    Access::dpu_read_write | Access::rdma_write | Access::rdma_atomic;

using Nonce = std::uint8_t[16];

/// One exported range. Live while its generation is odd, and then constant but for the generation.
struct alignas(128) ExportEntry {
    std::atomic<std::uint64_t> generation;
    std::uint64_t addr;
    std::uint64_t len;
    std::uint32_t access;
    std::uint16_t kind;
    std::uint16_t reserved;
    std::int32_t fd; ///< the exporter's descriptor of the shared object, or -1 for ordinary memory
    std::uint32_t reserved2;
    std::uint64_t fd_device;
    std::uint64_t fd_inode;
    std::uint64_t fd_offset;
    Nonce nonce;
    char function[32];    ///< the exporting function's name
    char pci_address[16]; ///< and address
};

/// Sealed so that nobody else can write to it: importers trust it as far as they trust its process.
struct ExportPage {
    char magic[8];
    std::uint32_t version;
    std::uint32_t pid;
    std::uint64_t start_time;
    std::uint64_t size;
    std::int32_t hazard_page_fd;
    /// Whether the exporter can make importers' barriers for them; otherwise importers need full barriers.
    std::uint32_t has_membarrier;
    /// Of a byte that may be written, at an address that no other process is likely to have: see process_copy.hpp.
    std::uint64_t guard_addr;
    /// Robust, and locked by a thread of the exporter as long as it lives: the kernel marks the word when it dies.
    /// Importers only read that word.
    alignas(64) pthread_mutex_t alive;
    ExportEntry entries[max_exports];
};

static_assert(max_exports < 0xffff, "an entry's number plus one fits in half of HazardPointer::in_use");
static_assert(sizeof(ExportEntry) == 128);

/// Where an exporting process is found.
struct ExporterAddress {
    std::uint32_t pid;
    std::int32_t page_fd;
    std::uint64_t start_time;
    std::uint64_t pid_namespace;
};

/// The content of an export descriptor. Untrusted until the exporter's page has confirmed it.
struct ExportDescriptor : ExporterAddress {
    std::uint64_t generation;
    std::uint32_t entry;
    std::uint16_t kind;
    Nonce nonce;

    template <typename Self, typename Visitor>
    static void visit(Self &d, Visitor visitor)
    {
        visitor(d.pid);
        visitor(d.page_fd);
        visitor(d.start_time);
        visitor(d.pid_namespace);
        visitor(d.generation);
        visitor(d.entry);
        visitor(d.kind);
        visitor(d.nonce);
    }
};

/// What doca_sync_event_export_to_dpu gives: the page and, if the counter is not there, its word.
struct CounterDescriptor {
    ExportDescriptor page;
    ExportDescriptor word; ///< all zero when the counter is in the page

    template <typename Self, typename Visitor>
    static void visit(Self &d, Visitor visitor)
    {
        ExportDescriptor::visit(d.page, visitor);
        ExportDescriptor::visit(d.word, visitor);
    }
};

} // namespace opendoca::soft
