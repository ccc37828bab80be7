// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What consumers and producers have in common: queue pairs, and immediate data, which follows the message's data in
// the same message. Where there is some, the message's number (Immediate) is its length.
#pragma once

#include <array>
#include <atomic>
#include <cstring>
#include <memory>

#include "../../core/buf.hpp"
#include "../../core/dev.hpp"
#include "../../core/device/queue_pair.hpp"
#include "../../core/public_values.hpp"
#include "fast_path.hpp"

namespace opendoca::comch {

inline constexpr std::uint32_t max_immediate = 32; ///< bytes
inline constexpr std::uint32_t max_fast_path_tasks = 16384;
inline constexpr std::uint32_t max_fast_path_contexts = 1024; ///< on one connection; no array has this size

/// Whether consumers and producers can be on a device's connections: their messages go by its queue pairs.
[[nodiscard]] inline bool has_fast_path(const DeviceFunction &function) noexcept
{
    return function.can.comm_channel && function.can.rdma.reliable_connection && function.can.rdma.shared_receives;
}

/// A queue pair between one producer and one consumer.
struct Lane {
    ~Lane()
    {
        if (queue_pair != nullptr)
            queue_pair->detach();
    }

    std::uint32_t peer = 0; ///< the number of the consumer, or of the producer
    std::atomic<ConnectionState> state{ConnectionState::none};
    std::unique_ptr<QueuePair> queue_pair;
};

/// One for @p peer; @p details are what the peer needs.
[[nodiscard]] doca_error_t make_lane(doca_dev &dev, CompletionQueue &completions, std::uint32_t queue_size,
                                     ReceiveQueue *receives, std::uint32_t peer, std::unique_ptr<Lane> &made);
void put_details(const Lane &lane, ControlMessage &message) noexcept;

/// Memory of a context that its device can use.
class OwnMemory {
public:
    [[nodiscard]] doca_error_t create(doca_dev &dev, std::size_t size);
    ~OwnMemory();

    [[nodiscard]] std::byte *start() const noexcept { return bytes_.get(); }
    [[nodiscard]] doca_mmap *map() const noexcept { return map_; }

private:
    std::unique_ptr<std::byte[]> bytes_;
    doca_mmap *map_ = nullptr;
};

/// A message in two parts: a buffer of the program, or none, and immediate data.
struct TwoParts {
    /// Gives the list's head.
    [[nodiscard]] doca_buf &chain(const doca_buf *first, std::byte *second, std::size_t room, std::size_t data,
                                  const doca_mmap &map) noexcept;

    std::array<doca_buf, 2> parts;
};

} // namespace opendoca::comch
