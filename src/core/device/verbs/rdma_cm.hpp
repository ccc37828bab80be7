// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "../connector.hpp"
#include "rdma_cm_library.hpp"

namespace opendoca::verbs {

class VerbsDevice;

/// Connections by the kernel's connection manager (librdmacm); the peer can be any program that uses rdma_cm. rdma_cm
/// exchanges the attributes of the queue pairs with the peer. The queue pairs are created by this provider as usual,
/// and rdma_cm only receives their numbers. Owned by the library that connects; used by one thread at a time. All ids
/// of links and of the listener share one event channel.
class RdmaCm final : public Connector {
public:
    /// NOT_SUPPORTED, with the reason logged, if this machine has no rdma_cm, or if the port has no address in it.
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, std::unique_ptr<Connector> &made);
    ~RdmaCm() override;

    [[nodiscard]] int fd() const noexcept override { return channel_->fd; }
    [[nodiscard]] doca_error_t listen(std::uint16_t port) override;
    [[nodiscard]] bool is_listening() const noexcept override { return listener_ != nullptr; }
    /// Stops listening. Clients that poll() has already reported can still be accepted; others are refused.
    void stop_listening() noexcept override { listener_.reset(); }
    [[nodiscard]] doca_error_t connect(const ServerAddress &server, std::chrono::milliseconds timeout,
                                       QueuePair &queue_pair, std::unique_ptr<Link> &link) override;
    [[nodiscard]] LinkEvent poll() override;

    /// Returns whether @p id is bound to this device and port.
    [[nodiscard]] bool is_on_this_port(const rdma_cm_id &id) const noexcept;
    [[nodiscard]] const RdmaCmLibrary &library() const noexcept { return library_; }

private:
    using Id = std::unique_ptr<rdma_cm_id, int (*)(rdma_cm_id *)>;

    RdmaCm(const VerbsDevice &device, const RdmaCmLibrary &library, rdma_event_channel &channel) noexcept
        : device_(device),
          library_(library),
          channel_(&channel),
          listener_(nullptr, library.destroy_id)
    {
    }

    [[nodiscard]] Id create_id() const noexcept;
    /// Creates the link of a client, or refuses a client of another device: a listener with a wildcard address receives
    /// the requests of all devices.
    [[nodiscard]] LinkEvent take_client(rdma_cm_id &client);

    const VerbsDevice &device_;
    const RdmaCmLibrary &library_;
    rdma_event_channel *const channel_; ///< non-blocking; its descriptor is that of fd()
    Id listener_;                       ///< null unless listening
};

} // namespace opendoca::verbs
