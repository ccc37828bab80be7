// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include "../connector.hpp"
#include "rdma_cm_library.hpp"

namespace opendoca::verbs {

class VerbsDevice;

/// Connections by the kernel's connection manager (librdmacm), which any program of rdma_cm can be at the other end of.
/// It carries what queue pairs have to know of each other; the queue pair is ours, as any other, and is told to rdma_cm
/// by its number.
class RdmaCm final : public Connector {
public:
    /// NOT_SUPPORTED, and the log says why, where this machine has none.
    [[nodiscard]] static doca_error_t create(const VerbsDevice &device, std::unique_ptr<Connector> &made);
    ~RdmaCm() override;

    [[nodiscard]] int fd() const noexcept override { return channel_->fd; }
    [[nodiscard]] doca_error_t listen(std::uint16_t port) override;
    [[nodiscard]] bool is_listening() const noexcept override { return listener_ != nullptr; }
    /// Who was told of by a request still gets an answer; others are refused.
    void stop_listening() noexcept override { listener_.reset(); }
    [[nodiscard]] doca_error_t connect(const ServerAddress &server, std::chrono::milliseconds timeout,
                                       QueuePair &queue_pair, std::unique_ptr<Link> &link) override;
    [[nodiscard]] LinkEvent poll() override;

    /// Of this device and port, and of no other that the machine has.
    [[nodiscard]] bool is_ours(const rdma_cm_id &id) const noexcept;
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
    [[nodiscard]] LinkEvent take_client(rdma_cm_id &client);

    const VerbsDevice &device_;
    const RdmaCmLibrary &library_;
    rdma_event_channel *const channel_;
    Id listener_;
};

} // namespace opendoca::verbs
