// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../verbs/device.hpp"
#include "function.hpp"
#include "memory_descriptor.hpp"
#include "shared_key.hpp"

namespace opendoca::mlx5 {

class Mlx5Device;

/// Registered memory of this process. Its export to the DPU is a second key, which exists as long as this object. Owned
/// by the memory map, which exports once.
class Mlx5Key final : public verbs::VerbsKey {
public:
    Mlx5Key(const Mlx5Device &device, verbs::Handle<ibv_mr> region, const MemoryRange &range, std::uint32_t access)
        : VerbsKey(std::move(region), range, access),
          device_(device)
    {
    }

    [[nodiscard]] doca_error_t export_to(ExportKind kind, std::vector<std::byte> &descriptor) override;

private:
    const Mlx5Device &device_;
    SharedKey shared_; ///< empty until export_to()
};

/// An alias of a key of another function of the card, for memory of the other side of the PCIe. Used like any local
/// key, for copies by this device. If the owner destroys its key, accesses by the alias fail with a completion error.
class AliasKey final : public MemoryKey {
public:
    AliasKey(DeviceKey alias, std::uint32_t possible_uses) noexcept
        : MemoryKey(possible_uses, alias.key),
          alias_(std::move(alias))
    {
    }

    [[nodiscard]] doca_error_t mkey(std::uint32_t &key) const override
    {
        key = alias_.key;
        return DOCA_SUCCESS;
    }

private:
    const DeviceKey alias_;
};

/// A verbs device that can also share memory across the PCIe and, if it has a DMA engine, copy with it. Thread-safe.
class Mlx5Device final : public verbs::VerbsDevice {
public:
    [[nodiscard]] static doca_error_t open(const Mlx5Function &function, std::unique_ptr<Device> &device);
    Mlx5Device(const Mlx5Function &function, verbs::OpenContext own);

    [[nodiscard]] doca_error_t import_memory(std::span<const std::byte> descriptor, MemoryRange &range,
                                             std::unique_ptr<MemoryKey> &key) override;
    [[nodiscard]] doca_error_t create_copy_engine(CompletionQueue &completions,
                                                  std::unique_ptr<CopyEngine> &engine) override;
    [[nodiscard]] doca_error_t create_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter) override;
    [[nodiscard]] doca_error_t import_counter(std::span<const std::byte> descriptor,
                                              std::unique_ptr<Counter> &counter) override;
    /// Reads both clocks; see read_time().
    [[nodiscard]] doca_error_t read_clock(DeviceClock clock, std::uint64_t &value) noexcept override;
    [[nodiscard]] doca_error_t create_user_memory(const MemoryRange &range, std::uint32_t access,
                                                  std::unique_ptr<UserMemory> &memory) override;
    [[nodiscard]] doca_error_t create_doorbell_page(DoorbellAccess access,
                                                    std::unique_ptr<DoorbellPage> &page) override;
    [[nodiscard]] doca_error_t connect_to_itself(verbs::ReliableConnection &connection) const noexcept override;
    /// Connects @p connection to itself as connect_to_itself() does, but without the network. Returns false if the
    /// device does not support it; @p connection is then in state INIT again.
    [[nodiscard]] bool loop_back(verbs::ReliableConnection &connection) const noexcept;

    /// Creates an alias of the key that @p d describes. INVALID_VALUE, logged, if the device rejects it.
    [[nodiscard]] doca_error_t import_key(const SharedMemoryDescriptor &d, DeviceKey &alias) const;

    [[nodiscard]] const Mlx5Function &mlx5_function() const noexcept { return function_; }
    [[nodiscard]] const Commands &commands() const noexcept { return commands_; }

protected:
    [[nodiscard]] std::unique_ptr<MemoryKey> make_key(verbs::Handle<ibv_mr> region, const MemoryRange &range,
                                                      std::uint32_t access) override;

private:
    const Mlx5Function &function_;
    const Commands commands_;
};

} // namespace opendoca::mlx5
