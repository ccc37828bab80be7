// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Frames of a stream to a peer on the other side of the PCIe, in their order, by a queue pair of the card. Each side posts
// as many receives as messages may wait for its program, and six more: so who may send a message by the rules of the rings
// finds a receive for it, and none waits in this library. Each message begins with two numbers, 4 bytes each: how many
// receives its sender has posted again, and how many messages its program has got. They also come alone; four receives are
// kept for that, and two for telling of receives alone, so that this never comes to a standstill.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "../core/buf.hpp"
#include "../core/dev.hpp"
#include "../core/device/queue_pair.hpp"
#include "../core/engine/completion_queue.hpp"
#include "ring.hpp"

namespace opendoca::comm_channel {

/// Belongs to the thread of its connection.
class QueuePairLink {
public:
    /// On a queue pair of @p function, which @p events are woken for; for the messages of two rings. What is refused is
    /// logged.
    [[nodiscard]] static doca_error_t create(const std::shared_ptr<const DeviceFunction> &function,
                                             std::shared_ptr<EventHandle> events, RingShape outgoing, RingShape incoming,
                                             std::unique_ptr<QueuePairLink> &created);
    QueuePairLink(const QueuePairLink &) = delete;
    QueuePairLink &operator=(const QueuePairLink &) = delete;
    ~QueuePairLink();

    /// For the peer's connect().
    [[nodiscard]] std::span<const std::byte> details() const noexcept { return queue_pair_->details(); }
    /// Once. May take a second or two, where the network has to be asked for the peer.
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details_of_peer);
    /// That succeeded, whatever has failed since.
    [[nodiscard]] bool was_connected() const noexcept { return was_connected_; }

    /// One frame; false when there is no space for now.
    [[nodiscard]] bool send(std::span<const std::byte> frame) noexcept;
    /// Sends nothing, to see whether it arrives.
    void probe() noexcept { post_send({}); }
    /// That this side's program has got @p count messages in all: what is sent from now on tells it.
    void set_received(std::uint64_t count) noexcept { num_received_ = static_cast<std::uint32_t>(count); }
    /// Tells it alone, if that is due and there is space.
    void tell_received() noexcept;
    /// What the peer has told of its program. To be checked.
    [[nodiscard]] std::uint32_t num_received_by_peer() const noexcept { return num_received_by_peer_; }
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
    // Messages of nothing, at most, that have not given back their receives.
    static constexpr std::uint32_t most_to_tell = 4;
    static constexpr std::uint32_t most_alone = 6; ///< with those that tell of receives
    static constexpr std::uint32_t receives_to_tell = 2;
    static constexpr std::size_t alignment = 64;

    struct Prefix {
        std::uint32_t reposted;
        std::uint32_t received;
    };
    struct Free {
        void operator()(std::byte *memory) const noexcept { ::operator delete(memory, std::align_val_t{alignment}); }
    };

    /// Places for messages, all of one size.
    struct Slots {
        std::byte *start = nullptr;
        std::uint32_t count;
        std::size_t size;

        explicit Slots(RingShape shape) noexcept;
        [[nodiscard]] std::size_t bytes() const noexcept { return count * size; }
        [[nodiscard]] std::byte *at(std::uint32_t number) const noexcept { return start + number % count * size; }
    };

    QueuePairLink(RingShape outgoing, RingShape incoming);
    [[nodiscard]] doca_error_t open(const std::shared_ptr<const DeviceFunction> &function,
                                    std::shared_ptr<EventHandle> events);
    [[nodiscard]] doca_buf buffer_of(std::byte *slot, std::size_t size, std::size_t data) const noexcept;
    [[nodiscard]] bool post_receive(std::uint32_t number) noexcept;
    [[nodiscard]] bool has_space(std::uint32_t most_alone_before) noexcept;
    void post_send(std::span<const std::byte> bytes) noexcept;
    void tell_of_receives() noexcept;
    void poll() noexcept;
    void note(Tag tag, doca_error_t status, std::uint32_t length) noexcept;
    void note_message(std::uint32_t length) noexcept;

    // In the order in which they depend on each other.
    OwnDevice device_;
    Slots sends_, receives_;
    std::unique_ptr<std::byte, Free> memory_;
    std::shared_ptr<const doca_mmap> map_;
    CompletionQueue completions_;
    std::atomic<ConnectionState> state_{ConnectionState::none};
    std::unique_ptr<QueuePair> queue_pair_;

    // Buffers are the queue pair's until their operations end, when those of receives have grown.
    std::unique_ptr<doca_buf[]> sending_;
    std::unique_ptr<doca_buf[]> receiving_;
    std::unique_ptr<std::uint32_t[]> lengths_; ///< of messages that have come
    std::unique_ptr<bool[]> are_alone_;        ///< those that were sent: they are nothing but two numbers
    std::uint32_t num_alone_ = 0; ///< of those, that have not given back their receives
    // Numbers of messages and receives since the beginning, which wrap around.
    std::uint32_t num_sent_ = 0;
    std::uint32_t num_done_ = 0;         ///< of those: they are at the peer
    std::uint32_t num_peer_reposted_ = 0; ///< of the receives that they have filled
    std::uint32_t num_come_ = 0;
    std::uint32_t num_reposted_ = 0; ///< of those
    std::uint32_t num_told_ = 0;     ///< of these, as the peer knows
    std::uint32_t num_received_ = 0; ///< by the program
    std::uint32_t num_received_told_ = 0;
    std::uint32_t num_received_by_peer_ = 0;
    std::size_t at_ = 0;             ///< where what is left of the oldest message begins
    bool was_connected_ = false;
    bool has_failed_ = false;
    bool is_armed_ = false;
};

} // namespace opendoca::comm_channel
