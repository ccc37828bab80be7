// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../core/dev.hpp"
#include "../core/device/counter.hpp"

namespace opendoca {

/// A sync event, or a handle of one that was imported: what it has in every generation of the API. Used in synchronous
/// mode, or as a context.
class SyncEvent {
public:
    /// Where a publisher or a subscriber is.
    enum class Location : std::uint8_t {
        cpu,        ///< has a device
        remote_pci, ///< a process on the other side of the PCIe, with an imported handle
        remote_net, ///< another node
    };

    SyncEvent() = default;
    SyncEvent(const SyncEvent &) = delete;
    SyncEvent &operator=(const SyncEvent &) = delete;
    ~SyncEvent() { counter_.reset(); }

    /// Makes this fresh event a handle.
    [[nodiscard]] doca_error_t import(doca_dev &dev, std::span<const std::byte> descriptor);

    // A device with Location::cpu alone.
    [[nodiscard]] doca_error_t add_publisher(Location location, doca_dev *dev)
    {
        return add(publishers_, location, dev);
    }
    [[nodiscard]] doca_error_t add_subscriber(Location location, doca_dev *dev)
    {
        return add(subscribers_, location, dev);
    }
    [[nodiscard]] doca_error_t set_addr(std::uint64_t *addr);

    [[nodiscard]] doca_error_t start_synchronous();
    /// It may be started again, in the same mode, unless it was stopped @p for_good.
    [[nodiscard]] doca_error_t stop_synchronous(bool for_good) noexcept;
    /// False when it was started in synchronous mode.
    [[nodiscard]] bool become_context() noexcept;
    /// As a context; else the same.
    [[nodiscard]] doca_error_t start_asynchronous();
    void stop_asynchronous(bool for_good) noexcept { state_ = for_good ? State::stopped : State::context; }
    [[nodiscard]] doca_error_t check_stopped() const noexcept;

    [[nodiscard]] doca_error_t export_to_pci(doca_dev &dev, std::span<const std::byte> &descriptor);
    /// BAD_STATE unless started in either mode and not imported.
    [[nodiscard]] doca_error_t check_exportable() const noexcept;

    // Operations in synchronous mode; BAD_STATE, with a message, in any other state.

    [[nodiscard]] doca_error_t get(std::uint64_t &value) noexcept;
    [[nodiscard]] doca_error_t set(std::uint64_t value) noexcept
    {
        return is_synchronous() ? counter_->set(value) : DOCA_ERROR_BAD_STATE;
    }
    /// @p fetched may be null.
    [[nodiscard]] doca_error_t add(std::uint64_t value, std::uint64_t *fetched) noexcept;
    [[nodiscard]] doca_error_t wait(const WaitCondition &condition, Counter::WhileWaiting how) noexcept
    {
        return is_synchronous() ? counter_->wait(condition, how) : DOCA_ERROR_BAD_STATE;
    }

    /// Of a started event.
    [[nodiscard]] Counter &counter() const noexcept { return *counter_; }
    [[nodiscard]] bool has_publisher_on(Location location) const noexcept
    {
        return publishers_.count != 0 && publishers_.location == location;
    }
    /// The devices of its locations, or the one that it was imported with.
    [[nodiscard]] const std::vector<DeviceUse> &devices() const noexcept { return devices_; }

private:
    enum class State : std::uint8_t {
        fresh,
        context, ///< given out as one, not started
        synchronous,
        synchronous_stopped, ///< and may be started again
        asynchronous,
        stopped, ///< for good
    };

    /// Publishers or subscribers: how many there are, and where the last one is.
    struct Side {
        std::uint32_t count = 0;
        Location location = Location::cpu;
    };

    struct Export {
        DeviceUse dev;
        std::vector<std::byte> descriptor;
    };

    [[nodiscard]] bool is_synchronous() const noexcept
    {
        if (state_ == State::synchronous) [[likely]]
            return true;
        report_not_synchronous();
        return false;
    }
    [[nodiscard]] doca_error_t check_configurable(const char *what) const noexcept;
    [[nodiscard]] doca_error_t add(Side &side, Location location, doca_dev *dev);
    [[nodiscard]] doca_error_t create_counter();
    [[gnu::cold]] static void report_not_synchronous() noexcept;

    State state_ = State::fresh;
    bool is_imported_ = false;
    std::unique_ptr<Counter> counter_;
    Side publishers_;
    Side subscribers_;
    std::uint64_t *addr_ = nullptr;
    std::vector<DeviceUse> devices_;
    std::vector<Export> exports_;
};

} // namespace opendoca
