// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Creation, export, import and destruction of a counter.
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "../../host/own_memory.hpp"
#include "../process/directory.hpp"
#include "../process/reserve.hpp"
#include "counter.hpp"

#include "../../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_COUNTER_SETUP);

namespace opendoca::soft {

namespace {

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

} // namespace opendoca::soft
