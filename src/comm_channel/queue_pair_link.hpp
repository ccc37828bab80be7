// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Bytes to a peer on the other side of the PCIe by a queue pair of the card, in their order: what a socket does that never
// waits. Both sides post as many receives. Each message begins with how many of them its sender has posted again, 4 bytes,
// so nobody sends what finds no receive. Two receives are kept for messages of nothing but that.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "../core/buf.hpp"
#include "../core/dev.hpp"
#include "../core/device/queue_pair.hpp"
#include "../core/engine/completion_queue.hpp"

namespace opendoca::comm_channel {

/// Belongs to the thread of its connection.
class QueuePairLink {
public:
    static constexpr std::size_t longest_send = 4156; ///< bytes

    /// On a queue pair of @p function, which @p events are woken for. What is refused is logged.
    [[nodiscard]] static doca_error_t create(const std::shared_ptr<const DeviceFunction> &function,
                                             std::shared_ptr<EventHandle> events,
                                             std::unique_ptr<QueuePairLink> &created);
    QueuePairLink(const QueuePairLink &) = delete;
    QueuePairLink &operator=(const QueuePairLink &) = delete;
    ~QueuePairLink();

    /// For the peer's connect().
    [[nodiscard]] std::span<const std::byte> details() const noexcept { return queue_pair_->details(); }
    /// Once. May take a second or two, where the network has to be asked for the peer.
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details_of_peer);
    [[nodiscard]] bool is_connected() const noexcept { return queue_pair_->is_connected(); }

    /// All of @p bytes, at most longest_send of them; false when there is no room for now.
    [[nodiscard]] bool send(std::span<const std::byte> bytes) noexcept;
    /// Gives how many bytes have come; 0: none for now. What came before a failure is still given.
    [[nodiscard]] std::size_t receive(std::span<std::byte> bytes) noexcept;
    /// Nothing comes or goes any more.
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }
    /// What was sent is not at the peer yet, as far as is known.
    [[nodiscard]] bool has_unsent() noexcept;

    /// From now on the events are woken when there is something to be looked at, until disarm().
    void arm() noexcept;
    void disarm() noexcept;

private:
    static constexpr std::uint32_t num_slots = 16; ///< of each direction; both sides have as many
    static constexpr std::uint32_t kept_for_posts = 2;
    using Prefix = std::uint32_t;

    /// A message, sent or received.
    struct alignas(64) Slot {
        std::array<std::byte, sizeof(Prefix) + longest_send> bytes;
    };
    using Slots = std::array<Slot, num_slots>;
    struct Memory {
        Slots sends;
        Slots receives;
    };

    QueuePairLink() = default;
    [[nodiscard]] doca_error_t open(const std::shared_ptr<const DeviceFunction> &function,
                                    std::shared_ptr<EventHandle> events);
    [[nodiscard]] doca_buf buffer_of(Slot &slot, std::size_t data) const noexcept;
    [[nodiscard]] bool post_receive(std::uint32_t number) noexcept;
    [[nodiscard]] bool has_room(std::uint32_t kept) noexcept;
    void post_send(std::span<const std::byte> bytes) noexcept;
    void tell_of_receives() noexcept;
    void poll() noexcept;
    void note(Tag tag, doca_error_t status, std::uint32_t length) noexcept;
    void note_message(std::uint32_t length) noexcept;

    // In the order in which they depend on each other.
    OwnDevice device_;
    std::unique_ptr<Memory> memory_;
    std::shared_ptr<const doca_mmap> map_;
    CompletionQueue completions_{2 * num_slots};
    std::atomic<ConnectionState> state_{ConnectionState::none};
    std::unique_ptr<QueuePair> queue_pair_;

    // Buffers grow when their operations end.
    std::array<doca_buf, num_slots> receiving_{};
    std::array<std::uint32_t, num_slots> lengths_{}; ///< of messages that have come
    // Numbers of messages and receives since the beginning, which wrap around.
    std::uint32_t num_sent_ = 0;
    std::uint32_t num_done_ = 0;         ///< of those: they are at the peer
    std::uint32_t num_peer_reposted_ = 0; ///< of the receives that they have filled
    std::uint32_t num_come_ = 0;
    std::uint32_t num_reposted_ = 0; ///< of those
    std::uint32_t num_told_ = 0;     ///< of these, as the peer knows
    std::size_t at_ = 0;             ///< where what is left of the oldest message begins
    bool has_failed_ = false;
    bool is_armed_ = false;
};

} // namespace opendoca::comm_channel
