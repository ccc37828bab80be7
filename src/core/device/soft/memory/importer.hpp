// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>

#include "../../../base/unique_fd.hpp"
#include "../../device.hpp"
#include "../process/process.hpp"
#include "../process/sealed_page.hpp"
#include "export_page.hpp"

namespace opendoca::soft {

/// A process with exports that this one imports. Shared by all imports from it, and found by a registry, so that its
/// pages are mapped once. Thread-safe. Invariant: its pages stay mapped after the process has ended, so checks need no
/// lock.
class ExporterProcess {
public:
    /// Returns the object for @p address, and opens the process's pages at the first time. INVALID_VALUE if the process
    /// has ended or the address is wrong; NOT_PERMITTED if it cannot be reached.
    [[nodiscard]] static doca_error_t attach(const ExporterAddress &address, std::shared_ptr<ExporterProcess> &process);
    ExporterProcess(const ExporterProcess &) = delete;
    ExporterProcess &operator=(const ExporterProcess &) = delete;
    ~ExporterProcess();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] bool is_self() const noexcept { return is_self_; }
    /// Readable once the process has ended; -1 if the system provides no such descriptor.
    [[nodiscard]] int exit_fd() const noexcept { return watch_.fd(); }
    [[nodiscard]] const ExportPage &page() const noexcept { return *static_cast<const ExportPage *>(page_->start()); }
    /// A ProcessLock that serialises atomic operations on the process's memory.
    [[nodiscard]] std::atomic<std::uint64_t> &atomic_lock() const noexcept { return hazards().atomic_lock; }
    /// Returns the address of the guard byte in that process: see process_copy.hpp.
    [[nodiscard]] void *guard() const noexcept { return guard_; }
    [[nodiscard]] int memory_fd() const noexcept { return memory_fd_.get(); }
    /// Returns whether importers need a full barrier of their own: see HazardGuard.
    [[nodiscard]] bool needs_barrier() const noexcept { return needs_barrier_; }
    /// Opens the process's memory, for exports that cannot be mapped. Later calls return SUCCESS at once.
    [[nodiscard]] doca_error_t open_memory();

    /// Takes a hazard pointer for one work queue, or returns null, after a log line, if all are in use.
    [[nodiscard]] HazardPointer *take_hazard_pointer() noexcept;
    void release_hazard_pointer(HazardPointer &pointer) noexcept;

    /// Returns whether the process has ended or executed another program. Costs a load as long as the thread that
    /// exported first lives. Afterwards it takes system calls, at most once in 20 us unless check_each_time() was
    /// called.
    [[nodiscard]] bool is_gone() const noexcept { return is_marked_dead(liveness()) && check_gone_rate_limited(); }
    /// For strict mode: from now on, is_gone() of all processes finds an end at once.
    static void check_each_time() noexcept { checks_each_time_.store(true, std::memory_order_relaxed); }
    /// Returns a word in the exporter's page that the kernel marks when the thread that has locked it there ends.
    [[nodiscard]] const int &liveness() const noexcept { return page().alive.__data.__lock; }
    [[nodiscard]] static bool is_marked_dead(const int &liveness) noexcept
    {
        // Acquire: pairs with the kernel's store at the end of the thread; what the exporter stored before is visible.
        return (__atomic_load_n(&liveness, __ATOMIC_ACQUIRE) & owner_died) != 0;
    }

    /// The same for a process that is just ending: its memory cannot be accessed any more, but it is not gone yet.
    /// Called after a failed access; may take several system calls.
    [[nodiscard]] bool is_gone_or_ending() const noexcept;

private:
    ExporterProcess() = default;

    /// Process id, start time, descriptor of the page, and the importing process: a forked child opens the pages again.
    using Key = std::tuple<std::uint32_t, std::uint64_t, std::int32_t, pid_t>;

    static constexpr int owner_died = 0x40000000; // FUTEX_OWNER_DIED

    [[nodiscard]] doca_error_t open_pages(const ExporterAddress &address);
    [[nodiscard]] HazardPage &hazards() const noexcept { return *static_cast<HazardPage *>(hazard_page_->start()); }
    /// Checks by system calls; both store the result.
    [[gnu::cold]] [[nodiscard]] bool check_gone_rate_limited() const noexcept;
    [[gnu::cold]] [[nodiscard]] bool has_exited() const noexcept;

    /// Relaxed: nothing else depends on it.
    static inline std::atomic<bool> checks_each_time_{false};

    Key key_{};
    pid_t pid_ = 0;
    int page_fd_ = -1; ///< in that process
    bool is_self_ = false;
    bool needs_barrier_ = true;
    void *guard_ = nullptr;
    ProcessWatch watch_;
    UniqueFd memory_fd_; ///< /proc/<pid>/mem; open after open_memory()
    std::shared_ptr<SealedPage> page_;
    std::shared_ptr<SealedPage> hazard_page_;
    /// Time in ns of the last check by system calls that found it alive.
    mutable std::atomic<std::int64_t> alive_at_{0};
    mutable std::atomic<bool> is_gone_{false}; ///< an end is final
};

/// An imported range: how to access it, and how to check that it may still be accessed. Owned by a memory key, counter
/// or queue pair. Immutable, so any thread may use it. It keeps the exporter's pages mapped. Accesses need a
/// HazardGuard or the equivalent of CachedRemoteKey.
class RemoteMemory {
public:
    enum class Reach : std::uint8_t {
        mapped, ///< the exporter's shared object is mapped here, or the exporter is this process
        process ///< only the kernel can copy from and to the memory
    };

    /// Validates @p bytes, an untrusted descriptor of a memory map, and makes its memory accessible on behalf of @p
    /// importer. Returns INVALID_VALUE, NOT_PERMITTED or NOT_SUPPORTED after a log line.
    [[nodiscard]] static doca_error_t import(std::span<const std::byte> bytes, const DeviceFunction &importer,
                                             std::unique_ptr<RemoteMemory> &memory);
    /// The same for a descriptor that was parsed, and must be of the kind @p wanted.
    [[nodiscard]] static doca_error_t import(const ExportDescriptor &descriptor, EntryKind wanted,
                                             const DeviceFunction &importer, std::unique_ptr<RemoteMemory> &memory);
    /// Makes the memory of a receive accessible that @p process has posted: one of its exports, of kind `receive`.
    [[nodiscard]] static doca_error_t reach_receive(const std::shared_ptr<ExporterProcess> &process,
                                                    std::uint32_t entry, std::uint64_t generation,
                                                    std::unique_ptr<RemoteMemory> &memory);
    RemoteMemory(const RemoteMemory &) = delete;
    RemoteMemory &operator=(const RemoteMemory &) = delete;
    ~RemoteMemory();

    [[nodiscard]] const std::shared_ptr<ExporterProcess> &process() const noexcept { return process_; }
    [[nodiscard]] Reach reach() const noexcept { return reach_; }
    [[nodiscard]] const MemoryRange &range() const noexcept { return range_; }
    [[nodiscard]] std::uint32_t access() const noexcept { return access_; }
    /// Returns the uses that the kind of export allows. DMA may access what was exported to the DPU, but not what was
    /// exported for RDMA.
    [[nodiscard]] std::uint32_t uses() const noexcept
    {
        if (kind_ == EntryKind::rdma_memory)
            return KeyUse::rdma_remote;
        if (kind_ != EntryKind::host_memory && kind_ != EntryKind::dpu_memory)
            return 0;
        return KeyUse::dma_source | ((access_ & Access::dpu_read_write) != 0 ? KeyUse::dma_destination : 0);
    }
    /// Returns a hash of the function that the memory was exported through, as queue pairs identify it.
    [[nodiscard]] std::uint64_t function_id() const noexcept { return function_id_; }
    [[nodiscard]] std::uint32_t entry() const noexcept { return entry_; }
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
    [[nodiscard]] bool is_live() const noexcept
    {
        // Sequentially consistent, for Arm: after the release store of ~HazardGuard() it keeps the accesses of one job
        // before those of the next, for peers that poll their memory. Acquire alone may be compiled to less.
        return generation_word().load(std::memory_order_seq_cst) == generation_;
    }
    /// Returns the word that equals generation() for as long as the memory may be accessed.
    [[nodiscard]] const std::atomic<std::uint64_t> &generation_word() const noexcept { return shared_->generation; }
    /// Returns the exported page, if it is a counter's; else null.
    [[nodiscard]] const std::shared_ptr<SealedPage> &page() const noexcept { return page_; }
    /// Returns the address in this process of @p addr, an address of the exporter. Only for reach() mapped.
    [[nodiscard]] std::byte *here(std::byte *addr) const noexcept
    {
        return reinterpret_cast<std::byte *>(reinterpret_cast<std::uintptr_t>(addr) + shift_);
    }

    /// Returns what here() adds to an address. Only for reach() mapped.
    [[nodiscard]] std::uintptr_t shift() const noexcept { return shift_; }

private:
    RemoteMemory() = default;

    /// The fields of the export in the exporter's page, each read once. Texts have a NUL in addition.
    struct Entry {
        std::uint64_t addr;
        std::uint64_t len;
        std::uint32_t access;
        std::uint16_t kind;
        std::int32_t fd;
        std::uint64_t fd_device;
        std::uint64_t fd_inode;
        std::uint64_t fd_offset;
        Nonce nonce;
        char function[33];
        char pci_address[17];
    };

    [[nodiscard]] bool read_entry(Entry &entry) const noexcept;
    [[nodiscard]] doca_error_t make_accessible(const Entry &entry);
    /// Maps the page of a counter.
    [[nodiscard]] doca_error_t map_page(const Entry &entry);
    /// Maps the shared object that the memory is a part of. Returns false if that is not possible: the kernel then
    /// copies.
    [[nodiscard]] bool try_map(const Entry &entry);

    std::shared_ptr<ExporterProcess> process_;
    std::shared_ptr<SealedPage> page_;    ///< of a counter
    const ExportEntry *shared_ = nullptr; ///< the entry in the exporter's page
    std::uint64_t generation_ = 0;
    std::uintptr_t shift_ = 0;
    MemoryRange range_;
    std::uint64_t function_id_ = 0;
    std::uint32_t access_ = 0;
    std::uint32_t entry_ = 0;
    EntryKind kind_ = EntryKind::host_memory;
    Reach reach_ = Reach::process;
    void *mapping_ = nullptr; ///< set by try_map()
    std::size_t mapping_size_ = 0;
};

} // namespace opendoca::soft
