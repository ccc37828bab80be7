// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How a counter comes to be, is passed on, and ends.
#include <cinttypes>
#include <cstring>
#include <map>
#include <mutex>

#include "../../own_memory.hpp"
#include "counter.hpp"
#include "../process/directory.hpp"
#include "../process/sealed_page.hpp"

#include "../../../log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_COUNTER_SETUP);

namespace opendoca::soft {

namespace {

/// The pages that this process holds, by address: an event may be imported where it was exported, and each of
/// the two handles may be the first to go.
class OwnPages {
public:
    static std::shared_ptr<CounterPage> add(Mapping mapping)
    {
        const auto [lock, pages] = instance();
        auto *const page = static_cast<CounterPage *>(mapping.get());
        const std::shared_ptr<CounterPage> shared(page, [](CounterPage *unused) {
            const auto [unused_lock, known] = instance();
            const std::lock_guard guard(unused_lock);
            known.erase(unused);
            Unmap{sizeof(CounterPage)}(unused);
        });
        (void)mapping.release();
        const std::lock_guard guard(lock);
        pages[page] = shared;
        return shared;
    }

    static std::shared_ptr<CounterPage> find(const void *addr)
    {
        const auto [lock, pages] = instance();
        const std::lock_guard guard(lock);
        const auto found = pages.find(addr);
        return found == pages.end() ? nullptr : found->second.lock();
    }

private:
    std::mutex lock_;
    std::map<const void *, std::weak_ptr<CounterPage>> pages_;

    struct Parts {
        std::mutex &lock;
        std::map<const void *, std::weak_ptr<CounterPage>> &pages;
    };
    /// Never destroyed: events may outlive what is destroyed at the end of the program.
    static Parts instance()
    {
        static auto *const pages = new OwnPages;
        return {pages->lock_, pages->pages_};
    }
};

bool is_page(const CounterPage &page) noexcept
{
    return std::memcmp(page.magic, counter_magic, sizeof(counter_magic)) == 0 &&
           page.version == counter_version && page.size == sizeof(CounterPage);
}

constexpr std::uint32_t all_rights = DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE;

} // namespace

SoftCounter::SoftCounter() noexcept : creator_(getpid()) {}

SoftCounter::~SoftCounter()
{
    if (creator_ == getpid() && page_ != nullptr)
        end();
}

void SoftCounter::end() noexcept
{
    if (process_ != nullptr) {
        if (place_ != nullptr)
            give_back_place(*place_);
        return;
    }
    page_->sleeping.fetch_or(counter_ended, std::memory_order_seq_cst);
    if (is_locked_)
        const RobustLock guard(page_->lock); // whoever holds it has not seen the mark
    waker_.wake_all(*page_);
}

doca_error_t SoftCounter::create(const CounterSetup &setup, std::unique_ptr<Counter> &counter)
{
    const MemoryRange range = {reinterpret_cast<std::byte *>(setup.word), sizeof(*setup.word)};
    if (setup.word != nullptr && !is_accessible(range, true))
        return DOCA_ERROR_NOT_SUPPORTED;
    std::unique_ptr<SoftCounter> created(new SoftCounter);
    Mapping mapping;
    const doca_error_t status =
        create_shared_page(counter_page_name, sizeof(CounterPage), created->fd_, mapping);
    if (status != DOCA_SUCCESS)
        return status;
    auto &page = *static_cast<CounterPage *>(mapping.get()); // all zero: valid atomics and free places
    if (!init_robust_lock(page.lock)) {
        LOG_ERR("the sync event's lock can't be made");
        return DOCA_ERROR_NO_MEMORY;
    }
    std::memcpy(page.magic, counter_magic, sizeof(counter_magic));
    page.version = counter_version;
    page.size = sizeof(page);
    page.word_addr = reinterpret_cast<std::uintptr_t>(setup.word);
    page.has_remote_publisher = setup.has_remote_publisher;
    created->page_ = OwnPages::add(std::move(mapping));
    created->is_locked_ = setup.word != nullptr;
    created->word_ = setup.word != nullptr ? setup.word : &page.word;
    counter = std::move(created);
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::export_to_dpu(const DeviceFunction &function, std::vector<std::byte> &descriptor)
{
    if (function.provider != "soft" || process_ != nullptr) {
        LOG_ERR("device %s cannot export this sync event", function.name.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    exports_.reserve(exports_.size() + 2);
    const auto publish = [&](void *addr, std::size_t size, ExportKind kind) {
        std::vector<std::byte> part;
        std::unique_ptr<Exporter::Ticket> ticket;
        const doca_error_t status = Exporter::publish(
            {{static_cast<std::byte *>(addr), size}, all_rights, kind, function}, part, ticket);
        if (status == DOCA_SUCCESS) {
            descriptor.insert(descriptor.end(), part.begin(), part.end());
            exports_.push_back(std::move(ticket));
        }
        return status;
    };
    descriptor.clear();
    doca_error_t status = publish(page_.get(), sizeof(CounterPage), ExportKind::counter);
    if (status == DOCA_SUCCESS && is_locked_)
        status = publish(word_, sizeof(*word_), ExportKind::counter_word);
    return status;
}

doca_error_t SoftCounter::import(std::span<const std::byte> descriptor, const DeviceFunction &importer,
                                 std::unique_ptr<Counter> &counter)
{
    std::unique_ptr<SoftCounter> created(new SoftCounter);
    std::unique_ptr<RemoteMemory> &memory = created->imported_page_;
    doca_error_t status = RemoteMemory::import(descriptor, importer, memory, ExportKind::counter);
    if (status != DOCA_SUCCESS)
        return status;
    std::byte *const addr = memory->here(memory->range().addr);
    if (memory->reach() != RemoteMemory::Reach::mapped || memory->range().len != sizeof(CounterPage) ||
        reinterpret_cast<std::uintptr_t>(addr) % alignof(CounterPage) != 0) {
        LOG_ERR("process %d holds no sync event of this version there", memory->process()->pid());
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (memory->process()->is_self())
        created->page_ = OwnPages::find(addr);
    else
        created->page_ =
            std::shared_ptr<CounterPage>(reinterpret_cast<CounterPage *>(addr), [](CounterPage *) {});
    if (created->page_ == nullptr || !is_page(*created->page_)) {
        LOG_ERR("what process %d holds there is no sync event of this version",
                     memory->process()->pid());
        created->page_ = nullptr;
        return DOCA_ERROR_INVALID_VALUE;
    }
    created->process_ = memory->process();
    status = created->open_word(descriptor, importer);
    if (status == DOCA_SUCCESS)
        status = created->register_as_importer();
    if (status == DOCA_SUCCESS)
        counter = std::move(created);
    return status;
}

doca_error_t SoftCounter::open_word(std::span<const std::byte> descriptor, const DeviceFunction &importer)
{
    if (page_->word_addr == 0) {
        word_ = &page_->word;
        return DOCA_SUCCESS;
    }
    is_locked_ = true;
    const doca_error_t status = RemoteMemory::import(descriptor.subspan(sizeof(ExportDescriptor)), importer,
                                                     imported_word_, ExportKind::counter_word);
    if (status != DOCA_SUCCESS)
        return status;
    const RemoteMemory &memory = *imported_word_;
    const auto addr = reinterpret_cast<std::uintptr_t>(memory.range().addr);
    if (memory.process() != process_ || addr != page_->word_addr || memory.range().len != sizeof(*word_) ||
        addr % sizeof(*word_) != 0) {
        LOG_ERR("the export descriptor is put together from those of different sync events");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (memory.reach() == RemoteMemory::Reach::mapped)
        word_ = reinterpret_cast<std::uint64_t *>(memory.here(memory.range().addr));
    return DOCA_SUCCESS;
}

doca_error_t SoftCounter::register_as_importer()
{
    place_ = take_place(std::span<ImporterPlace>(page_->importers), [](ImporterPlace &) {});
    if (place_ == nullptr) {
        LOG_ERR("the sync event has %" PRIu32 " imported handles, which is the limit", max_importers);
        return DOCA_ERROR_NO_MEMORY;
    }
    raise_to(page_->num_importers, static_cast<std::uint32_t>(place_ - page_->importers) + 1);
    // Those who sleep watch this process from now on.
    if (has_remote_publisher())
        waker_.wake_all(*page_);
    return DOCA_SUCCESS;
}

} // namespace opendoca::soft
