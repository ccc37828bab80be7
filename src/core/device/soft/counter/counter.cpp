// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Creation, export, import and destruction of a counter, then the operations on it: get, set, add and wait.
#include "counter.hpp"

#include <atomic>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <sched.h>

#include "../../../base/wait_notice.hpp"
#include "../../host/own_memory.hpp"
#include "../memory/process_copy.hpp"
#include "../process/directory.hpp"
#include "../process/reserve.hpp"
#include "counter_waits.hpp"

#include "../../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_COUNTER);

namespace opendoca::soft {

namespace {

// Rounds of a blocking wait between two checks. A round is one load of the counter and a pause or a sched_yield().
/// Between two checks for an end of the other side that was detected before; they make no system call.
constexpr std::uint32_t rounds_between_exit_checks = 1 << 8;
/// Between two checks of all importers, which cost a system call for each of them. A multiple of the above.
constexpr std::uint32_t rounds_of_calls_spinning = 1 << 16;
constexpr std::uint32_t rounds_of_calls_yielding = 1 << 10; ///< the same if each round yields the processor
/// Before a yielding wait yields for the first time, a microsecond or two: an answer that is on its way is taken
/// without a system call.
constexpr std::uint32_t rounds_before_yield = 1 << 6;

/// Leaves execution units to the other hardware thread of the core for a moment, and saves power.
inline void pause() noexcept
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
}

/// Returns whether @p page is that of an event of this version of the layout.
bool is_page(const CounterPage &page) noexcept
{
    return std::memcmp(page.magic, counter_magic, sizeof(counter_magic)) == 0 && page.version == counter_version &&
           page.size == sizeof(CounterPage);
}

constexpr std::uint32_t all_rights = Access::local_read_write | Access::dpu_read_write;

} // namespace

SoftCounter::~SoftCounter()
{
    if (self_.pid() == getpid() && page_ != nullptr)
        end();
}

/// Ends the handle. The owner's end is that of the event: all waiters are woken and find it.
void SoftCounter::end() noexcept
{
    if (process_ != nullptr) {
        if (entry_ != nullptr)
            release_entry(*entry_);
        return;
    }
    page_->waiter_mask.fetch_or(counter_ended, std::memory_order_seq_cst); // pairs with the load in has_ended()
    // The current holder of the lock may not have seen the mark: waits for its end. Later holders see it.
    if (is_locked_)
        const ProcessLock guard(page_->lock, self_);
    waker_.wake_all(*page_);
}

/// Sets the page to @p memory.
void SoftCounter::use_page(std::shared_ptr<SealedPage> memory) noexcept
{
    page_ = std::shared_ptr<CounterPage>(memory, static_cast<CounterPage *>(memory->start()));
    memory_ = std::move(memory);
}

doca_error_t SoftCounter::create(const CounterSetup &setup)
{
    const MemoryRange range = {reinterpret_cast<std::byte *>(setup.word), sizeof(*setup.word)};
    doca_error_t status = setup.word != nullptr ? check_accessible(range, true) : DOCA_SUCCESS;
    if (status != DOCA_SUCCESS)
        return status == DOCA_ERROR_INVALID_VALUE ? DOCA_ERROR_NOT_SUPPORTED : status;
    std::shared_ptr<SealedPage> memory;
    // Users of a counter with a lock wait for each other, so others must be able to find out whether the holder lives.
    const auto writers = setup.word != nullptr ? SealedPage::Writers::all_named : SealedPage::Writers::all;
    status = ProcessId::find_out(self_);
    if (status == DOCA_SUCCESS)
        status = SealedPage::create(counter_page_name, sizeof(CounterPage), writers, memory);
    if (status != DOCA_SUCCESS)
        return status;
    // Descriptors for wake-ups, so that an update can open a waiter's pipe when the process has none left.
    DescriptorReserve::fill();
    use_page(std::move(memory));
    CounterPage &page = *page_; // all zero: valid atomics and free entries
    std::memcpy(page.magic, counter_magic, sizeof(counter_magic));
    page.version = counter_version;
    page.size = sizeof(page);
    page.word_addr = reinterpret_cast<std::uintptr_t>(setup.word);
    page.has_remote_publisher = setup.has_remote_publisher;
    is_locked_ = setup.word != nullptr;
    word_ = setup.word != nullptr ? setup.word : &page.word;
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::export_to_dpu(Device &device, std::vector<std::byte> &descriptor)
{
    const DeviceFunction &function = device.function();
    if (function.provider != "soft" || process_ != nullptr) {
        LOG_ERR("device %s cannot export this sync event", function.name.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    CounterDescriptor d{};
    const auto publish = [&](const Exporter::Memory &memory, ExportDescriptor &part) {
        std::unique_ptr<Exporter::Export> published;
        const doca_error_t status = Exporter::publish(memory, published);
        if (status == DOCA_SUCCESS) {
            part = published->descriptor();
            exports_.push_back(std::move(published));
        }
        return status;
    };
    doca_error_t status = publish({{static_cast<std::byte *>(memory_->start()), memory_->size()},
                                   all_rights,
                                   EntryKind::counter,
                                   function,
                                   memory_.get()},
                                  d.page);
    if (status == DOCA_SUCCESS && is_locked_)
        status = publish(
            {{reinterpret_cast<std::byte *>(word_), sizeof(*word_)}, all_rights, EntryKind::counter_word, function},
            d.word);
    if (status == DOCA_SUCCESS)
        descriptor = to_bytes(DescriptorKind::soft_counter, d);
    return status;
}

doca_error_t SoftCounter::import(std::span<const std::byte> descriptor, const DeviceFunction &importer)
{
    CounterDescriptor d{};
    if (const auto fault = from_bytes(descriptor, DescriptorKind::soft_counter, d);
        fault != DescriptorReader::Fault::none) {
        LOG_ERR("these %zu bytes are no export descriptor of a sync event of the software device: %s",
                descriptor.size(), to_text(fault));
        return DOCA_ERROR_INVALID_VALUE;
    }
    std::unique_ptr<RemoteMemory> &memory = imported_page_;
    doca_error_t status = ProcessId::find_out(self_);
    if (status == DOCA_SUCCESS)
        status = RemoteMemory::import(d.page, EntryKind::counter, importer, memory);
    if (status != DOCA_SUCCESS)
        return status;
    if (memory->page()->size() != sizeof(CounterPage) ||
        !is_page(*static_cast<const CounterPage *>(memory->page()->start()))) {
        LOG_ERR("what process %d holds there is no sync event of this version", memory->process()->pid());
        return DOCA_ERROR_INVALID_VALUE;
    }
    process_ = memory->process();
    use_page(memory->page());
    status = open_word(d.word, importer);
    return status == DOCA_SUCCESS ? register_as_importer() : status;
}

/// Finds the counter of an imported event, in the page or in the owner's memory.
doca_error_t SoftCounter::open_word(const ExportDescriptor &descriptor, const DeviceFunction &importer)
{
    const std::uint64_t word_addr = page_->word_addr; // read once: each process with the page can change it
    if (word_addr == 0) {
        word_ = &page_->word;
        return DOCA_SUCCESS;
    }
    is_locked_ = true;
    const doca_error_t status = RemoteMemory::import(descriptor, EntryKind::counter_word, importer, imported_word_);
    if (status != DOCA_SUCCESS)
        return status;
    const RemoteMemory &memory = *imported_word_;
    const auto addr = reinterpret_cast<std::uintptr_t>(memory.range().addr);
    if (memory.process() != process_ || addr != word_addr || memory.range().len != sizeof(*word_) ||
        addr % sizeof(*word_) != 0) {
        LOG_ERR("the export descriptor is put together from those of different sync events");
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Otherwise word_ stays null: read_word() and write_word() go through the kernel.
    if (memory.reach() == RemoteMemory::Reach::mapped)
        word_ = reinterpret_cast<std::uint64_t *>(memory.here(memory.range().addr));
    return DOCA_SUCCESS;
}

/// Takes an entry for this handle, by which the owner's waits find out that its process lives.
doca_error_t SoftCounter::register_as_importer()
{
    entry_ = take_entry(page_->importers);
    if (entry_ == nullptr) {
        LOG_ERR("the sync event has %" PRIu32 " imported handles, which is the limit", max_importers);
        return DOCA_ERROR_NO_MEMORY;
    }
    raise_to(page_->num_importers, static_cast<std::uint32_t>(entry_ - page_->importers) + 1);
    // Woken waiters find the new entry, watch this process, and arm again.
    if (has_remote_publisher())
        waker_.wake_all(*page_);
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::explain_loss() const noexcept
{
    if (process_ == nullptr)
        LOG_ERR("the process that was to update the sync event has ended");
    else if (process_->is_gone())
        LOG_ERR("process %d, which holds the sync event, has ended", process_->pid());
    else
        LOG_ERR("process %d has destroyed the sync event", process_->pid());
    return DOCA_ERROR_CONNECTION_RESET;
}

void SoftCounter::log_wait(const WaitCondition &condition) noexcept
{
    std::uint64_t value = 0;
    if (is_wait_logged_.exchange(true, std::memory_order_relaxed) || confirm(value) != DOCA_SUCCESS)
        return;
    const bool has_no_publisher = awaits_importers() && page_->num_importers.load(std::memory_order_relaxed) == 0;
    // The relation is found from the range: see WaitCondition::equal(), not_equal() and greater().
    const bool is_equal = condition.count == 1;
    const bool is_not_equal = condition.count == UINT64_MAX && condition.first != 1;
    LOG_INFO("waiting for a sync event of process %d %s %" PRIu64 " (mask 0x%" PRIx64 "); it is %" PRIu64 "%s",
             process_ == nullptr ? self_.pid() : process_->pid(),
             is_equal ? "to be" : (is_not_equal ? "not to be" : "to exceed"),
             is_equal ? condition.first : condition.first - 1, condition.mask, value,
             has_no_publisher ? ", and no process of the DPU has imported it yet" : "");
}

/// Loads the counter, through the kernel if it is not mapped here. The caller holds the lock, or checks the result.
doca_error_t SoftCounter::read_word(std::uint64_t &value) const noexcept
{
    if (word_ == nullptr)
        return read_process(*process_, reinterpret_cast<std::byte *>(&value), imported_word_->range().addr,
                            sizeof(value));
    value = word().load(std::memory_order_seq_cst);
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::write_word(std::uint64_t value) const noexcept
{
    if (word_ == nullptr)
        return write_process(*process_, imported_word_->range().addr, reinterpret_cast<std::byte *>(&value),
                             sizeof(value));
    word().store(value, std::memory_order_seq_cst);
    return DOCA_SUCCESS;
}

/// Replaces the value by @p change of it, under the lock, and wakes waiters. Sets @p before to the old value. If the
/// word is mapped here, the exchange is atomic with operations that the program makes on its word without the lock.
template <typename Change>
doca_error_t SoftCounter::change_locked(std::uint64_t &before, Change change) noexcept
{
    std::uint64_t after = 0;
    {
        const ProcessLock guard(page_->lock, self_);
        // Checked under the lock: the owner marks the end, then takes the lock, so no process accesses its memory
        // later.
        if (!is_holder_alive())
            return explain_loss();
        if (word_ != nullptr) {
            before = word().load(std::memory_order_relaxed);
            do
                after = change(before);
            while (!word().compare_exchange_weak(before, after, std::memory_order_seq_cst));
        } else {
            if (const doca_error_t status = read_word(before); status != DOCA_SUCCESS)
                return status;
            after = change(before);
            if (const doca_error_t status = write_word(after); status != DOCA_SUCCESS)
                return status;
        }
    }
    // Without the lock, as a wake-up makes system calls.
    wake_waiters(after);
    return DOCA_SUCCESS;
}

// Functions of their own, so that the paths without a lock save no registers for them.

doca_error_t SoftCounter::get_locked(std::uint64_t &value) const noexcept
{
    const ProcessLock guard(page_->lock, self_);
    return is_holder_alive() ? read_word(value) : explain_loss();
}

doca_error_t SoftCounter::set_locked(std::uint64_t value) noexcept
{
    std::uint64_t before = 0;
    return change_locked(before, [value](std::uint64_t) { return value; });
}

doca_error_t SoftCounter::add_locked(std::uint64_t value, std::uint64_t &fetched) noexcept
{
    std::uint64_t before = 0;
    const doca_error_t status = change_locked(before, [value](std::uint64_t old) { return old + value; });
    if (status == DOCA_SUCCESS)
        fetched = before;
    return status;
}

doca_error_t SoftCounter::get(std::uint64_t &value) noexcept
{
    if (is_locked_) [[unlikely]]
        return get_locked(value);
    if (!is_holder_alive()) [[unlikely]]
        return explain_loss();
    value = word().load(std::memory_order_seq_cst);
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::set(std::uint64_t value) noexcept
{
    if (is_locked_) [[unlikely]]
        return set_locked(value);
    if (!is_holder_alive()) [[unlikely]]
        return explain_loss();
    prefetch_waiter();
    word().store(value, std::memory_order_seq_cst);
    wake_waiters(value);
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::add(std::uint64_t value, std::uint64_t &fetched) noexcept
{
    if (is_locked_) [[unlikely]]
        return add_locked(value, fetched);
    if (!is_holder_alive()) [[unlikely]]
        return explain_loss();
    prefetch_waiter();
    const std::uint64_t before = word().fetch_add(value, std::memory_order_seq_cst);
    wake_waiters(before + value);
    fetched = before;
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::peek_locked(std::uint64_t &value) noexcept
{
    // An imported handle in the owner's own process: the word is plain memory that the program may free together with
    // the event, so it must not be loaded without the lock.
    if (process_ != nullptr && process_->is_self())
        return confirm_locked(value);
    return read_word(value);
}

/// Not is_holder_alive(): memory that is still mapped here after the end of its owner's process holds the last value,
/// and a target that was reached before counts.
doca_error_t SoftCounter::confirm_locked(std::uint64_t &value) noexcept
{
    const ProcessLock guard(page_->lock, self_);
    return process_ != nullptr && has_ended() ? explain_loss() : read_word(value);
}

/// Sets @p is_met to whether the counter meets @p condition now. A positive result is confirmed under the lock.
doca_error_t SoftCounter::check_condition(const WaitCondition &condition, bool &is_met) noexcept
{
    std::uint64_t value = 0;
    doca_error_t status = peek(value);
    if (is_locked_ && status == DOCA_SUCCESS && condition.is_met_by(value))
        status = confirm(value);
    is_met = status == DOCA_SUCCESS && condition.is_met_by(value);
    return status;
}

/// Loads the counter before it checks the processes: a target that was reached before the other side ended counts.
doca_error_t SoftCounter::wait(const WaitCondition &condition, WhileWaiting how) noexcept
{
    std::optional<Importers> importers; // large and rarely needed: constructed on first use
    WaitNotice notice;
    const std::uint32_t rounds_of_calls =
        how == WhileWaiting::spin ? rounds_of_calls_spinning : rounds_of_calls_yielding;
    for (std::uint32_t round = 1;; ++round) {
        bool is_met = false;
        if (const doca_error_t status = check_condition(condition, is_met); status != DOCA_SUCCESS)
            return status;
        if (is_met)
            return DOCA_SUCCESS;
        if (round % rounds_between_exit_checks == 0) [[unlikely]] {
            if (round % rounds_of_calls == 0) {
                if (awaits_importers()) {
                    if (!importers)
                        importers.emplace(*page_);
                    importers->refresh(true);
                }
                if (notice.is_due())
                    log_wait(condition);
            }
            if (has_lost_publishers(importers ? &*importers : nullptr)) {
                // The target may have been reached between the last check and the end.
                const doca_error_t status = check_condition(condition, is_met);
                return status == DOCA_SUCCESS && !is_met ? explain_loss() : status;
            }
        }
        if (how == WhileWaiting::spin || round <= rounds_before_yield)
            pause();
        else
            sched_yield();
    }
}

doca_error_t SoftCounter::create_waits(CompletionQueue &completions, std::unique_ptr<CounterWaits> &waits)
{
    auto created = std::make_unique<SoftCounterWaits>(*this, completions);
    const doca_error_t status = created->open();
    if (status == DOCA_SUCCESS)
        waits = std::move(created);
    return status;
}

} // namespace opendoca::soft
