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

/// Of queue pairs and packets, which have 24 bits.
inline constexpr std::uint32_t largest_number = 0xffffff;

/// How long a peer may be silent, in seconds: DOCA_RDMA_TIMEOUT.
[[nodiscard]] double peer_patience();

/// Of a connection's first packet. Not to be guessed, which keeps strangers out, and another one each time,
/// which keeps out what an earlier connection has left.
[[nodiscard]] std::uint32_t random_packet_number() noexcept;

/// What does the same as ibv_create_qp_ex() by a driver's own call.
using MakeQueuePair = ibv_qp *(ibv_context *context, ibv_qp_init_attr_ex *attributes);

/// Creates, by @p make if there is one, the queue pair of @p attributes with as many bytes of inline data as @p context's
/// device can have with sends of that size and number. On success @p attributes tell what there is; null, and errno, when the device
/// refuses it even without inline data. Where the driver has no extended calls (ibv_wr_start() and so on), the queue
/// pair is one for classic calls, and @p attributes no longer ask for send operations.
[[nodiscard]] Handle<ibv_qp> create_with_inline(ibv_context &context, ibv_qp_init_attr_ex &attributes,
                                                MakeQueuePair *make = nullptr) noexcept;

/// A queue pair of the reliable connection type.
class ReliableConnection {
public:
    struct Sizes {
        std::uint32_t sends; ///< work requests, also unsignaled ones
        std::uint32_t receives;
        std::uint32_t send_segments; ///< of one work request
        std::uint32_t receive_segments;
        std::uint64_t send_operations; ///< enum ibv_qp_create_send_ops_flags: what it is used for
        MakeQueuePair *make = nullptr; ///< null: ibv_create_qp_ex()
        std::shared_ptr<ibv_srq> shared_receives = {}; ///< in place of receives of its own: so many of others at a time

        [[nodiscard]] std::uint32_t num_requests() const noexcept { return sends + receives; }
    };

    /// How to get to a peer.
    struct Path {
        ibv_mtu mtu;
        std::uint8_t service_level;
        bool has_grh;
        std::uint8_t gid_index;       ///< of this side
        ibv_gid gid;                  ///< the peer's
        std::uint16_t lid;            ///< the peer's; of InfiniBand
        std::uint32_t queue_pair;     ///< the peer's number
        std::uint32_t send_packet;    ///< number of the first packet to the peer
        std::uint32_t receive_packet; ///< and from it
        std::uint8_t max_reads_out;   ///< that this side may have in flight
        std::uint8_t max_reads_in;    ///< and the peer
    };

    /// Creates it, in state INIT. All that it is asked for ends on @p completions, which outlives it. @p access is what
    /// the peer may do: enum ibv_access_flags.
    [[nodiscard]] doca_error_t create(const VerbsDevice &device, VerbsCompletions &completions, const Sizes &sizes,
                                      unsigned access);
    /// From INIT to RTS, or back to INIT when that fails. Gives errno's value, and logs nothing: there may be
    /// another path.
    [[nodiscard]] int connect(const Path &path) noexcept;
    /// What rdma_cm has agreed on with the peer: fills in, of @p attributes and @p mask, what the state that they name
    /// needs. Gives errno's value.
    using AgreedAttributes = std::function<int(ibv_qp_attr &attributes, int &mask)>;
    /// The same as connect(), by these; rights and patience stay this side's.
    [[nodiscard]] int connect_by(const AgreedAttributes &agreed) noexcept;
    /// From RTR to RTS, where a device was brought to RTR past verbs, with itself as the peer. Gives errno's value.
    [[nodiscard]] int start_sending(std::uint32_t first_packet) noexcept;
    /// To ERR: what is posted is flushed, and no memory is touched any more.
    void disconnect() noexcept;
    /// From any state back to INIT. What is posted is gone, without completions of its own; those of before may still be
    /// in the queue: some devices have removed them, others have not.
    [[nodiscard]] doca_error_t reset() noexcept;

    /// Whether the queue pair does nothing more.
    [[nodiscard]] bool is_broken() const noexcept;

    [[nodiscard]] bool exists() const noexcept { return queue_pair_ != nullptr; }
    [[nodiscard]] std::uint32_t number() const noexcept { return queue_pair_->qp_num; }
    [[nodiscard]] std::uint32_t max_inline() const noexcept { return max_inline_; }
    /// Work requests, at most, of which completions can come.
    [[nodiscard]] std::uint32_t num_requests() const noexcept { return num_requests_; }
    [[nodiscard]] ibv_qp &queue_pair() const noexcept { return *queue_pair_; }
    [[nodiscard]] ibv_qp_ex &sender() const noexcept { return *sender_; }
    [[nodiscard]] VerbsCompletions &completions() const noexcept { return *completions_; }

    ReliableConnection() = default;
    ReliableConnection(const ReliableConnection &) = delete;
    ReliableConnection &operator=(const ReliableConnection &) = delete;
    ~ReliableConnection();

private:
    [[nodiscard]] doca_error_t create_queue_pair(const VerbsDevice &device, const Sizes &sizes);
    [[nodiscard]] int initialize() noexcept;
    [[nodiscard]] int go_to_rtr(const Path &path) noexcept;
    [[nodiscard]] int go_to_rts(std::uint32_t first_packet, std::uint8_t max_reads, int more) noexcept;

    VerbsCompletions *completions_ = nullptr;
    std::shared_ptr<ibv_srq> shared_receives_; ///< if it has any: they outlive it
    Handle<ibv_qp> queue_pair_;
    std::unique_ptr<ClassicSender> classic_sender_; ///< of a driver without extended calls
    ibv_qp_ex *sender_ = nullptr;
    std::uint32_t max_inline_ = 0;
    std::uint32_t num_requests_ = 0;
    unsigned access_ = 0;
    std::uint8_t port_ = 0;
};

/// How many sends, and at the same time receives, a queue pair of @p pd can have whose other sizes are @p sizes: a
/// power of two up to @p most, found by trying; 0 when there can be none.
[[nodiscard]] std::uint32_t largest_queues(ibv_pd &pd, ReliableConnection::Sizes sizes, std::uint32_t most) noexcept;

} // namespace opendoca::verbs
