// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../device.hpp"
#include "device_events.hpp"
#include "function.hpp"
#include "handle.hpp"

namespace opendoca::verbs {

class ReliableConnection;

/// Returns the lkey or rkey in a MemoryKey's number.
[[nodiscard]] inline std::uint32_t verbs_key(std::uint64_t number) noexcept
{
    return static_cast<std::uint32_t>(number);
}

/// A registered range of this process's memory, with the lkey as number; or a peer's range, with the rkey as number and
/// without a region. Immutable; owned by the memory map.
class VerbsKey : public MemoryKey {
public:
    VerbsKey(Handle<ibv_mr> region, const MemoryRange &range, std::uint32_t access)
        : MemoryKey(KeyUse::of_own(access), region->lkey),
          region_(std::move(region)),
          range_(range),
          access_(access)
    {
    }
    explicit VerbsKey(std::uint32_t remote_key) : MemoryKey(KeyUse::rdma_remote, remote_key) {}

    [[nodiscard]] doca_error_t export_to(ExportKind kind, std::vector<std::byte> &descriptor) override;
    [[nodiscard]] doca_error_t mkey(std::uint32_t &key) const override;

    [[nodiscard]] ibv_mr *region() const noexcept { return region_.get(); }
    [[nodiscard]] const MemoryRange &range() const noexcept { return range_; }
    [[nodiscard]] std::uint32_t access() const noexcept { return access_; }

private:
    Handle<ibv_mr> region_;
    const MemoryRange range_;        ///< of this process; empty for a peer's range
    const std::uint32_t access_ = 0; ///< bits of Access
};

/// The context and protection domain of an open device of libibverbs.
struct OpenContext {
    Handle<ibv_context> context;
    Handle<ibv_pd> pd;

    /// Opens the device with the name of @p function and allocates a protection domain. INITIALIZATION, logged, on
    /// failure.
    [[nodiscard]] static doca_error_t open(const VerbsFunction &function, OpenContext &opened);
};

/// An open RDMA device: its context and protection domain, which are its own or the program's. It creates memory keys,
/// queue pairs and copy engines in that protection domain and must outlive them. Thread-safe.
class VerbsDevice : public Device {
public:
    [[nodiscard]] static doca_error_t open(const VerbsFunction &function, std::unique_ptr<Device> &device);
    VerbsDevice(const VerbsFunction &function, OpenContext own);
    /// Uses a protection domain of the program, which must outlive the device.
    VerbsDevice(const VerbsFunction &function, ibv_pd &pd) noexcept;

    [[nodiscard]] doca_error_t register_memory(const MemoryRange &range, std::uint32_t access,
                                               std::unique_ptr<MemoryKey> &key) override;
    [[nodiscard]] doca_error_t register_dmabuf(const Dmabuf &dmabuf, std::uint32_t access,
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
    /// Creates a connector that uses rdma_cm, if this machine has it.
    [[nodiscard]] doca_error_t create_connector(std::unique_ptr<Connector> &connector) override;
    [[nodiscard]] doca_error_t bridge(rdma_cm_id &id, QueuePair &queue_pair,
                                      std::unique_ptr<BridgedLink> &link) override;
    [[nodiscard]] doca_error_t create_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter) override;
    /// Reads the free-running clock by ibv_query_rt_values_ex().
    [[nodiscard]] doca_error_t read_clock(DeviceClock clock, std::uint64_t &value) noexcept override;

    [[nodiscard]] ibv_pd *protection_domain() const noexcept override { return &pd_; }

    [[nodiscard]] ibv_context &context() const noexcept { return *pd_.context; }
    [[nodiscard]] ibv_pd &pd() const noexcept { return pd_; }
    [[nodiscard]] const VerbsFunction &port() const noexcept { return function_; }
    /// Returns null on a protection domain of the program: then the program reads the asynchronous events.
    [[nodiscard]] DeviceEvents *events() const noexcept { return events_.get(); }

    /// Connects @p connection, which must be in state INIT, to itself.
    [[nodiscard]] virtual doca_error_t connect_to_itself(ReliableConnection &connection) const noexcept;

protected:
    /// Creates the MemoryKey of a registered region. A derived provider returns a key that supports more kinds of
    /// export.
    [[nodiscard]] virtual std::unique_ptr<MemoryKey> make_key(Handle<ibv_mr> region, const MemoryRange &range,
                                                              std::uint32_t access);

private:
    const VerbsFunction &function_;
    // Declared before events_, which reads from the context and must be destroyed first.
    const OpenContext own_; ///< empty on a protection domain of the program
    ibv_pd &pd_;
    const std::unique_ptr<DeviceEvents> events_; ///< null on a protection domain of the program
};

/// Returns the peer's rights as enum ibv_access_flags.
[[nodiscard]] constexpr unsigned remote_access(std::uint32_t permissions) noexcept
{
    return ((permissions & Access::rdma_read) != 0 ? unsigned{IBV_ACCESS_REMOTE_READ} : 0) |
           ((permissions & Access::rdma_write) != 0 ? unsigned{IBV_ACCESS_REMOTE_WRITE} : 0) |
           ((permissions & Access::rdma_atomic) != 0 ? unsigned{IBV_ACCESS_REMOTE_ATOMIC} : 0);
}

/// Logs that registering @p range failed with errno's value @p error, and returns the matching error.
[[nodiscard]] doca_error_t explain_registration(int error, const MemoryRange &range, const std::string &device);

/// Convert the path MTU: enum doca_mtu_size counts from 0, enum ibv_mtu from 1.
[[nodiscard]] constexpr doca_mtu_size mtu_of(ibv_mtu mtu) noexcept
{
    return static_cast<doca_mtu_size>(static_cast<int>(mtu) - IBV_MTU_256);
}
[[nodiscard]] constexpr ibv_mtu mtu_of(doca_mtu_size mtu) noexcept
{
    return static_cast<ibv_mtu>(static_cast<int>(mtu) + IBV_MTU_256);
}

} // namespace opendoca::verbs
