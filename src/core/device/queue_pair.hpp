// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Provider contract for RDMA: one end of a reliable connection.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <doca_error.h>
#include <doca_types.h>

#include "../engine/source.hpp"
#include "request.hpp"

namespace opendoca {

class CompletionQueue;
class ReceiveQueue;

/// Parameters for creating a queue pair. Queue sizes are powers of two; all values are within the device's
/// capabilities.
struct QueuePairSettings {
    std::uint32_t send_queue_size;
    std::uint32_t recv_queue_size;
    std::uint32_t recv_chain_length; ///< most buffers of one receive
    std::uint32_t permissions;       ///< the peer's rights: enum doca_access_flags
    doca_mtu_size mtu;
    bool is_mtu_fixed; ///< set by the program
    bool has_grh;
    std::uint32_t gid_index;
    bool is_gid_fixed; ///< set by the program
    std::uint32_t service_level;
    /// Most buffers on the local side of operations other than receives; 0: the device's maximum.
    std::uint32_t send_chain_length = 0;
    /// A shared receive queue to use in place of an own one; must outlive the queue pair. recv_queue_size is then the
    /// limit for messages in transit.
    ReceiveQueue *shared_receives = nullptr;
    /// The completion queue that the queue pair will be attached to, if known in advance: avoids recreating it in
    /// attach().
    CompletionQueue *completions = nullptr;
    /// If set, connect() does not retry when the peer's address cannot be resolved: the caller can continue without the
    /// connection.
    bool is_optional = false;
};

/// State of a connection. Stored by the owner of the queue pair, so that any thread can read it while queue pairs are
/// created and destroyed. A connection that has failed never becomes connected again.
enum class ConnectionState : std::uint8_t {
    none,    ///< there is no queue pair
    initial, ///< not connected yet
    connected,
    failed,
};

/// Receives that several queue pairs share. An arriving message uses the oldest receive, whichever queue pair it
/// arrives at. A message that finds none waits for one, possibly without notice to its sender and even after its sender
/// has disconnected. Receives complete on the completion queue that all these queue pairs are attached to. If a
/// connection fails, only the receives that were being filled by it fail.
class OPENDOCA_INTERNAL ReceiveQueue : public Source {
public:
    /// Posts a receive into buffers that TransferCheck has validated. NO_MEMORY, without any change, if this queue or
    /// the completion queue is full.
    [[nodiscard]] virtual doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept = 0;
    /// Returns whether the device was reset, removed or has failed since the queue was created, as far as that was
    /// noticed: neither this queue nor any queue pair of before works again.
    [[nodiscard]] virtual bool has_lost_device() const noexcept { return false; }
    /// Reads what the device has reported, after a connection has failed: operations may be flushed before the device's
    /// failure was noticed.
    virtual void check_for_failure() noexcept {}
};

/// One end of a reliable connection. Owned by an RDMA context or a message channel. It is attached to at most one
/// completion queue at a time; the thread of that queue posts its operations and retrieves their completions. A
/// connection that has failed does not recover.
class OPENDOCA_INTERNAL QueuePair : public Source {
public:
    explicit QueuePair(std::atomic<ConnectionState> &state) noexcept : state_(state) {}

    [[nodiscard]] ConnectionState state() const noexcept
    {
        // Acquire: pairs with the release store in set_state(). A thread that reads "connected" sees everything that
        // connect() has written.
        return state_.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool is_connected() const noexcept { return state() == ConnectionState::connected; }

    /// Returns the bytes that the peer needs to connect. Constant; at most 256 bytes.
    [[nodiscard]] virtual std::span<const std::byte> details() const noexcept = 0;
    /// Connects to the peer with these details; called once, by the thread of the completion queue if receives are
    /// shared. Does not wait for the peer to connect. CONNECTION_ABORTED on failure.
    [[nodiscard]] virtual doca_error_t connect(std::span<const std::byte> details) = 0;
    /// Returns the MTU of the settings until connected, and then the one that both ends use. After connect(), an MTU
    /// that the program has set is returned unchanged even if the path's is less.
    [[nodiscard]] virtual doca_mtu_size mtu() const noexcept = 0;

    /// Attaches to @p completions. The thread of that queue can submit operations from then on.
    [[nodiscard]] virtual doca_error_t attach(CompletionQueue &completions) = 0;
    /// Detaches from the completion queue: nothing completes on it any more. Does nothing if not
    /// attached.
    virtual void detach() noexcept = 0;
    [[nodiscard]] bool is_attached() const noexcept { return completions_ != nullptr; }

    // Operations of a connected queue pair, already validated by TransferCheck. Each one either completes exactly once,
    // or is refused with NO_MEMORY (the completion queue or this queue is full) without any change. A failed operation
    // ends the connection: the state becomes "failed", and everything in flight completes with SHUTDOWN.

    /// Posts a receive. Not if receives are shared. @p dst may be null if the plan has 0 bytes.
    [[nodiscard]] virtual doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept = 0;
    /// Posts @p request, which need not outlive the call. On completion, the data sections of a read's or a write's
    /// destination have grown by the bytes that were moved, or consist of these if the plan overwrites.
    [[nodiscard]] virtual doca_error_t post(Tag tag, const Request &request) noexcept = 0;

protected:
    /// Release: pairs with the acquire load in state().
    void set_state(ConnectionState state) noexcept { state_.store(state, std::memory_order_release); }

    CompletionQueue *completions_ = nullptr; ///< null unless attached

private:
    std::atomic<ConnectionState> &state_;
};

} // namespace opendoca
