// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The provider contract of RDMA: one end of a reliable connection.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../engine/source.hpp"
#include "../transfer_check.hpp"

namespace opendoca {

class CompletionQueue;
class ReceiveQueue;

/// What a queue pair is made with. Sizes are powers of two, and all of it is within the device's
/// capabilities.
struct QueuePairSettings {
    std::uint32_t send_queue_size;
    std::uint32_t recv_queue_size;
    std::uint32_t recv_chain_length; ///< most buffers of a receive
    std::uint32_t permissions;       ///< what the peer may do: enum doca_access_flags
    doca_mtu_size mtu;
    bool is_mtu_fixed; ///< the program has set it
    bool has_grh;
    std::uint32_t gid_index;
    bool is_gid_fixed; ///< the program has set it
    std::uint32_t service_level;
    /// Most buffers on the local side of everything but receives; 0: as many as the device can do.
    std::uint32_t send_chain_length = 0;
    /// Where its messages meet their receives, if not in a queue of its own; outlives it. Then recv_queue_size is
    /// how many messages can be on their way.
    ReceiveQueue *shared_receives = nullptr;
    /// That it will be attached to, where that is known: spares making it anew.
    CompletionQueue *completions = nullptr;
    /// connect() does not ask again where the peer's address is not found: its caller can do without a connection.
    bool is_optional = false;
};

/// The number that a message carries besides its bytes, or none. Both words are always set, so that it is passed in a
/// register and never through memory.
class Immediate {
public:
    constexpr Immediate() noexcept = default;
    constexpr Immediate(std::uint32_t big_endian) noexcept : value_(big_endian), is_there_(1) {}

    [[nodiscard]] constexpr explicit operator bool() const noexcept { return is_there_ != 0; }
    /// Big endian; 0 where there is none.
    [[nodiscard]] constexpr std::uint32_t value() const noexcept { return value_; }

private:
    std::uint32_t value_ = 0;
    std::uint32_t is_there_ = 0;
};

struct AtomicUpdate {
    enum class Kind : std::uint8_t { compare_and_swap, fetch_and_add };
    Kind kind;
    std::uint64_t operand; ///< what is swapped in, or added
    std::uint64_t compare;
};

/// Of a connection. Whoever holds the queue pair keeps it, so that any thread may ask while queue pairs come and
/// go.
enum class ConnectionState : std::uint8_t {
    none,    ///< there is no queue pair
    initial, ///< not connected yet
    connected,
    failed,
};

/// Receives that queue pairs share: a message that comes to one of them meets the receive that was posted first. A
/// message that finds none waits, which its sender may not be told of, and waits on when its sender has left. Ends on
/// the completion queue that all of these queue pairs are attached to. A connection that fails takes no receives with
/// it but those that it was filling.
class OPENDOCA_INTERNAL ReceiveQueue : public Source {
public:
    /// Of buffers that TransferCheck has found possible. NO_MEMORY, and nothing has changed, when this queue or the
    /// completion queue is full.
    [[nodiscard]] virtual doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept = 0;
};

/// One end of a reliable connection. Its operations end on at most one completion queue at a time.
class OPENDOCA_INTERNAL QueuePair : public Source {
public:
    explicit QueuePair(std::atomic<ConnectionState> &state) noexcept : state_(state) {}

    [[nodiscard]] ConnectionState state() const noexcept
    {
        // Acquire: pairs with set_state(). Who reads "connected" sees what connect() has set.
        return state_.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool is_connected() const noexcept { return state() == ConnectionState::connected; }

    /// What the peer needs to connect; constant, at most 256 bytes.
    [[nodiscard]] virtual std::span<const std::byte> details() const noexcept = 0;
    /// Called once, by the thread of the completion queue where receives are shared. Does not wait for the peer.
    /// CONNECTION_ABORTED when it fails.
    [[nodiscard]] virtual doca_error_t connect(std::span<const std::byte> details) = 0;
    [[nodiscard]] virtual doca_mtu_size mtu() const noexcept = 0;

    /// From now on operations can be submitted, by the thread of @p completions.
    [[nodiscard]] virtual doca_error_t attach(CompletionQueue &completions) = 0;
    virtual void detach() noexcept = 0;
    [[nodiscard]] bool is_attached() const noexcept { return completions_ != nullptr; }

    // Operations of a connected queue pair that TransferCheck has found possible. Each ends once, or is refused
    // with NO_MEMORY (the completion queue or the queue of its kind is full) and has changed nothing. A failed
    // operation ends the connection: the state becomes "failed", and all that is in flight ends with SHUTDOWN.
    // Where a plan has 0 bytes, buffers and the remote key may be null.

    /// Not where receives are shared.
    [[nodiscard]] virtual doca_error_t receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept = 0;
    [[nodiscard]] virtual doca_error_t send(Tag tag, const doca_buf *src, TransferPlan plan,
                                            Immediate immediate) noexcept = 0;
    [[nodiscard]] virtual doca_error_t read(Tag tag, doca_buf *dst, const doca_buf *src, TransferPlan plan,
                                            MemoryKey *remote) noexcept = 0;
    [[nodiscard]] virtual doca_error_t write(Tag tag, doca_buf *dst, const doca_buf *src, TransferPlan plan,
                                             MemoryKey *remote, Immediate immediate) noexcept = 0;
    /// The old value goes to where @p result has its data.
    [[nodiscard]] virtual doca_error_t update(Tag tag, doca_buf &result, doca_buf &target,
                                              const AtomicUpdate &update, MemoryKey &remote) noexcept = 0;

protected:
    /// Release: pairs with state().
    void set_state(ConnectionState state) noexcept { state_.store(state, std::memory_order_release); }

    CompletionQueue *completions_ = nullptr; ///< from attach() to detach()

private:
    std::atomic<ConnectionState> &state_;
};

} // namespace opendoca
