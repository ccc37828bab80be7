// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../../counter.hpp"
#include "../memory/exporter.hpp"
#include "../memory/importer.hpp"
#include "../process/lock.hpp"
#include "counter_page.hpp"
#include "importers.hpp"
#include "waiters.hpp"

namespace opendoca::soft {

/// The counter of a sync event: one handle, of the process that created the event or of one that imported it.
/// Thread-safe, except for creation, export and destruction.
///
/// The counter lies in shared memory of its own, which all sides map and change by atomic operations, or in the
/// program's memory. There each change and each result is made under the page's lock, because some processes can access
/// that memory through the kernel only. Invariant: only the owner and the importers of its exports access the word, and
/// none of them after the owner has destroyed the event.
class SoftCounter : public Counter {
public:
    /// Must be followed by create() or import().
    SoftCounter() noexcept = default;
    ~SoftCounter() override;
    /// Creates the event. NOT_SUPPORTED if the program's word is not accessible memory; NO_MEMORY and others.
    [[nodiscard]] doca_error_t create(const CounterSetup &setup);
    /// Opens the event of @p descriptor, which is not trusted. INVALID_VALUE, with a message, if it names no event;
    /// NOT_PERMITTED if @p importer may not import it; NO_MEMORY if there are max_importers handles.
    [[nodiscard]] doca_error_t import(std::span<const std::byte> descriptor, const DeviceFunction &importer);

    [[nodiscard]] doca_error_t get(std::uint64_t &value) noexcept override;
    [[nodiscard]] doca_error_t set(std::uint64_t value) noexcept override;
    [[nodiscard]] doca_error_t add(std::uint64_t value, std::uint64_t &fetched) noexcept override;
    [[nodiscard]] doca_error_t wait(const WaitCondition &condition, WhileWaiting how) noexcept override;
    [[nodiscard]] doca_error_t create_waits(CompletionQueue &completions,
                                            std::unique_ptr<CounterWaits> &waits) override;
    [[nodiscard]] doca_error_t export_to_dpu(Device &device, std::vector<std::byte> &descriptor) override;
    [[nodiscard]] std::uint64_t *local_word() noexcept override { return process_ == nullptr ? word_ : nullptr; }
    void expect_unnotified_changes() noexcept override { changes_silently_.store(true, std::memory_order_relaxed); }

    [[nodiscard]] bool changes_silently() const noexcept { return changes_silently_.load(std::memory_order_relaxed); }
    [[nodiscard]] const std::shared_ptr<CounterPage> &page() const noexcept { return page_; }
    /// The process that holds the counter; null if that is this one and the handle is not an imported one.
    [[nodiscard]] const ExporterProcess *holder() const noexcept { return process_.get(); }
    /// Reads the value cheaply. May see a change before it is complete, so the result must be checked by confirm().
    [[nodiscard]] doca_error_t peek(std::uint64_t &value) noexcept
    {
        if (is_locked_) [[unlikely]]
            return peek_locked(value);
        value = word().load(std::memory_order_seq_cst);
        return DOCA_SUCCESS;
    }
    /// Reads the value under the lock where there is one. CONNECTION_RESET, with a message, if the event was destroyed.
    [[nodiscard]] doca_error_t confirm(std::uint64_t &value) noexcept
    {
        return is_locked_ ? confirm_locked(value) : peek(value);
    }
    /// Returns true if only processes with imported handles update the counter: a wait then depends on whether they
    /// live.
    [[nodiscard]] bool has_remote_publisher() const noexcept { return page_->has_remote_publisher != 0; }
    /// Returns true if no process is left that could update the counter, as far as the ends of processes were detected.
    [[nodiscard]] bool has_lost_publishers(const Importers *importers) const noexcept
    {
        return !is_holder_alive() || (importers != nullptr && awaits_importers() && importers->have_all_ended());
    }
    /// Logs which process has ended, or has destroyed the event. Returns CONNECTION_RESET.
    [[gnu::cold]] [[nodiscard]] doca_error_t explain_loss() const noexcept;
    /// Logs the condition that is waited for, once for a handle.
    [[gnu::cold]] void log_wait(const WaitCondition &condition) noexcept;

private:
    [[nodiscard]] doca_error_t open_word(const ExportDescriptor &descriptor, const DeviceFunction &importer);
    [[nodiscard]] doca_error_t register_as_importer();
    void use_page(std::shared_ptr<SealedPage> memory) noexcept;
    void end() noexcept;

    [[nodiscard]] std::atomic_ref<std::uint64_t> word() const noexcept { return std::atomic_ref(*word_); }
    /// Returns whether the owner has destroyed the event.
    [[nodiscard]] bool has_ended() const noexcept
    {
        // Acquire: pairs with the fetch_or in end(), so that the counter's last value is visible.
        return (page_->waiter_mask.load(std::memory_order_acquire) & counter_ended) != 0;
    }
    [[nodiscard]] bool is_holder_alive() const noexcept
    {
        return process_ == nullptr || (!process_->is_gone() && !has_ended());
    }
    /// Returns whether a wait depends on importers. False for an imported handle: this process is an importer itself.
    [[nodiscard]] bool awaits_importers() const noexcept { return process_ == nullptr && has_remote_publisher(); }
    /// Prefetches the first waiter's entry before the change, so that both cache lines are fetched at the same time.
    void prefetch_waiter() const noexcept
    {
        const std::uint64_t mask = page_->waiter_mask.load(std::memory_order_relaxed);
        if (mask != 0) [[unlikely]]
            __builtin_prefetch(page_->waiters + std::countr_zero(mask));
    }
    /// Wakes the waiters that have a target which @p value reaches. Called after the counter has changed to @p value.
    void wake_waiters(std::uint64_t value) noexcept
    {
        // After the seq_cst change of the counter. Pairs with the fetch_or in CounterWaiter::arm(), after which the
        // waiter loads the counter: either this load sees the waiter's bit, or the waiter sees the change.
        const std::uint64_t mask = page_->waiter_mask.load(std::memory_order_seq_cst);
        if (mask != 0) [[unlikely]]
            waker_.wake(*page_, mask, value);
    }
    // Operations under the lock, for a counter in the program's memory.
    template <typename Change>
    [[nodiscard]] doca_error_t change_locked(std::uint64_t &before, Change change) noexcept;
    [[nodiscard]] doca_error_t peek_locked(std::uint64_t &value) noexcept;
    [[nodiscard]] doca_error_t confirm_locked(std::uint64_t &value) noexcept;
    [[gnu::noinline]] [[nodiscard]] doca_error_t get_locked(std::uint64_t &value) const noexcept;
    [[gnu::noinline]] [[nodiscard]] doca_error_t set_locked(std::uint64_t value) noexcept;
    [[gnu::noinline]] [[nodiscard]] doca_error_t add_locked(std::uint64_t value, std::uint64_t &fetched) noexcept;
    [[nodiscard]] doca_error_t read_word(std::uint64_t &value) const noexcept;
    [[nodiscard]] doca_error_t write_word(std::uint64_t value) const noexcept;
    [[nodiscard]] doca_error_t check_condition(const WaitCondition &condition, bool &is_met) noexcept;

    // Members that the fast paths access come first.
    std::uint64_t *word_ = nullptr;            ///< null if only the kernel can reach the word
    std::shared_ptr<CounterPage> page_;        ///< keeps the mapping as well
    std::shared_ptr<ExporterProcess> process_; ///< the owner's process; null for the owner's own handle
    bool is_locked_ = false;                   ///< true if the counter lies in the program's memory

    std::atomic<bool> is_wait_logged_{false};
    std::atomic<bool> changes_silently_{false}; ///< see expect_unnotified_changes(); relaxed: it orders nothing
    ProcessId self_; ///< set by create() or import(); differs in a forked child: its copy must not release anything
    // Of an imported handle.
    std::unique_ptr<RemoteMemory> imported_page_;
    std::unique_ptr<RemoteMemory> imported_word_; ///< null unless the counter lies in the owner's program's memory
    ImporterEntry *entry_ = nullptr;              ///< in the page, which outlives it

    std::shared_ptr<SealedPage> memory_; ///< the mapping of the page
    std::vector<std::unique_ptr<Exporter::Export>> exports_;
    Waker waker_;
};

} // namespace opendoca::soft
