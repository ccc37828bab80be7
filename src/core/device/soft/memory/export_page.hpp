// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The shared memory between a process that exports memory and those that import it: a page that only the exporter
// writes to, and a HazardPage, to which importers write as well. Both are sealed, and found at /proc/<pid>/fd/<n> of
// the exporter. The layout is a wire format between processes of one machine; export_version changes with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <pthread.h>

#include <doca_error.h>

#include "../../../base/public_values.hpp"
#include "../../descriptor.hpp"
#include "../process/hazard_pointer.hpp"

namespace opendoca::soft {

inline constexpr char export_page_name[] = "opendoca-exports";
inline constexpr char hazard_page_name[] = "opendoca-hazards";
inline constexpr char export_magic[8] = {'O', 'P', 'E', 'N', 'D', 'O', 'C', 'A'};
inline constexpr std::uint32_t export_version = 4;
inline constexpr std::uint32_t max_exports = 16384;

/// Permissions of a memory map that allow others to write to it.
inline constexpr std::uint32_t remote_writing_access =
    Access::dpu_read_write | Access::rdma_write | Access::rdma_atomic;

/// Random bytes that make an export descriptor unguessable.
using Nonce = std::uint8_t[16];

/// What an exported range is, and so how it may be imported. The numbers are part of the page's format.
enum class EntryKind : std::uint16_t {
    host_memory = 1,  ///< a memory map, exported by a function of the host: for the DPU's ports behind which it is
    rdma_memory = 2,  ///< a memory map, exported for RDMA
    receive = 3,      ///< a buffer that a queue pair receives a message in: for the queue pair connected to it
    counter = 4,      ///< the page of a sync event's counter: for the other side of the PCIe
    counter_word = 5, ///< the word of a sync event whose counter is in the program's memory: likewise
    dpu_memory = 6,   ///< a memory map, exported by a port of the DPU: for the functions of the host behind it
};

/// One exported range. Live while its generation is odd; all other fields are then constant. Two cache lines.
struct alignas(128) ExportEntry {
    std::atomic<std::uint64_t> generation;
    std::uint64_t addr; ///< in the exporter's address space
    std::uint64_t len;  ///< bytes
    std::uint32_t access;
    std::uint16_t kind; ///< an EntryKind
    std::uint16_t reserved;
    std::int32_t fd; ///< the exporter's descriptor of the shared object, or -1 for ordinary memory
    std::uint32_t reserved2;
    // Identity and offset of the shared object: an importer checks that the descriptor still refers to it.
    std::uint64_t fd_device;
    std::uint64_t fd_inode;
    std::uint64_t fd_offset;
    Nonce nonce;          ///< must equal the descriptor's
    char function[32];    ///< the exporting function's name
    char pci_address[16]; ///< and address
};

/// The exporter's page. Sealed so that no other process can write to it: importers trust it as far as they trust its
/// process.
struct ExportPage {
    char magic[8];
    std::uint32_t version;
    std::uint32_t pid; ///< with start_time, identifies the process
    std::uint64_t start_time;
    std::uint64_t size;
    std::int32_t hazard_page_fd; ///< the exporter's descriptor of its HazardPage
    /// Set if the exporter executes membarrier(), and with it a barrier in each importer; otherwise importers need full
    /// barriers.
    std::uint32_t has_membarrier;
    /// Address of a writable byte, which no other process is likely to have mapped: see process_copy.hpp.
    std::uint64_t guard_addr;
    /// Robust, and locked by a thread of the exporter for as long as that lives: the kernel marks the word when the
    /// thread ends. Importers only read the word.
    alignas(64) pthread_mutex_t alive;
    ExportEntry entries[max_exports];
};

static_assert(max_exports < 0xffff, "an entry's number plus one fits in half of HazardPointer::in_use");
static_assert(sizeof(ExportEntry) == 128);

/// Identifies an exporting process and its page.
struct ExporterAddress {
    std::uint32_t pid;
    std::int32_t page_fd; ///< the exporter's descriptor of its ExportPage
    std::uint64_t start_time;
    std::uint64_t pid_namespace; ///< inode number: ids of processes are comparable only within a namespace
};

/// The content of an export descriptor. Untrusted until the exporter's page has confirmed it. visit() defines the order
/// of its fields in a descriptor.
struct ExportDescriptor : ExporterAddress {
    std::uint64_t generation; ///< of the entry, odd
    std::uint32_t entry;      ///< index in ExportPage::entries
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

/// The content of an exported sync event: the counter's page and, if the value is in memory of the program, its word.
struct CounterDescriptor {
    ExportDescriptor page;
    ExportDescriptor word; ///< all zero if the value is in the page

    template <typename Self, typename Visitor>
    static void visit(Self &d, Visitor visitor)
    {
        ExportDescriptor::visit(d.page, visitor);
        ExportDescriptor::visit(d.word, visitor);
    }
};

} // namespace opendoca::soft
