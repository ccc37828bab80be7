// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "doorbell.hpp"

#include <cstring>

#include "../../../log/log.hpp"
#include "../../../process/registry.hpp"
#include "../memory/importer.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_DOORBELL);

namespace opendoca::soft {

namespace {

constexpr char doorbell_magic[8] = {'O', 'P', 'E', 'N', 'B', 'E', 'L', 'L'};
constexpr std::uint32_t doorbell_version = 1;

/// All doorbell pages that this process has mapped, by owner and number.
using PeerRegistry = Registry<std::pair<const ExporterProcess *, std::uint32_t>, PeerDoorbells, LockRank::exporters>;

} // namespace

doca_error_t Doorbells::create(std::unique_ptr<Doorbells> &doorbells)
{
    // Counts from 1: a DoorbellRequest with page 0 names none. Relaxed: only the number has to be unique.
    static std::atomic<std::uint32_t> num_created{0};
    std::unique_ptr<Doorbells> created(new Doorbells);
    const doca_error_t status =
        SealedPage::create("opendoca-doorbells", sizeof(DoorbellPage), SealedPage::Writers::all, created->page_);
    if (status != DOCA_SUCCESS)
        return status;
    created->mapped_ = static_cast<DoorbellPage *>(created->page_->start());
    DoorbellPage &page = created->page(); // all zero: nothing was rung, and wake_up is not armed
    std::memcpy(page.magic, doorbell_magic, sizeof(doorbell_magic));
    page.version = doorbell_version;
    page.number = num_created.fetch_add(1, std::memory_order_relaxed) + 1;
    doorbells = std::move(created);
    return DOCA_SUCCESS;
}

PeerDoorbells::PeerDoorbells(std::shared_ptr<ExporterProcess> process, std::uint32_t number) noexcept
    : process_(std::move(process)),
      number_(number)
{
}

PeerDoorbells::~PeerDoorbells()
{
    PeerRegistry::instance().remove({process_.get(), number_});
}

doca_error_t PeerDoorbells::open(const std::shared_ptr<ExporterProcess> &process, std::int32_t fd, std::uint32_t number,
                                 std::shared_ptr<PeerDoorbells> &doorbells)
{
    // Declared before the guard, so that both are destroyed after it: ~PeerDoorbells() takes the registry's lock.
    const std::shared_ptr<PeerDoorbells> fresh(new PeerDoorbells(process, number));
    std::shared_ptr<PeerDoorbells> found;
    PeerRegistry &registry = PeerRegistry::instance();
    {
        const std::lock_guard guard(registry.lock);
        found = registry.find({process.get(), number});
        // Opened under the lock, so that two connections with the same thread cannot map its page twice.
        if (found == nullptr) {
            found = fresh;
            constexpr SealedPage::Expected expected = {"page of doorbells", sizeof(DoorbellPage), sizeof(DoorbellPage)};
            const doca_error_t status = SealedPage::open(process->pid(), fd, expected, found->page_);
            if (status != DOCA_SUCCESS)
                return status;
            const DoorbellPage &page = found->page();
            // The descriptor number was read from the peer's page and may name any file.
            if (std::memcmp(page.magic, doorbell_magic, sizeof(doorbell_magic)) != 0 ||
                page.version != doorbell_version || page.number != number) {
                LOG_ERR("the page at descriptor %d of process %d is not its page %u of doorbells", fd, process->pid(),
                        number);
                return DOCA_ERROR_INVALID_VALUE;
            }
            found->waking_.prepare(page.wake_up_state);
            registry.add({process.get(), number}, found);
        }
    }
    doorbells = std::move(found);
    return DOCA_SUCCESS;
}

/// Wakes the owner, which was armed when @p seen was loaded. Under the lock, because connections of several threads
/// share the pipe.
bool PeerDoorbells::wake(std::uint64_t seen) noexcept
{
    const std::lock_guard guard(lock_);
    return waking_.signal(page().wake_up_state, seen, DoorbellPage::any_event);
}

} // namespace opendoca::soft
