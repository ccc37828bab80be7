// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../core/device/counter.hpp"
#include "../core/objects/dev.hpp"

namespace opendoca {

/// A sync event, or the handle of an imported one: the state that both generations of the API share. A 64-bit counter,
/// which a publisher updates and a subscriber waits for. Member of doca_sync_event.
/// Configured and started by one thread at a time; while it is started, any thread may call the operations in
/// synchronous mode, since the counter is thread-safe. Used either in synchronous mode, in which calls operate on the
/// counter, or as a context, with jobs or tasks. Invariant: the counter exists in every started state, and stays, with
/// its value, until the event is destroyed.
class SyncEvent {
public:
    /// Where a publisher or a subscriber runs.
    enum class Location : std::uint8_t {
        cpu,        ///< this host, on a named device
        remote_pci, ///< the other side of the PCIe: a process there with an imported handle
        remote_net, ///< another node, by RDMA
    };

    SyncEvent() = default;
    SyncEvent(const SyncEvent &) = delete;
    SyncEvent &operator=(const SyncEvent &) = delete;
    /// The counter before the devices, which it uses.
    ~SyncEvent() { counter_.reset(); }

    /// Makes this event, which must be fresh, the handle of the event that @p descriptor describes. NOT_SUPPORTED if
    /// @p dev cannot import; otherwise the error of the device.
    [[nodiscard]] doca_error_t import(doca_dev &dev, std::span<const std::byte> descriptor);

    // Configuration: BAD_STATE once the event was started or if it is imported. @p dev is set if and only if the
    // location
    // is cpu; the event keeps it open.
    [[nodiscard]] doca_error_t add_publisher(Location location, doca_dev *dev)
    {
        return add(publishers_, location, dev);
    }
    [[nodiscard]] doca_error_t add_subscriber(Location location, doca_dev *dev)
    {
        return add(subscribers_, location, dev);
    }
    /// Sets where the counter is: memory of the program, aligned to 8 bytes, which must exist as long as the event. By
    /// default the device allocates it. INVALID_VALUE if it is not aligned.
    [[nodiscard]] doca_error_t set_addr(std::uint64_t *addr);

    /// Starts synchronous mode. BAD_STATE if the event is a context or was started before and not stopped, or without
    /// one publisher and one subscriber.
    [[nodiscard]] doca_error_t start_synchronous();
    /// Stops synchronous mode. The event can be started again, in the same mode, unless @p for_good is set (DOCA 2.2).
    [[nodiscard]] doca_error_t stop_synchronous(bool for_good) noexcept;
    /// Makes the event usable as a context. Returns false, after a log line, if it was started in synchronous mode.
    [[nodiscard]] bool become_context() noexcept;
    /// Called when the context starts and stops; otherwise like start_synchronous() and stop_synchronous().
    [[nodiscard]] doca_error_t start_asynchronous();
    void stop_asynchronous(bool for_good) noexcept { state_ = for_good ? State::stopped : State::context; }
    /// Returns BAD_STATE, after a log line, if the event is started.
    [[nodiscard]] doca_error_t check_stopped() const noexcept;

    /// Returns the bytes that the other side of the PCIe imports through @p dev. They are made by the first call for a
    /// device and stay valid as long as the event.
    [[nodiscard]] doca_error_t export_to_pci(doca_dev &dev, std::span<const std::byte> &descriptor);
    /// Returns BAD_STATE, after a log line, unless the event is started, in either mode, and not imported.
    [[nodiscard]] doca_error_t check_exportable() const noexcept;

    // Operations in synchronous mode; BAD_STATE, with a message, in any other state.

    // Operations in synchronous mode; BAD_STATE, after a log line, in any other state.
    [[nodiscard]] doca_error_t get(std::uint64_t &value) noexcept;
    [[nodiscard]] doca_error_t set(std::uint64_t value) noexcept
    {
        return is_synchronous() ? counter_->set(value) : DOCA_ERROR_BAD_STATE;
    }
    /// Adds modulo 2^64. @p fetched, which receives the value before, may be null.
    [[nodiscard]] doca_error_t add(std::uint64_t value, std::uint64_t *fetched) noexcept;
    /// Blocks until the counter meets @p condition.
    [[nodiscard]] doca_error_t wait(const WaitCondition &condition, Counter::WhileWaiting how) noexcept
    {
        return is_synchronous() ? counter_->wait(condition, how) : DOCA_ERROR_BAD_STATE;
    }

    /// Returns the counter; the event must have been started or imported.
    [[nodiscard]] Counter &counter() const noexcept { return *counter_; }
    /// Returns whether the publisher is at @p location.
    [[nodiscard]] bool has_publisher_on(Location location) const noexcept
    {
        return publishers_.count != 0 && publishers_.location == location;
    }
    /// Returns the devices of its locations, or the one by which it was imported.
    [[nodiscard]] const std::vector<DeviceUse> &devices() const noexcept { return devices_; }

private:
    enum class State : std::uint8_t {
        fresh,               ///< not started and not a context
        context,             ///< usable as a context, not started
        synchronous,         ///< started in synchronous mode
        synchronous_stopped, ///< can be started again in synchronous mode
        asynchronous,        ///< the context is started
        stopped,             ///< final: can only be destroyed
    };

    /// The publishers or the subscribers. One of each is required at the start; adding more is reported only then.
    struct Side {
        std::uint32_t count = 0;
        Location location = Location::cpu; ///< of the one added last
    };

    /// A descriptor that was made for a device.
    struct Export {
        DeviceUse dev;
        std::vector<std::byte> descriptor;
    };

    /// Returns whether operations are possible. Logs if they are not.
    [[nodiscard]] bool is_synchronous() const noexcept
    {
        if (state_ == State::synchronous) [[likely]]
            return true;
        report_not_synchronous();
        return false;
    }
    /// Returns BAD_STATE, after a log line that names @p what is to be changed, if the event is imported or was
    /// started.
    [[nodiscard]] doca_error_t check_configurable(const char *what) const noexcept;
    [[nodiscard]] doca_error_t add(Side &side, Location location, doca_dev *dev);
    /// Creates the counter unless there is one: an imported event has one, and so has one that is started again.
    [[nodiscard]] doca_error_t create_counter();
    /// Out of line, to keep the operations short.
    [[gnu::cold]] static void report_not_synchronous() noexcept;

    State state_ = State::fresh;
    bool is_imported_ = false;
    std::unique_ptr<Counter> counter_; ///< null until the first start or the import
    Side publishers_;
    Side subscribers_;
    std::uint64_t *addr_ = nullptr;  ///< null: the device allocates the counter
    std::vector<DeviceUse> devices_; ///< kept open; see devices()
    std::vector<Export> exports_;    ///< at most one for each device
};

} // namespace opendoca
