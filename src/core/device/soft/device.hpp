// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "../../process/fork.hpp"
#include "../device.hpp"
#include "memory/exporter.hpp"
#include "memory/importer.hpp"
#include "strict/pinned_pages.hpp"
#include "topology/function.hpp"

namespace opendoca::soft {

/// The software device's access to a range of memory: of this process, or imported from another one. Owned by a memory
/// map; thread-safe where stated. A key of this process's memory has the number 0; an imported one has a number that no
/// other key ever gets, so that a cache of imported memory cannot confuse two keys.
class SoftKey final : public MemoryKey {
public:
    SoftKey(const MemoryRange &range, std::uint32_t access, const DeviceFunction &function)
        : MemoryKey(KeyUse::of_own(access) | KeyUse::copied_here),
          range_(range),
          access_(access),
          function_(function)
    {
    }
    SoftKey(std::unique_ptr<RemoteMemory> memory, const DeviceFunction &function)
        : MemoryKey(memory->uses(), ++num_imported_),
          remote_(std::move(memory)),
          range_(remote_->range()),
          access_(remote_->access()),
          function_(function)
    {
    }

    [[nodiscard]] doca_error_t export_to(ExportKind kind, std::vector<std::byte> &descriptor) override;

    /// Finds the export by which peers place messages in this memory. The first call exports it. Thread-safe. @p found
    /// is valid as long as this key. Errors as of Exporter::publish().
    [[nodiscard]] doca_error_t export_for_receives(const ExportDescriptor *&found);

    /// Counts this process's memory as pinned, once; see PinnedPages.
    [[nodiscard]] doca_error_t pin() noexcept { return pinned_.pin(range_, function_); }

    /// Returns the imported memory; null for memory of this process that was not imported.
    [[nodiscard]] const RemoteMemory *remote() const noexcept { return remote_.get(); }

private:
    static inline std::atomic<std::uint64_t> num_imported_{0}; ///< the number of keys of imported memory ever created

    std::unique_ptr<RemoteMemory> remote_;
    const MemoryRange range_;
    const std::uint32_t access_; ///< rights of the memory map: enum doca_access_flags
    const DeviceFunction &function_;
    std::vector<std::unique_ptr<Exporter::Export>> exports_; ///< made by export_to(); revoked with this key
    ObjectMutex receive_lock_;                               ///< guards the creation of receives_exported_
    std::atomic<bool> has_receive_export_{false}; ///< stored after receives_exported_, which is then constant
    std::unique_ptr<Exporter::Export> receives_exported_;
    PinnedPages pinned_; ///< of a strict device
};

/// An open function of the software device. Stateless, and therefore thread-safe: keys and queues do the work. The
/// objects that it creates must not outlive it.
class SoftDevice : public Device {
public:
    /// @p is_strict: the device behaves as a card where it could be more lenient; see docs/strict.md.
    SoftDevice(const DeviceFunction &function, bool is_strict) noexcept : Device(function), is_strict_(is_strict) {}

    [[nodiscard]] bool is_strict() const noexcept { return is_strict_; }

    [[nodiscard]] doca_error_t register_memory(const MemoryRange &range, std::uint32_t access,
                                               std::unique_ptr<MemoryKey> &key) override;
    [[nodiscard]] doca_error_t import_memory(std::span<const std::byte> descriptor, MemoryRange &range,
                                             std::unique_ptr<MemoryKey> &key) override;
    [[nodiscard]] doca_error_t create_copy_engine(CompletionQueue &completions,
                                                  std::unique_ptr<CopyEngine> &engine) override;
    [[nodiscard]] doca_error_t create_memory_copier(std::unique_ptr<MemoryCopier> &copier) override;
    [[nodiscard]] doca_error_t create_queue_pair(const QueuePairSettings &settings, std::atomic<ConnectionState> &state,
                                                 std::unique_ptr<QueuePair> &queue_pair) override;
    [[nodiscard]] doca_error_t create_receive_queue(CompletionQueue &completions, std::uint32_t size,
                                                    std::uint32_t chain_length,
                                                    std::unique_ptr<ReceiveQueue> &queue) override;
    [[nodiscard]] doca_error_t read_clock(DeviceClock clock, std::uint64_t &value) noexcept override;
    [[nodiscard]] doca_error_t create_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter) override;
    [[nodiscard]] doca_error_t import_counter(std::span<const std::byte> descriptor,
                                              std::unique_ptr<Counter> &counter) override;

private:
    const bool is_strict_;
};

} // namespace opendoca::soft
