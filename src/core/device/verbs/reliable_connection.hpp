// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <infiniband/verbs.h>

#include <doca_error.h>

#include "classic_calls.hpp"
#include "completions.hpp"
#include "handle.hpp"

namespace opendoca::verbs {

class VerbsDevice;

/// The largest queue pair number (QPN) or packet sequence number (PSN): both have 24 bits.
inline constexpr std::uint32_t max_24_bits = 0xffffff;

/// Returns the PSN of a connection's first packet. It is unpredictable, which protects against forged
/// packets, and differs for each connection, which protects against stale packets of an earlier one.
[[nodiscard]] std::uint32_t random_psn() noexcept;

/// A driver's own function that replaces ibv_create_qp_ex().
using MakeQueuePair = ibv_qp *(ibv_context *context, ibv_qp_init_attr_ex *attributes);

/// Creates a queue pair with @p attributes and up to 128 bytes of inline data, or the most that the device accepts for
/// sends of that size and number. Uses @p make if it is not null. On success @p attributes describe what was created.
/// Returns null, and sets errno, if the device refuses even without inline data. If the driver has no extended calls
/// (ibv_wr_start() and so on), the queue pair supports classic calls only, and @p attributes no longer contain send
/// operations.
[[nodiscard]] Handle<ibv_qp> create_with_inline(ibv_context &context, ibv_qp_init_attr_ex &attributes,
                                                MakeQueuePair *make = nullptr) noexcept;

/// Owns one ibv_qp of type RC and moves it through its states. Owned by a VerbsQueuePair or a copy engine. Used by one
/// thread at a time. Send and receive queue complete on the same verbs completion queue. A failed work request moves
/// the queue pair to ERR; reset() makes it usable again.
class ReliableConnection {
public:
    struct Sizes {
        std::uint32_t sends; ///< work requests, including unsignaled ones
        std::uint32_t receives;
        std::uint32_t send_segments; ///< per work request
        std::uint32_t receive_segments;
        std::uint64_t send_operations; ///< enum ibv_qp_create_send_ops_flags of the operations to be used
        MakeQueuePair *make = nullptr; ///< null: ibv_create_qp_ex()
        std::shared_ptr<ibv_srq> shared_receives = {}; ///< replaces the own receive queue; receives is then its size

        [[nodiscard]] std::uint32_t num_requests() const noexcept { return sends + receives; }
    };

    /// The attributes of a connection to a peer.
    struct Path {
        ibv_mtu mtu;
        std::uint8_t service_level;
        bool has_grh;
        std::uint8_t gid_index;     ///< index of the local GID
        ibv_gid gid;                ///< the peer's GID
        std::uint16_t lid;          ///< the peer's LID; InfiniBand only
        std::uint32_t qpn;          ///< the peer's queue pair number
        std::uint32_t sq_psn;       ///< PSN of the first packet to the peer
        std::uint32_t rq_psn;       ///< PSN of the first packet from the peer
        std::uint8_t max_reads_out; ///< reads and atomics that this side may have in flight
        std::uint8_t max_reads_in;  ///< reads and atomics that the peer may have in flight
    };

    /// Creates the queue pair in state INIT. Its work requests complete on @p completions, which must outlive it. @p
    /// access: the peer's rights, enum ibv_access_flags.
    [[nodiscard]] doca_error_t create(const VerbsDevice &device, VerbsCompletions &completions, const Sizes &sizes,
                                      unsigned access);
    /// Moves the queue pair from INIT to RTS, or back to INIT if that fails. Returns errno's value. Logs nothing, since
    /// the caller may try another path.
    [[nodiscard]] int connect(const Path &path) noexcept;
    /// Wraps rdma_init_qp_attr(): sets attributes and mask for the transition to attributes.qp_state. Returns errno's
    /// value.
    using AgreedAttributes = std::function<int(ibv_qp_attr &attributes, int &mask)>;
    /// Does the same as connect() with these attributes. Access rights, timeouts and retries are still set by this
    /// side.
    [[nodiscard]] int connect_by(const AgreedAttributes &agreed) noexcept;
    /// Takes over a queue pair that rdma_cm has connected: sets the rights of this side, and reads @p mtu. Returns
    /// errno's value: ENOTCONN if the queue pair is in another state than RTS.
    [[nodiscard]] int adopt(ibv_mtu &mtu) noexcept;
    /// Moves the queue pair from RTR to RTS. For a loopback connection that a device command has moved to RTR. Returns
    /// errno's value.
    [[nodiscard]] int start_sending(std::uint32_t sq_psn) noexcept;
    /// Moves the queue pair to ERR: posted work requests are flushed, and the device no longer accesses memory for it.
    void disconnect() noexcept;
    /// Moves the queue pair from any state back to INIT. Posted work requests are dropped without completions.
    /// Completions from before may still be in the completion queue, since only some devices remove them.
    [[nodiscard]] doca_error_t reset() noexcept;

    /// Returns whether the queue pair is in an error state or the device has failed.
    [[nodiscard]] bool is_broken() const noexcept;

    [[nodiscard]] bool exists() const noexcept { return queue_pair_ != nullptr; }
    [[nodiscard]] std::uint32_t number() const noexcept { return queue_pair_->qp_num; }
    [[nodiscard]] std::uint32_t max_inline() const noexcept { return max_inline_; }
    /// Returns the number of work requests that can be in flight.
    [[nodiscard]] std::uint32_t num_requests() const noexcept { return num_requests_; }
    [[nodiscard]] ibv_qp &queue_pair() const noexcept { return *queue_pair_; }
    [[nodiscard]] ibv_qp_ex &sender() const noexcept { return *sender_; }
    [[nodiscard]] VerbsCompletions &completions() const noexcept { return *cq_; }

    ReliableConnection() = default;
    ReliableConnection(const ReliableConnection &) = delete;
    ReliableConnection &operator=(const ReliableConnection &) = delete;
    ~ReliableConnection();

private:
    [[nodiscard]] doca_error_t create_queue_pair(const VerbsDevice &device, const Sizes &sizes);
    /// Moves the queue pair from RESET to INIT. Returns errno's value.
    [[nodiscard]] int initialize() noexcept;
    /// Moves the queue pair from INIT to RTR (ready to receive): sets the peer's address. Returns errno's value.
    [[nodiscard]] int move_to_rtr(const Path &path) noexcept;
    /// Moves the queue pair from RTR to RTS (ready to send). @p more: additional bits of the mask for ibv_modify_qp().
    /// Returns errno's value.
    [[nodiscard]] int move_to_rts(std::uint32_t sq_psn, std::uint8_t max_reads, int more) noexcept;

    VerbsCompletions *cq_ = nullptr;           ///< set by create(); must outlive this object
    std::shared_ptr<ibv_srq> shared_receives_; ///< keeps the shared receive queue alive, if there is one
    Handle<ibv_qp> queue_pair_;
    std::unique_ptr<ClassicSender> classic_sender_; ///< null if the driver has the extended calls
    ibv_qp_ex *sender_ = nullptr;                   ///< for the extended calls: the driver's or classic_sender_'s
    std::uint32_t max_inline_ = 0;                  ///< bytes
    std::uint32_t num_requests_ = 0;
    unsigned access_ = 0;   ///< the peer's rights: enum ibv_access_flags
    std::uint8_t port_ = 0; ///< number of the device's port, from 1
};

/// Returns how many sends, and as many receives, a queue pair of @p pd with the other sizes of @p sizes can have: a
/// power of two up to @p most, determined by creating queue pairs; 0 if none can be created.
[[nodiscard]] std::uint32_t largest_queues(ibv_pd &pd, ReliableConnection::Sizes sizes, std::uint32_t most) noexcept;

} // namespace opendoca::verbs
