// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../verbs/function.hpp"
#include "../verbs/provider.hpp"
#include "commands.hpp"

namespace opendoca::mlx5 {

/// Reads the clock of a device and converts it to nanoseconds since 1970 as the kernel converts the time stamps of
/// completions. Returns false if the device or its driver does not offer that.
[[nodiscard]] bool read_time(const Library &library, ibv_context &context, std::uint64_t &ns) noexcept;

/// A port of a ConnectX or a BlueField. The first query of an ability may try it on the device; see trials.hpp.
/// Immutable after the list is complete, and thread-safe.
class Mlx5Function final : public verbs::VerbsFunction {
public:
    Mlx5Function(const Library &library, ibv_context &context, const ibv_device_attr_ex &attributes, std::uint32_t port,
                 const DeviceCapabilities &capabilities);

    [[nodiscard]] doca_error_t open(std::unique_ptr<Device> &device) const override;
    [[nodiscard]] bool can_export_dpu() const noexcept override;
    [[nodiscard]] bool can_import_dpu() const noexcept override;
    [[nodiscard]] bool can_export_counter() const noexcept override;
    [[nodiscard]] bool can_import_counter() const noexcept override;
    [[nodiscard]] std::vector<std::string> remarks() const override;
    [[nodiscard]] std::string reason_against(Ability ability) const override;
    [[nodiscard]] std::vector<RepresentorInfo> representors() const override;

    [[nodiscard]] const Library &library() const noexcept { return library_; }
    [[nodiscard]] const DeviceCapabilities &device_capabilities() const noexcept { return capabilities_; }
    /// Returns the GUID that all functions of one card share.
    [[nodiscard]] std::uint64_t card_guid() const noexcept { return card_guid_; }

    /// Chooses for this function; see choose_message_ports().
    void choose_message_port(const verbs::NewFunctions &functions);

private:
    /// Returns whether this function's own port can carry messages: it has an address and is up.
    [[nodiscard]] bool has_message_port() const noexcept { return can.rdma.reliable_connection && is_port_active; }

    const Library &library_;
    const DeviceCapabilities capabilities_; ///< as queried when the device was listed
    const std::uint64_t card_guid_;         ///< system image GUID, in host byte order
};

} // namespace opendoca::mlx5
