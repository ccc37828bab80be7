// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The commands that mlx5 devices are sent, by DEVX.
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

/// How a command has ended: errno's value, and where the device itself has refused it, its reason.
struct Outcome {
    int error = 0;
    std::uint8_t status = 0;
    std::uint32_t syndrome = 0;

    [[nodiscard]] bool is_good() const noexcept { return error == 0; }
    [[nodiscard]] std::string to_text() const;
};

/// Ends an object that the device has made for us.
struct Release {
    const Library *library = nullptr;

    void operator()(mlx5dv_devx_obj *object) const noexcept { library->destroy_object(object); }
    void operator()(mlx5dv_devx_umem *memory) const noexcept { library->deregister_umem(memory); }
};
template <typename T>
using Owned = std::unique_ptr<T, Release>;

/// A memory key of the device's.
struct DeviceKey {
    Owned<mlx5dv_devx_umem> memory; ///< of a direct key
    Owned<mlx5dv_devx_obj> object;
    std::uint32_t key = 0;

    [[nodiscard]] std::uint32_t index() const noexcept { return key >> 8; }
};

using AccessKey = std::array<std::uint8_t, 32>;

/// What a device says that it can do.
struct DeviceCapabilities {
    std::uint16_t vhca_id = 0;
    bool manages_eswitch = false;
    bool has_query_vuid = false;
    bool reports_shared_keys = false;
    bool forces_loopback = false; ///< of reliable connections
};

/// What the device that manages the e-switch knows of the host's PF.
struct HostFunction {
    std::uint8_t host = 0;
    std::uint16_t bus = 0;
    std::uint16_t device = 0;
    std::uint16_t function = 0;
    std::optional<std::uint16_t> vhca_id;
};

/// The commands of one open device.
class Commands {
public:
    Commands(const Library &library, ibv_context &context) noexcept : library_(library), context_(context) {}

    [[nodiscard]] Outcome query_capabilities(DeviceCapabilities &capabilities) const;
    /// Of the function at a port of the e-switch that this device manages.
    [[nodiscard]] Outcome query_vhca_id(std::uint16_t vport, std::uint16_t &vhca_id) const;

    /// A key of its own over the memory of @p region, whose rights it can only take away from.
    [[nodiscard]] Outcome create_indirect_key(ibv_pd &pd, const ibv_mr &region, const MemoryRange &range, bool is_writable,
                                              DeviceKey &key) const;
    /// The same over memory of this process, which is registered once more.
    [[nodiscard]] Outcome create_direct_key(ibv_pd &pd, const MemoryRange &range, bool is_writable,
                                            DeviceKey &key) const;
    /// Lets other functions of the card that know @p access_key use a key.
    [[nodiscard]] Outcome allow_access(const DeviceKey &key, const AccessKey &access_key) const;
    /// This device's key for key @p index of function @p vhca_id.
    [[nodiscard]] Outcome create_alias(ibv_pd &pd, std::uint16_t vhca_id, std::uint32_t index,
                                       const AccessKey &access_key, DeviceKey &key) const;

    /// From INIT to RTR, with itself as the peer, by no network: neither an address nor a live port is needed.
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
