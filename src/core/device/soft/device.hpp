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

#include "../../fork.hpp"
#include "../device.hpp"
#include "memory/exporter.hpp"
#include "memory/importer.hpp"
#include "topology/function.hpp"

namespace opendoca::soft {

/// A range of this process's memory, whose number is 0, or of another's, whose number no other key of the
/// provider ever has.
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

    /// How peers find memory of this process that receives are posted in. The first call exports it; any thread.
    [[nodiscard]] doca_error_t export_for_receives(const ExportDescriptor *&found);

    /// Null for memory of this process that was not imported.
    [[nodiscard]] const RemoteMemory *remote() const noexcept { return remote_.get(); }

private:
    static inline std::atomic<std::uint64_t> num_imported_{0}; ///< ever

    std::unique_ptr<RemoteMemory> remote_;
    const MemoryRange range_;
    const std::uint32_t access_;
    const DeviceFunction &function_;
    std::vector<std::unique_ptr<Exporter::Export>> exports_;
    ObjectMutex receive_lock_;
    std::atomic<bool> has_receive_export_{false};
    std::unique_ptr<Exporter::Export> receives_exported_;
};

/// An open software function. Stateless: the work is done by the keys and the queues.
class SoftDevice : public Device {
public:
    using Device::Device;

    [[nodiscard]] doca_error_t register_memory(const MemoryRange &range, std::uint32_t access,
                                               std::unique_ptr<MemoryKey> &key) override;
    [[nodiscard]] doca_error_t import_memory(std::span<const std::byte> descriptor, MemoryRange &range,
                                             std::unique_ptr<MemoryKey> &key) override;
    [[nodiscard]] doca_error_t create_copy_engine(CompletionQueue &completions,
                                                  std::unique_ptr<CopyEngine> &engine) override;
    [[nodiscard]] doca_error_t create_queue_pair(const QueuePairSettings &settings, std::atomic<ConnectionState> &state,
                                                 std::unique_ptr<QueuePair> &queue_pair) override;
    [[nodiscard]] doca_error_t create_receive_queue(CompletionQueue &completions, std::uint32_t size,
                                                    std::uint32_t chain_length,
                                                    std::unique_ptr<ReceiveQueue> &queue) override;
    [[nodiscard]] doca_error_t create_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter) override;
    [[nodiscard]] doca_error_t import_counter(std::span<const std::byte> descriptor,
                                              std::unique_ptr<Counter> &counter) override;
};

} // namespace opendoca::soft
