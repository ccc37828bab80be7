// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "../../../unique_fd.hpp"
#include "../../device.hpp"
#include "export_page.hpp"
#include "exporter.hpp"
#include "../process/sealed_page.hpp"

namespace opendoca::soft {

/// A process whose exports this one imports; shared by all imports from it.
class ExporterProcess {
public:
    [[nodiscard]] static doca_error_t attach(const ExportDescriptor &descriptor,
                                             std::shared_ptr<ExporterProcess> &process);
    ExporterProcess(const ExporterProcess &) = delete;
    ExporterProcess &operator=(const ExporterProcess &) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] bool is_self() const noexcept { return is_self_; }
    /// Readable once the process has ended.
    [[nodiscard]] int exit_fd() const noexcept { return pidfd_.get(); }
    [[nodiscard]] const ExportPage &page() const noexcept { return *page_; }
    [[nodiscard]] std::atomic<std::uint64_t> &atomic_lock() const noexcept { return page_->atomic_lock; }
    [[nodiscard]] int memory_fd() const noexcept { return memory_fd_.get(); }
    /// Whether readers need a full barrier of their own.
    [[nodiscard]] bool needs_barrier() const noexcept { return needs_barrier_; }
    /// Opens the process's memory, for exports that can't be mapped.
    [[nodiscard]] doca_error_t open_memory();

    /// A slot for one work queue, or null when all are taken.
    [[nodiscard]] ReaderSlot *take_slot() noexcept;
    static void give_back(ReaderSlot &slot) noexcept;

    /// Whether the process has ended, or become another program. Costs a load; two system calls when the
    /// thread that made the page has ended.
    [[nodiscard]] bool is_gone() const noexcept { return is_marked_dead(life_sign()) && has_exited(); }
    /// A word in the exporter's page that the kernel marks when the thread that has locked it there ends.
    [[nodiscard]] const int &life_sign() const noexcept { return page_->alive.__data.__lock; }
    [[nodiscard]] static bool is_marked_dead(const int &life_sign) noexcept
    {
        return (__atomic_load_n(&life_sign, __ATOMIC_ACQUIRE) & owner_died) != 0;
    }

    /// The same for a process that is just ending: its memory can't be reached any more, but it is not gone
    /// yet. For those whose access has failed; may take its time.
    [[nodiscard]] bool is_gone_or_ending() const noexcept;

private:
    ExporterProcess() = default;

    static constexpr int owner_died = 0x40000000; // FUTEX_OWNER_DIED

    [[nodiscard]] doca_error_t open_page(const ExportDescriptor &descriptor);
    [[nodiscard]] bool has_exited() const noexcept;

    pid_t pid_ = 0;
    std::string place_; ///< of the page, in /proc
    std::uint64_t page_device_ = 0;
    std::uint64_t page_inode_ = 0;
    bool is_self_ = false;
    bool needs_barrier_ = true;
    UniqueFd pidfd_;
    UniqueFd memory_fd_;
    std::shared_ptr<Exporter> own_; ///< where this process imports from itself: the page is the exporter's
    Mapping mapping_;               ///< the page, of another process
    ExportPage *page_ = nullptr;
};

/// An imported range: how to reach it, and how to know that it may still be reached.
class RemoteMemory {
public:
    enum class Reach : std::uint8_t {
        mapped, ///< the exporter's shared object is mapped here, or the exporter is this process
        process ///< only the kernel can copy to and from there
    };

    /// Checks @p bytes, a descriptor from anywhere, and reaches for what it names on behalf of @p importer.
    /// Without @p wanted, it must be one of a memory map.
    [[nodiscard]] static doca_error_t import(std::span<const std::byte> bytes, const DeviceFunction &importer,
                                             std::unique_ptr<RemoteMemory> &memory,
                                             std::optional<ExportKind> wanted = std::nullopt);
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
        if (kind_ != ExportKind::dpu)
            return 0;
        return KeyUse::dma_source | ((access_ & DOCA_ACCESS_DPU_READ_WRITE) != 0 ? KeyUse::dma_destination : 0);
    }
    /// The function that it was exported through, as endpoints name it.
    [[nodiscard]] std::uint64_t function_id() const noexcept { return function_id_; }
    [[nodiscard]] std::uint32_t entry() const noexcept { return entry_; }
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
    [[nodiscard]] bool is_live() const noexcept
    {
        // Sequentially consistent, for Arm: behind the release of ~Hazard() it keeps what one job did before
        // what the next one does, for peers that poll their memory. Acquire alone may be compiled to less.
        return generation_word().load(std::memory_order_seq_cst) == generation_;
    }
    /// Where the exporter keeps generation() for as long as the memory may be reached.
    [[nodiscard]] const std::atomic<std::uint64_t> &generation_word() const noexcept
    {
        return shared_->generation;
    }
    /// Where @p addr of the exporter is in this process. Only where mapped.
    [[nodiscard]] std::byte *here(std::byte *addr) const noexcept
    {
        return reinterpret_cast<std::byte *>(reinterpret_cast<std::uintptr_t>(addr) + shift_);
    }

    /// What here() adds. Only where mapped.
    [[nodiscard]] std::uintptr_t shift() const noexcept { return shift_; }

private:
    RemoteMemory() = default;

    [[nodiscard]] doca_error_t reach_for(const ExportEntry &entry);
    [[nodiscard]] bool try_map(const ExportEntry &entry);

    std::shared_ptr<ExporterProcess> process_;
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
