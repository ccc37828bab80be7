// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Shared by consumers and producers: queue pairs, and the layout of messages. Immediate data follows the data in the
// same message; its length is in the message's immediate number (Immediate).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>

#include "../../core/base/public_values.hpp"
#include "../../core/device/queue_pair.hpp"
#include "../../core/objects/buf.hpp"
#include "../../core/objects/dev.hpp"
#include "fast_path.hpp"

namespace opendoca::comch {

inline constexpr std::uint32_t max_immediate = 32; ///< bytes
inline constexpr std::uint32_t max_fast_path_tasks = 16384;
inline constexpr std::uint32_t max_fast_path_contexts = 1024; ///< limit per connection; no array has this size

/// Returns whether consumers and producers can use a device: by its own queue pairs, or by those of another function of
/// its card.
[[nodiscard]] inline bool has_fast_path(const DeviceFunction &function) noexcept
{
    const RdmaCapabilities &can = (function.messages_by != nullptr ? *function.messages_by : function).can.rdma;
    return function.can.comm_channel && function.can.queue_pairs_reach_peers && can.reliable_connection &&
           can.shared_receives;
}

/// The device with the queue pairs that carry the messages of a consumer or producer. Owned by that context and used by
/// its thread. If it differs from the context's device, memory maps of the program are also registered there at their
/// first use, until the context has stopped or their number reaches max_maps.
/// device, memory maps of the program are also registered there at their first use, until the context has stopped.
class DataDevice {
public:
    /// Selects the device for a context of @p dev. Opens it if it is another one.
    [[nodiscard]] doca_error_t open(doca_dev &dev);
    /// Deregisters all memory and closes the device. Nothing may be in flight.
    void close() noexcept;

    [[nodiscard]] doca_dev &dev() const noexcept { return *dev_; }
    [[nodiscard]] const RdmaCapabilities &can() const noexcept { return dev_->function().can.rdma; }
    /// Data goes by another function of the card.
    [[nodiscard]] bool is_another() const noexcept { return own_ != nullptr; }
    /// Makes @p buf, a copy of a program's buffer, refer to memory of this device. Returns NO_MEMORY while too many
    /// maps are registered and operations of @p completions may use them.
    [[nodiscard]] doca_error_t take_over(doca_buf &buf, CompletionQueue &completions);

private:
    static constexpr std::size_t max_maps = 64;

    doca_dev *dev_ = nullptr;
    OwnDevice own_; ///< open if the device is not the context's
    /// Key: serial number of the program's map, and how often it was started.
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::shared_ptr<const doca_mmap>> maps_;
};

/// A queue pair between one producer and one consumer. Each side owns its own, and uses it in the thread of its
/// context. The queue pair's `owner` refers to this object, so that a completion leads to the peer's number.
struct DataConnection {
    ~DataConnection()
    {
        if (queue_pair != nullptr)
            queue_pair->detach();
    }

    std::uint32_t peer = 0; ///< number of the consumer or producer
    std::atomic<ConnectionState> state{ConnectionState::none};
    std::unique_ptr<QueuePair> queue_pair;
};

/// Creates a queue pair for @p peer on @p completions. A consumer passes its shared @p receives, a producer null. Fails
/// with the device's status; nothing has then changed.
[[nodiscard]] doca_error_t make_data_connection(doca_dev &dev, CompletionQueue &completions, std::uint32_t queue_size,
                                                ReceiveQueue *receives, std::uint32_t peer,
                                                std::unique_ptr<DataConnection> &made);
/// Stores the data that the peer needs to connect in @p message.
void put_details(const DataConnection &connection, ControlMessage &message) noexcept;

/// Memory of a context that is registered with its device: a slot for immediate data for each task. Owned by the
/// context.
class OwnMemory {
public:
    [[nodiscard]] doca_error_t create(doca_dev &dev, std::size_t size);

    [[nodiscard]] std::byte *start() const noexcept { return bytes_.get(); }
    [[nodiscard]] const doca_mmap *map() const noexcept { return map_.get(); }

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::shared_ptr<const doca_mmap> map_;
};

/// A message of two segments: an optional buffer of the program, and immediate data. Part of a task. The copies of
/// buffers stay valid until the task completes, since the queue pair refers to them.
struct TwoSegments {
    /// Sets the memory for immediate data: max_immediate bytes that live as long as the task.
    void set_slot(std::byte *slot, const doca_mmap &map) noexcept
    {
        doca_buf &last = segments[1];
        last = {};
        last.head = last.data = slot;
        last.len = max_immediate;
        last.mmap = &map;
    }
    [[nodiscard]] bool has_slot() const noexcept { return segments[1].mmap != nullptr; }
    [[nodiscard]] std::byte *slot() const noexcept { return segments[1].head; }

    /// Returns the head of the list of @p first, which may be null, and the slot with that many bytes of data.
    [[nodiscard]] doca_buf &chain(const doca_buf *first, std::size_t num_immediate) noexcept
    {
        doca_buf &last = segments[1];
        last.data_len = num_immediate;
        last.last = first == nullptr ? &last : nullptr;
        last.update_fast_path_uses();
        if (first == nullptr)
            return last;
        doca_buf &head = copy(*first);
        head.next = head.last = &last;
        return head;
    }
    /// Returns a copy of @p only.
    [[nodiscard]] doca_buf &copy(const doca_buf &only) noexcept
    {
        doca_buf &head = segments[0];
        head = only;
        head.last = &head;
        head.fast_path_uses = 0;
        return head;
    }

    std::array<doca_buf, 2> segments; ///< 0: a copy of the program's buffer; 1: the slot
};

} // namespace opendoca::comch
