// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <doca_sync_event.h>

#include "../../core/device/counter.hpp"
#include "../../core/v2/ctx.hpp"

/// A handle of a sync event: in synchronous mode an object of its own, in asynchronous mode a context.
struct doca_sync_event final : doca_ctx {
    doca_sync_event() = default;
    ~doca_sync_event() override;

    [[nodiscard]] static doca_error_t create_from_export(doca_dev &dev, std::span<const std::byte> descriptor,
                                                         doca_sync_event *&event);

    // Locations: a CPU has a device, the DPU none.
    [[nodiscard]] doca_error_t add_publisher(doca_dev *dev) { return add_location(publishers_, dev); }
    [[nodiscard]] doca_error_t add_subscriber(doca_dev *dev) { return add_location(subscribers_, dev); }
    [[nodiscard]] doca_error_t set_addr(std::uint64_t *addr);

    [[nodiscard]] doca_error_t start_synchronous();
    [[nodiscard]] doca_error_t stop_synchronous() noexcept;
    /// Null when it was started in synchronous mode.
    [[nodiscard]] doca_ctx *as_ctx() noexcept;
    [[nodiscard]] doca_error_t check_stopped() const noexcept;

    /// BAD_STATE unless started in either mode and not imported.
    [[nodiscard]] doca_error_t check_exportable() const noexcept;
    [[nodiscard]] doca_error_t export_to_dpu(doca_dev &dev, std::span<const std::byte> &descriptor);

    /// The counter for an operation in synchronous mode; null, with a message, in any other state.
    [[nodiscard]] opendoca::Counter *counter() const noexcept
    {
        if (state_ == State::synchronous) [[likely]]
            return counter_.get();
        report_not_synchronous();
        return nullptr;
    }

protected:
    [[nodiscard]] doca_error_t check_device(const doca_dev &dev,
                                            const std::vector<doca_dev *> &others) const override;
    [[nodiscard]] doca_error_t on_start(const std::vector<doca_dev *> &devices) override;
    void on_stop() noexcept override;
    [[nodiscard]] bool can_be_event_driven(const std::vector<doca_dev *> &devices) const override;
    [[nodiscard]] doca_error_t create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                            std::unique_ptr<opendoca::v2::JobQueue> &queue) override;

private:
    enum class State : std::uint8_t {
        fresh,
        context, ///< given out as one, not started
        synchronous,
        asynchronous,
        stopped,
    };

    /// Of one side: how many there are, and the device of the last one, if it is a CPU.
    struct Locations {
        std::uint32_t count = 0;
        doca_dev *dev = nullptr;
    };

    struct Export {
        const doca_dev *dev;
        std::vector<std::byte> descriptor;
    };

    [[nodiscard]] bool is_imported() const noexcept { return importer_ != nullptr; }
    [[nodiscard]] doca_error_t check_configurable(const char *what) const noexcept;
    [[nodiscard]] doca_error_t add_location(Locations &side, doca_dev *dev);
    [[nodiscard]] doca_error_t create_counter();
    [[gnu::cold]] static void report_not_synchronous() noexcept;

    State state_ = State::fresh;
    std::unique_ptr<opendoca::Counter> counter_;
    Locations publishers_;
    Locations subscribers_;
    std::uint64_t *addr_ = nullptr;
    doca_dev *importer_ = nullptr;
    std::vector<doca_dev *> devices_in_use_;
    std::vector<Export> exports_;
};
