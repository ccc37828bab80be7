// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <mutex>

#include <infiniband/verbs.h>

#include "../device.hpp"

namespace opendoca::verbs {

/// What libibverbs has found. Empty where there is no RDMA stack.
class DeviceList {
public:
    DeviceList() noexcept : devices_(ibv_get_device_list(&count_)) {}
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

/// One port of a device.
class VerbsFunction : public DeviceFunction {
public:
    VerbsFunction(ibv_context &context, const ibv_device_attr_ex &attributes, std::uint32_t port);

    [[nodiscard]] doca_error_t open(std::unique_ptr<Device> &device) const override;
    /// What a device says of its queue pairs is for the smallest entries; how many of ours it has is found by trying.
    [[nodiscard]] std::uint32_t max_queue_size() const noexcept override;
    [[nodiscard]] std::vector<std::string> remarks() const override;
    [[nodiscard]] std::string reason_against(Ability ability) const override;

    [[nodiscard]] std::uint32_t port() const noexcept { return port_; }
    /// Segments that a work request can have.
    [[nodiscard]] std::uint32_t max_segments() const noexcept { return max_segments_; }
    /// Entries that a completion queue can have.
    [[nodiscard]] std::uint32_t max_completions() const noexcept { return max_completions_; }
    /// Reads and atomics that a queue pair may have in flight to, or from, its peer.
    [[nodiscard]] std::uint8_t max_reads() const noexcept { return max_reads_; }

protected:
    /// The device reaches itself, if nobody else.
    void add_copies() noexcept;

private:
    [[nodiscard]] std::string reason_against_connections() const;

    const std::uint32_t port_;
    bool is_queried_ = false;
    bool is_infiniband_ = false; ///< or RoCE: queue pairs are connected by their numbers and GIDs
    std::uint32_t max_segments_ = 0;
    std::uint32_t max_completions_ = 1;
    std::uint8_t max_reads_ = 0;
    mutable std::mutex trying_;
    mutable std::uint32_t max_queue_size_ = 0; ///< 0 until it was found
};

} // namespace opendoca::verbs
