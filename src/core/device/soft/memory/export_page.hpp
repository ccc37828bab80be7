// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a process that exports memory shares with those that import it: one sealed memfd, found at /proc/<pid>/fd/<n>.
// The exporter never believes anything in it but the readers' slots; importers believe it after having checked the
// process that holds it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace opendoca::soft {

inline constexpr char export_page_name[] = "opendoca-exports";
inline constexpr char export_magic[8] = {'O', 'P', 'E', 'N', 'D', 'O', 'C', 'A'};
inline constexpr std::uint32_t export_version = 2;
inline constexpr std::uint32_t max_exports = 16384;
inline constexpr std::uint32_t max_readers = 4096;

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

/// Which entries one work queue of an importing process is copying from or to: a hazard pointer.
struct alignas(64) ReaderSlot {
    std::atomic<std::uint32_t> in_use;   ///< source entry + 1, and destination entry + 1 in the upper half; a futex
    std::atomic<std::uint32_t> owner;    ///< process id, or 0
    std::atomic<std::uint64_t> started;  ///< the owner's start time, or 0 while it is being written
};

struct ExportPage {
    char magic[8];
    std::uint32_t version;
    std::uint32_t pid;
    std::uint64_t start_time;
    std::uint64_t size;
    /// Whether the exporter can make importers' barriers for them; otherwise importers need full barriers.
    std::uint32_t has_membarrier;
    std::atomic<std::uint32_t> num_readers; ///< slots ever taken
    /// Robust, and locked by a thread of the exporter as long as it lives: the kernel marks the word when it dies.
    alignas(64) pthread_mutex_t alive;
    ExportEntry entries[max_exports];
    ReaderSlot readers[max_readers];
    /// Held by whoever carries out an RDMA atomic on this process's memory: see AtomicLock.
    alignas(64) std::atomic<std::uint64_t> atomic_lock;
};

static_assert(max_exports < 0xffff, "an entry's number plus one fits in half of ReaderSlot::in_use");
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(ExportEntry) == 128 && sizeof(ReaderSlot) == 64);

/// An export descriptor. Plain bytes from anywhere, until the exporter's page has confirmed it.
struct ExportDescriptor {
    char magic[8];
    std::uint32_t version;
    std::uint32_t size;
    std::uint32_t pid;
    std::int32_t page_fd;
    std::uint64_t start_time;
    std::uint64_t pid_namespace;
    std::uint64_t generation;
    std::uint32_t entry;
    std::uint16_t kind;
    std::uint16_t reserved;
    Nonce nonce;
    std::uint32_t reserved2;
    std::uint32_t checksum; ///< CRC-32 of all that stands before
};

static_assert(sizeof(ExportDescriptor) == 80, "programs read descriptors into 256 bytes");

} // namespace opendoca::soft
