// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

#include "../../process/fork.hpp"
#include "../device.hpp"

namespace opendoca::verbs {

/// The devices that libibverbs finds. Empty if there is no RDMA stack. The pointers are valid as long as this object; a
/// device that was opened meanwhile stays open.
class DeviceList {
public:
    DeviceList() noexcept;
    DeviceList(const DeviceList &) = delete;
    DeviceList &operator=(const DeviceList &) = delete;
    ~DeviceList()
    {
        if (devices_ != nullptr)
            ibv_free_device_list(devices_);
    }

    [[nodiscard]] ibv_device *const *begin() const noexcept { return devices_; }
    [[nodiscard]] ibv_device *const *end() const noexcept { return devices_ + count_; }

private:
    int count_ = 0;
    ibv_device **devices_;
};

/// Reads the clock of a device, with which it stamps completions. Returns false if its driver does not offer it.
[[nodiscard]] bool read_clock(ibv_context &context, std::uint64_t &count) noexcept;

/// One port of an RDMA device. Immutable after the list is complete, apart from max_queue_size_, which the lock
/// protects. Thread-safe. It does not keep the device open.
class VerbsFunction : public DeviceFunction {
public:
    VerbsFunction(ibv_context &context, const ibv_device_attr_ex &attributes, std::uint32_t port);

    [[nodiscard]] doca_error_t open(std::unique_ptr<Device> &device) const override;
    /// The limit that a device reports holds for entries with a single segment. The real limit is found by creating
    /// queue pairs.
    [[nodiscard]] std::uint32_t max_queue_size() const noexcept override;
    [[nodiscard]] std::vector<std::string> remarks() const override;
    [[nodiscard]] std::string reason_against(Ability ability) const override;

    [[nodiscard]] std::uint32_t port() const noexcept { return port_; }
    /// Returns the limit for segments of a work request.
    [[nodiscard]] std::uint32_t max_segments() const noexcept { return max_segments_; }
    /// Returns the limit for entries of a completion queue.
    [[nodiscard]] std::uint32_t max_completions() const noexcept { return max_completions_; }
    /// Returns the limit for reads and atomics that a queue pair may have in flight, in each direction.
    [[nodiscard]] std::uint8_t max_reads() const noexcept { return max_reads_; }

protected:
    /// Adds copies, which require only that the device can reach itself.
    void add_copies() noexcept;

private:
    [[nodiscard]] std::string reason_against_connections() const;

    const std::uint32_t port_;
    bool is_queried_ = false;        ///< ibv_query_port() has succeeded
    bool is_infiniband_ = false;     ///< InfiniBand or RoCE: queue pairs are connected by number and GID
    std::uint32_t max_segments_ = 0; ///< of one work request
    std::uint32_t max_completions_ = 1;
    std::uint8_t max_reads_ = 0;
    mutable ObjectMutex trial_lock_;           ///< protects max_queue_size_ while it is determined
    mutable std::uint32_t max_queue_size_ = 0; ///< 0 until determined
};

} // namespace opendoca::verbs
