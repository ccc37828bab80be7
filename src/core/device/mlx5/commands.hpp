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

#include "../../base/memory_range.hpp"
#include "library.hpp"

namespace opendoca::mlx5 {

/// The result of a command: errno's value, and the device's status and syndrome if the device has rejected the command.
/// The syndrome identifies the check in the firmware that has failed.
struct Outcome {
    int error = 0;
    std::uint8_t status = 0; ///< 0: the device has not rejected the command
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

/// A memory key that was created by a firmware command. Owns its objects on the device: they are destroyed with it, the
/// key before the memory that it refers to.
struct DeviceKey {
    Owned<mlx5dv_devx_umem> memory; ///< only of a direct key
    Owned<mlx5dv_devx_obj> object;
    std::uint32_t key = 0; ///< 24 bits of index and 8 bits of variant, as an lkey or rkey

    [[nodiscard]] std::uint32_t index() const noexcept { return key >> 8; }
};

/// The secret that a function must present to use another function's key.
using AccessKey = std::array<std::uint8_t, 32>;

/// Capabilities that the device reports.
struct DeviceCapabilities {
    std::uint16_t vhca_id = 0;    ///< the device's number for this function
    bool manages_eswitch = false; ///< this function has the representors
    bool has_query_vuid = false;
    bool reports_shared_keys = false; ///< keys can be used by other functions of the card
    bool forces_loopback = false;     ///< for reliable connections
};

/// The host's PF, as reported by the device that manages the e-switch. Bus, device and function are those that the host
/// has assigned.
struct HostFunction {
    std::uint8_t host = 0;
    std::uint16_t bus = 0;
    std::uint16_t device = 0;
    std::uint16_t function = 0;
    std::optional<std::uint16_t> vhca_id;
};

/// The firmware commands of one open device. Each function issues one command and blocks until the firmware has
/// executed it. Stateless, so thread-safe; refers to the context, which must outlive it.
class Commands {
public:
    Commands(const Library &library, ibv_context &context) noexcept : library_(library), context_(context) {}

    /// Issues QUERY_HCA_CAP, once for each kind of capability.
    [[nodiscard]] Outcome query_capabilities(DeviceCapabilities &capabilities) const;
    /// Queries the VHCA ID of the function at port @p vport of the e-switch that this device manages.
    [[nodiscard]] Outcome query_vhca_id(std::uint16_t vport, std::uint16_t &vhca_id) const;

    /// Creates a key that refers to the key of @p region, by CREATE_MKEY in mode KSM. Its rights are limited by those
    /// of @p region, which must outlive it. Nothing is pinned again.
    [[nodiscard]] Outcome create_indirect_key(ibv_pd &pd, const ibv_mr &region, const MemoryRange &range,
                                              bool is_writable, DeviceKey &key) const;
    /// Creates a key over memory of this process, by CREATE_MKEY with a UMEM, in which the memory is registered once
    /// more.
    [[nodiscard]] Outcome create_direct_key(ibv_pd &pd, const MemoryRange &range, bool is_writable,
                                            DeviceKey &key) const;
    /// Allows other functions of the card that present @p access_key to use @p key, by ALLOW_OTHER_VHCA_ACCESS. The
    /// permission ends with the key.
    [[nodiscard]] Outcome allow_access(const DeviceKey &key, const AccessKey &access_key) const;
    /// Creates an alias: a key of this device that refers to key @p index of function @p vhca_id, by
    /// CREATE_GENERAL_OBJECT. EACCES if the device creates the alias but reports it as unusable.
    [[nodiscard]] Outcome create_alias(ibv_pd &pd, std::uint16_t vhca_id, std::uint32_t index,
                                       const AccessKey &access_key, DeviceKey &key) const;

    /// Moves @p qp from INIT to RTR by INIT2RTR_QP, with itself as the peer and with forced loopback: packets do not
    /// leave the device, so that neither an address nor an active port is required. @p first_packet: the sequence
    /// number that it expects.
    [[nodiscard]] Outcome loop_back(ibv_qp &qp, std::uint8_t port, ibv_mtu mtu, std::uint32_t first_packet) const;

    /// Issues QUERY_ESW_FUNCTIONS. ENODEV if the host's PF is disabled, for example because the host is off.
    [[nodiscard]] Outcome query_host(HostFunction &host) const;
    /// Issues QUERY_VUID for function @p vhca_id, which may be one behind the e-switch. ENOENT if the device has none.
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
