// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Firmware commands of mlx5 devices, issued through DEVX.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "../../memory_range.hpp"
#include "library.hpp"

namespace opendoca::mlx5 {

/// The result of a command: errno's value, and the device's status and syndrome if the device has rejected the command.
struct Outcome {
    int error = 0;
    std::uint8_t status = 0;
    std::uint32_t syndrome = 0;

    [[nodiscard]] bool is_good() const noexcept { return error == 0; }
    [[nodiscard]] std::string to_text() const;
};

/// Deleter for objects that were created on the device.
struct Release {
    const Library *library = nullptr;

    void operator()(mlx5dv_devx_obj *object) const noexcept { library->destroy_object(object); }
    void operator()(mlx5dv_devx_umem *memory) const noexcept { library->deregister_umem(memory); }
};
template <typename T>
using Owned = std::unique_ptr<T, Release>;

/// A memory key that was created by a firmware command. Owns its objects on the device.
struct DeviceKey {
    Owned<mlx5dv_devx_umem> memory; ///< only of a direct key
    Owned<mlx5dv_devx_obj> object;
    std::uint32_t key = 0;

    [[nodiscard]] std::uint32_t index() const noexcept { return key >> 8; }
};

/// The secret that a function must present to use another function's key.
using AccessKey = std::array<std::uint8_t, 32>;

/// Capabilities that the device reports.
struct DeviceCapabilities {
    std::uint16_t vhca_id = 0;
    bool manages_eswitch = false;
    bool has_query_vuid = false;
    bool reports_shared_keys = false;
    bool forces_loopback = false; ///< for reliable connections
};

/// The host's PF, as reported by the device that manages the e-switch.
struct HostFunction {
    std::uint8_t host = 0;
    std::uint16_t bus = 0;
    std::uint16_t device = 0;
    std::uint16_t function = 0;
    std::optional<std::uint16_t> vhca_id;
};

/// The firmware commands of one open device. Stateless; thread-safe.
class Commands {
public:
    Commands(const Library &library, ibv_context &context) noexcept : library_(library), context_(context) {}

    [[nodiscard]] Outcome query_capabilities(DeviceCapabilities &capabilities) const;
    /// Queries the VHCA ID of the function at port @p vport of the e-switch that this device manages.
    [[nodiscard]] Outcome query_vhca_id(std::uint16_t vport, std::uint16_t &vhca_id) const;

    /// Creates a key that refers to the key of @p region. Its rights are limited by those of @p region.
    [[nodiscard]] Outcome create_indirect_key(ibv_pd &pd, const ibv_mr &region, const MemoryRange &range,
                                              bool is_writable, DeviceKey &key) const;
    /// Creates a key over memory of this process, which is registered once more for it.
    [[nodiscard]] Outcome create_direct_key(ibv_pd &pd, const MemoryRange &range, bool is_writable,
                                            DeviceKey &key) const;
    /// Allows other functions of the card that present @p access_key to use @p key.
    [[nodiscard]] Outcome allow_access(const DeviceKey &key, const AccessKey &access_key) const;
    /// Creates an alias: a key of this device that refers to key @p index of function @p vhca_id.
    [[nodiscard]] Outcome create_alias(ibv_pd &pd, std::uint16_t vhca_id, std::uint32_t index,
                                       const AccessKey &access_key, DeviceKey &key) const;

    /// Moves @p qp from INIT to RTR, with itself as the peer and without the network, so that neither an address nor an
    /// active port is required.
    [[nodiscard]] Outcome loop_back(ibv_qp &qp, std::uint8_t port, ibv_mtu mtu, std::uint32_t first_packet) const;

    [[nodiscard]] Outcome query_host(HostFunction &host) const;
    [[nodiscard]] Outcome query_vuid(std::uint16_t vhca_id, std::string &vuid) const;

private:
    template <typename Command, typename Answer>
    [[nodiscard]] Outcome run(Command &command, Answer &answer) const;
    template <typename Answer>
    [[nodiscard]] Outcome query_capability(unsigned kind, Answer &answer,
                                           std::optional<std::uint16_t> vport = {}) const;
    [[nodiscard]] Outcome create(std::span<std::uint8_t> command, Owned<mlx5dv_devx_obj> &object,
                                 std::span<std::uint8_t> answer) const;
    [[nodiscard]] Outcome number_of(ibv_pd &pd, std::uint32_t &number) const;

    const Library &library_;
    ibv_context &context_;
};

} // namespace opendoca::mlx5
