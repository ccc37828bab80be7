// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>

#include "../../../unique_fd.hpp"
#include "../../device.hpp"
#include "../process/process.hpp"
#include "../process/sealed_page.hpp"
#include "export_page.hpp"

namespace opendoca::soft {

/// A process with exports that this one imports; shared by all imports from it.
class ExporterProcess {
public:
    [[nodiscard]] static doca_error_t attach(const ExporterAddress &address, std::shared_ptr<ExporterProcess> &process);
    ExporterProcess(const ExporterProcess &) = delete;
    ExporterProcess &operator=(const ExporterProcess &) = delete;
    ~ExporterProcess();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] bool is_self() const noexcept { return is_self_; }
    /// Readable once the process has ended; -1 where the system gives none.
    [[nodiscard]] int exit_fd() const noexcept { return watch_.fd(); }
    [[nodiscard]] const ExportPage &page() const noexcept { return *static_cast<const ExportPage *>(page_->start()); }
    /// A ProcessLock.
    [[nodiscard]] std::atomic<std::uint64_t> &atomic_lock() const noexcept { return hazards().atomic_lock; }
    /// The address of the guard byte there: see process_copy.hpp.
    [[nodiscard]] void *guard() const noexcept { return guard_; }
    [[nodiscard]] int memory_fd() const noexcept { return memory_fd_.get(); }
    /// Whether importers need a full barrier of their own.
    [[nodiscard]] bool needs_barrier() const noexcept { return needs_barrier_; }
    /// Opens the process's memory, for exports that can't be mapped.
    [[nodiscard]] doca_error_t open_memory();

    /// A hazard pointer for one work queue, or null when all are taken.
    [[nodiscard]] HazardPointer *take_hazard_pointer() noexcept;
    void give_back(HazardPointer &pointer) noexcept;

    /// Whether the process has ended, or become another program. Costs a load as long as the thread that exported
    /// first lives. After it, the kernel is asked, but not again within some microseconds.
    [[nodiscard]] bool is_gone() const noexcept { return is_marked_dead(liveness()) && was_gone_lately(); }
    /// A word in the exporter's page that the kernel marks when the thread that has locked it there ends.
    [[nodiscard]] const int &liveness() const noexcept { return page().alive.__data.__lock; }
    [[nodiscard]] static bool is_marked_dead(const int &liveness) noexcept
    {
        return (__atomic_load_n(&liveness, __ATOMIC_ACQUIRE) & owner_died) != 0;
    }

    /// The same for a process that is just ending: its memory can't be reached any more, but it is not gone
    /// yet. For importers with a failed access; may take its time.
    [[nodiscard]] bool is_gone_or_ending() const noexcept;

private:
    ExporterProcess() = default;

    /// Its id, when it started, where its page is, and for which process this is: a forked child asks anew.
    using Key = std::tuple<std::uint32_t, std::uint64_t, std::int32_t, pid_t>;

    static constexpr int owner_died = 0x40000000; // FUTEX_OWNER_DIED

    [[nodiscard]] doca_error_t open_pages(const ExporterAddress &address);
    [[nodiscard]] HazardPage &hazards() const noexcept { return *static_cast<HazardPage *>(hazard_page_->start()); }
    [[gnu::cold]] [[nodiscard]] bool was_gone_lately() const noexcept;
    [[gnu::cold]] [[nodiscard]] bool has_exited() const noexcept;

    Key key_{};
    pid_t pid_ = 0;
    int page_fd_ = -1; ///< there
    bool is_self_ = false;
    bool needs_barrier_ = true;
    void *guard_ = nullptr;
    ProcessWatch watch_;
    UniqueFd memory_fd_;
    std::shared_ptr<SealedPage> page_;
    std::shared_ptr<SealedPage> hazard_page_;
    mutable std::atomic<std::int64_t> alive_at_{0}; ///< when the kernel was asked last, and it was there
    mutable std::atomic<bool> has_gone_{false};     ///< for good
};

/// An imported range: how to access it, and how to check that it may still be accessed.
class RemoteMemory {
public:
    enum class Reach : std::uint8_t {
        mapped, ///< the exporter's shared object is mapped here, or the exporter is this process
        process ///< only the kernel can copy to and from there
    };

    /// Checks @p bytes, a memory map's descriptor from anywhere, and reaches for what it names on behalf of
    /// @p importer.
    [[nodiscard]] static doca_error_t import(std::span<const std::byte> bytes, const DeviceFunction &importer,
                                             std::unique_ptr<RemoteMemory> &memory);
    /// The same for a descriptor that was read, and must be of @p wanted.
    [[nodiscard]] static doca_error_t import(const ExportDescriptor &descriptor, ExportKind wanted,
                                             const DeviceFunction &importer, std::unique_ptr<RemoteMemory> &memory);
    /// Reaches for the memory of a receive that @p process has posted: one of its exports, of the kind
    /// `receive`.
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
    /// DMA reaches what was exported to the DPU, and not what was exported for RDMA.
    [[nodiscard]] std::uint32_t uses() const noexcept
    {
        if (kind_ == ExportKind::rdma)
            return KeyUse::rdma_remote;
        if (kind_ != ExportKind::dpu && kind_ != ExportKind::host)
            return 0;
        return KeyUse::dma_source | ((access_ & Access::dpu_read_write) != 0 ? KeyUse::dma_destination : 0);
    }
    /// The function that it was exported through, as queue pairs name it.
    [[nodiscard]] std::uint64_t function_id() const noexcept { return function_id_; }
    [[nodiscard]] std::uint32_t entry() const noexcept { return entry_; }
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
    [[nodiscard]] bool is_live() const noexcept
    {
        // Sequentially consistent, for Arm: behind the release of ~HazardGuard() it keeps what one job did before
        // what the next one does, for peers that poll their memory. Acquire alone may be compiled to less.
        return generation_word().load(std::memory_order_seq_cst) == generation_;
    }
    /// Where the exporter keeps generation() for as long as the memory may be reached.
    [[nodiscard]] const std::atomic<std::uint64_t> &generation_word() const noexcept { return shared_->generation; }
    /// What is exported, where it is a counter's page.
    [[nodiscard]] const std::shared_ptr<SealedPage> &page() const noexcept { return page_; }
    /// Where @p addr of the exporter is in this process. Only where mapped.
    [[nodiscard]] std::byte *here(std::byte *addr) const noexcept
    {
        return reinterpret_cast<std::byte *>(reinterpret_cast<std::uintptr_t>(addr) + shift_);
    }

    /// What here() adds. Only where mapped.
    [[nodiscard]] std::uintptr_t shift() const noexcept { return shift_; }

private:
    RemoteMemory() = default;

    /// The fields of the export in the exporter's page, read once.
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
    [[nodiscard]] doca_error_t reach_for(const Entry &entry);
    [[nodiscard]] doca_error_t map_page(const Entry &entry);
    [[nodiscard]] bool try_map(const Entry &entry);

    std::shared_ptr<ExporterProcess> process_;
    std::shared_ptr<SealedPage> page_; ///< of a counter
    const ExportEntry *shared_ = nullptr;
    std::uint64_t generation_ = 0;
    std::uintptr_t shift_ = 0;
    MemoryRange range_;
    std::uint64_t function_id_ = 0;
    std::uint32_t access_ = 0;
    std::uint32_t entry_ = 0;
    ExportKind kind_ = ExportKind::dpu;
    Reach reach_ = Reach::process;
    void *mapping_ = nullptr;
    std::size_t mapping_size_ = 0;
};

} // namespace opendoca::soft
