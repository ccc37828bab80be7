// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "slab.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <tuple>

#include <sys/mman.h>
#include <unistd.h>

#include "../../../log/log.hpp"
#include "../../../process/fork.hpp"
#include "../../../process/registry.hpp"
#include "../memory/importer.hpp"
#include "read_once.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_SLAB);

namespace opendoca::soft {

/// One slab of this process. Owned by its slots that are taken. Invariant: each slot is taken, in free_, in pending_ or
/// not used yet; or lost, if its memory could not be cleared. All changes are made under the lock of the Slabs.
class Slab {
public:
    /// Creates a slab; @p peer is null if it is private.
    [[nodiscard]] static doca_error_t create(const SlabLayout &layout, const std::shared_ptr<ExporterProcess> &peer,
                                             std::shared_ptr<Slab> &slab);
    Slab(const Slab &) = delete;
    Slab &operator=(const Slab &) = delete;

    /// Takes a slot. Returns false if there is none.
    [[nodiscard]] bool take(std::uint32_t &index) noexcept;
    /// Gives slot @p index back. A shared one is reused when the peer is through with it.
    void give_back(std::uint32_t index, std::uint64_t tag) noexcept;

    [[nodiscard]] const SlabLayout &layout() const noexcept { return layout_; }
    [[nodiscard]] void *start() const noexcept { return memory_->start(); }
    [[nodiscard]] int fd() const noexcept { return memory_->fd(); }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] std::byte *slot(std::uint32_t index) const noexcept { return layout_.slot(start(), index); }
    [[nodiscard]] std::atomic<std::uint64_t> &user(std::uint32_t index) const noexcept
    {
        return layout_.user(start(), index);
    }
    [[nodiscard]] bool is_of_this_process() const noexcept { return creator_.is_current(); }

private:
    Slab() = default;

    /// Private slots that have been given back before one of them is taken again. The peer of a connection that has
    /// just ended may still read its slot: it finds what was left there, and not what the next connection stores.
    static constexpr std::size_t resting_slots = 64;

    [[nodiscard]] bool is_any_unused() const noexcept { return num_used_ != layout_.num_slots; }
    void recycle(std::uint32_t index) noexcept;
    void recycle_pending() noexcept;

    // Not read from the header, to which a peer can write.
    SlabLayout layout_{};
    std::uint32_t number_ = 0;
    std::shared_ptr<SealedPage> memory_;
    std::shared_ptr<ExporterProcess> peer_; ///< null if private. Held so that no other process gets its address
    std::uint32_t num_used_ = 0;            ///< slots from this index on were never taken
    std::size_t first_free_ = 0;            ///< index in free_: those before were taken again
    std::vector<std::uint32_t> free_;       ///< in the order in which they were given back
    std::vector<std::uint32_t> pending_;    ///< given back, but the peer is not through with them
    std::size_t next_pending_ = 0;          ///< index in pending_ of the last one that was examined
    CreatorProcess creator_;
};

namespace {

/// All slabs of this process, found by the process that shares them and the size of their slots.
class Slabs {
public:
    /// Of private slabs, the first member is null. The last one is this process: a forked child makes its own.
    using Key = std::tuple<const ExporterProcess *, std::size_t, pid_t>;

    [[nodiscard]] static Slabs &instance() noexcept { return instance_; }

    ForkSafeMutex lock; ///< the caller holds it, also over all functions of a Slab

    /// Takes slot @p index of @p slab: one of the slabs of @p key, or a new one.
    [[nodiscard]] doca_error_t take(const Key &key, const std::shared_ptr<ExporterProcess> &peer,
                                    std::shared_ptr<Slab> &slab, std::uint32_t &index);

private:
    void forget_released();

    static Slabs &instance_;

    std::map<Key, std::vector<std::weak_ptr<Slab>>> slabs_;
    const ForkRegistration fork_registration_{lock, LockRank::exporters};
};

Slabs &Slabs::instance_ = *new Slabs;

/// Removes what belonged to slabs that were released.
void Slabs::forget_released()
{
    for (auto each = slabs_.begin(); each != slabs_.end();) {
        std::erase_if(each->second, [](const auto &slab) { return slab.expired(); });
        each = each->second.empty() ? slabs_.erase(each) : std::next(each);
    }
}

doca_error_t Slabs::take(const Key &key, const std::shared_ptr<ExporterProcess> &peer, std::shared_ptr<Slab> &slab,
                         std::uint32_t &index)
{
    const auto size = std::get<std::size_t>(key); // of a slot
    std::uint32_t num_slots = 0;                  // of all slabs of the key
    if (const auto known = slabs_.find(key); known != slabs_.end()) {
        // From the newest on, which has the most slots.
        for (auto each = known->second.rbegin(); each != known->second.rend(); ++each) {
            slab = each->lock();
            if (slab == nullptr)
                continue;
            if (slab->take(index))
                return DOCA_SUCCESS;
            num_slots += slab->layout().num_slots;
        }
    }
    slab.reset();
    forget_released();
    // Shared slabs double what there is, so that a few connections reserve few addresses and many need few descriptors.
    constexpr std::uint32_t most_shared = 1024;
    // The first is small in bytes as well: a process whose memory is locked (mlockall) takes all of it at once.
    constexpr std::size_t first_slab = std::size_t{16} << 20;
    const auto least = static_cast<std::uint32_t>(std::clamp<std::size_t>(first_slab / size, 1, 16));
    const std::uint32_t wanted =
        peer == nullptr ? most_slots
                        : std::min(std::clamp(num_slots, least, most_shared),
                                   static_cast<std::uint32_t>(std::max<std::size_t>(largest_slab / size, 1)));
    SlabLayout layout = {peer == nullptr ? SealedPage::Writers::owner : SealedPage::Writers::all, wanted, size};
    doca_error_t status = Slab::create(layout, peer, slab);
    if (status != DOCA_SUCCESS && peer != nullptr && wanted != 1) {
        layout.num_slots = 1; // within a limit of the size of files or of addresses
        status = Slab::create(layout, peer, slab);
    }
    if (status != DOCA_SUCCESS)
        return status;
    slabs_[key].push_back(slab);
    return slab->take(index) ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED;
}

} // namespace

doca_error_t Slab::create(const SlabLayout &layout, const std::shared_ptr<ExporterProcess> &peer,
                          std::shared_ptr<Slab> &slab)
{
    // Counts from 1. Relaxed: only the number has to be unique.
    static std::atomic<std::uint32_t> num_created{0};
    const std::shared_ptr<Slab> created(new Slab);
    created->layout_ = layout;
    created->peer_ = peer;
    // give_back() does not allocate.
    created->free_.reserve(2 * std::size_t{layout.num_slots});
    created->pending_.reserve(layout.num_slots);
    const char *const name = layout.is_shared() ? "opendoca-messages" : "opendoca-connections";
    const doca_error_t status = SealedPage::create(name, layout.size(), layout.writers, created->memory_);
    if (status != DOCA_SUCCESS)
        return status;
    created->memory_->use_small_pages();
    auto &header = *static_cast<SlabHeader *>(created->start());
    std::memcpy(header.magic, slab_magic, sizeof(slab_magic));
    header.version = slab_version;
    header.number = created->number_ = num_created.fetch_add(1, std::memory_order_relaxed) + 1;
    header.num_slots = layout.num_slots;
    header.slot_size = layout.slot_size;
    slab = created;
    return DOCA_SUCCESS;
}

bool Slab::take(std::uint32_t &index) noexcept
{
    if (free_.size() == first_free_)
        recycle_pending();
    const std::size_t num_free = free_.size() - first_free_;
    const std::size_t num_resting = layout_.is_shared() ? 0 : resting_slots;
    if (num_free > num_resting) {
        index = free_[first_free_++];
        if (2 * first_free_ >= free_.size()) { // moves each element at most once for each that was taken
            free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(first_free_));
            first_free_ = 0;
        }
        return true;
    }
    if (!is_any_unused())
        return false;
    index = num_used_++;
    return true;
}

void Slab::give_back(std::uint32_t index, std::uint64_t tag) noexcept
{
    if (!layout_.is_shared())
        return free_.push_back(index);
    // Acquire: pairs with the release in ~PeerSlot(), so that the peer's accesses come before those of the next object.
    // If the peer has not opened the slot, it cannot do so any more.
    std::uint64_t seen = tag;
    if (user(index).compare_exchange_strong(seen, 0, std::memory_order_acq_rel) || seen == 0)
        recycle(index);
    else
        pending_.push_back(index);
}

/// Looks at a few of the pending slots, so that taking a slot costs the same however many there are.
void Slab::recycle_pending() noexcept
{
    constexpr std::size_t most_examined = 16;
    for (std::size_t left = std::min(pending_.size(), most_examined); left != 0; --left) {
        next_pending_ = next_pending_ + 1 < pending_.size() ? next_pending_ + 1 : 0;
        const std::uint32_t index = pending_[next_pending_];
        if (user(index).load(std::memory_order_acquire) != 0) // as in give_back()
            continue;
        pending_[next_pending_] = pending_.back();
        pending_.pop_back();
        recycle(index);
    }
}

/// Clears a slot that nobody uses and returns its memory to the system, by its address: the program may have closed the
/// descriptor, and a file of its own may have that number. If that fails, the slot is not used again.
void Slab::recycle(std::uint32_t index) noexcept
{
    int error = 0;
    for (int i = 0; i != 100; ++i) {
        error = madvise(slot(index), layout_.slot_size, MADV_REMOVE) == 0 ? 0 : errno;
        if (error != EINTR)
            break;
    }
    if (error == EINVAL) { // locked by mlockall(), or the pages of this machine are larger
        std::memset(slot(index), 0, layout_.slot_size);
        error = 0;
    }
    if (error == 0)
        return free_.push_back(index);
    LOG_WARN("clearing %zu bytes of a memfd: %s; they stay unused", layout_.slot_size, std::strerror(error));
}

bool OwnSlot::is_of_this_process() const noexcept
{
    return slab_->is_of_this_process();
}

OwnSlot::~OwnSlot()
{
    if (slab_ == nullptr || !is_of_this_process())
        return;
    const std::lock_guard guard(Slabs::instance().lock);
    slab_->give_back(index_, tag_);
}

std::byte *OwnSlot::start() const noexcept
{
    return slab_->slot(index_);
}

std::int32_t OwnSlot::fd() const noexcept
{
    return slab_->fd();
}

std::uint32_t OwnSlot::slab_number() const noexcept
{
    return slab_->number();
}

doca_error_t OwnSlot::take_private(std::size_t size, OwnSlot &slot)
{
    Slabs &slabs = Slabs::instance();
    OwnSlot taken;
    {
        const std::lock_guard guard(slabs.lock);
        std::shared_ptr<Slab> slab;
        if (const doca_error_t status = slabs.take({nullptr, size, getpid()}, nullptr, slab, taken.index_);
            status != DOCA_SUCCESS)
            return status;
        taken.slab_ = std::move(slab);
    }
    slot = std::move(taken);
    return DOCA_SUCCESS;
}

doca_error_t OwnSlot::take_shared(const std::shared_ptr<ExporterProcess> &peer, std::size_t size, std::uint64_t tag,
                                  OwnSlot &slot)
{
    Slabs &slabs = Slabs::instance();
    OwnSlot taken;
    {
        const std::lock_guard guard(slabs.lock);
        std::shared_ptr<Slab> slab;
        if (const doca_error_t status = slabs.take({peer.get(), size, getpid()}, peer, slab, taken.index_);
            status != DOCA_SUCCESS)
            return status;
        taken.slab_ = std::move(slab);
        taken.tag_ = tag;
        // Release: pairs with the exchange in PeerSlot::open_shared(), so that the slot was cleared before.
        taken.slab_->user(taken.index_).store(tag, std::memory_order_release);
    }
    slot = std::move(taken);
    return DOCA_SUCCESS;
}

/// A slab of a peer, mapped once in this process. Shared by its slots. Immutable, so any thread may use it.
class PeerSlab {
public:
    PeerSlab(std::shared_ptr<ExporterProcess> owner, std::uint32_t number) noexcept
        : owner_(std::move(owner)),
          number_(number)
    {
    }
    PeerSlab(const PeerSlab &) = delete;
    PeerSlab &operator=(const PeerSlab &) = delete;
    ~PeerSlab();

    /// Finds slab @p name of @p owner, or maps it.
    [[nodiscard]] static doca_error_t find(const std::shared_ptr<ExporterProcess> &owner, const PeerSlot::Name &name,
                                           SealedPage::Writers writers, std::shared_ptr<PeerSlab> &slab);

    [[nodiscard]] std::byte *slot(std::uint32_t index) const noexcept { return layout_.slot(memory_->start(), index); }
    [[nodiscard]] std::atomic<std::uint64_t> &user(std::uint32_t index) const noexcept
    {
        return layout_.user(memory_->start(), index);
    }
    [[nodiscard]] bool is_of_this_process() const noexcept { return creator_.is_current(); }

private:
    using Key = std::pair<const ExporterProcess *, std::uint32_t>;
    using PeerRegistry = Registry<Key, PeerSlab, LockRank::exporters>;

    [[nodiscard]] doca_error_t map(const PeerSlot::Name &name, SealedPage::Writers writers);

    const std::shared_ptr<ExporterProcess> owner_;
    const std::uint32_t number_;
    std::shared_ptr<SealedPage> memory_; ///< null only if find() has failed
    SlabLayout layout_{};                ///< checked; the owner can't change it any more
    CreatorProcess creator_;
};

PeerSlab::~PeerSlab()
{
    PeerRegistry::instance().remove({owner_.get(), number_});
}

doca_error_t PeerSlab::find(const std::shared_ptr<ExporterProcess> &owner, const PeerSlot::Name &name,
                            SealedPage::Writers writers, std::shared_ptr<PeerSlab> &slab)
{
    // Both are declared before the guard, so that they are destroyed after it: ~PeerSlab() takes the registry's lock.
    std::shared_ptr<PeerSlab> fresh;
    std::shared_ptr<PeerSlab> found;
    PeerRegistry &registry = PeerRegistry::instance();
    {
        const std::lock_guard guard(registry.lock);
        found = registry.find({owner.get(), name.slab_number});
        if (found == nullptr) {
            fresh = std::make_shared<PeerSlab>(owner, name.slab_number);
            if (const doca_error_t status = fresh->map(name, writers); status != DOCA_SUCCESS)
                return status;
            registry.add({owner.get(), name.slab_number}, fresh);
            found = fresh;
        }
    }
    // The number and the index come from the owner's memory or from connection details.
    if (found->layout_.writers != writers || name.index >= found->layout_.num_slots ||
        name.size > found->layout_.slot_size) {
        LOG_ERR("slab %u of process %d has no slot %u of %zu bytes of this kind", name.slab_number, owner->pid(),
                name.index, name.size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    slab = std::move(found);
    return DOCA_SUCCESS;
}

doca_error_t PeerSlab::map(const PeerSlot::Name &name, SealedPage::Writers writers)
{
    const SealedPage::Expected expected = {"slab of connections", sizeof(SlabHeader), 2 * largest_slab, writers};
    if (const doca_error_t status = SealedPage::open(owner_->pid(), name.fd, expected, memory_); status != DOCA_SUCCESS)
        return status;
    memory_->use_small_pages();
    const auto &header = *static_cast<const SlabHeader *>(memory_->start());
    const std::uint64_t size = read_once(header.slot_size);
    layout_ = {writers, read_once(header.num_slots), size};
    if (std::memcmp(header.magic, slab_magic, sizeof(slab_magic)) != 0 || header.version != slab_version) {
        LOG_ERR("descriptor %d of process %d is no slab of this version of opendoca", name.fd, owner_->pid());
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (read_once(header.number) != number_ || layout_.num_slots == 0 || layout_.num_slots > most_slots ||
        size < sizeof(SlabHeader) || size > largest_slab || size % 64 != 0 || layout_.size() != memory_->size()) {
        LOG_ERR("descriptor %d of process %d is not its slab %u", name.fd, owner_->pid(), number_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

PeerSlot::~PeerSlot()
{
    if (slab_ == nullptr || tag_ == 0 || !slab_->is_of_this_process())
        return;
    // Release: pairs with the loads in Slab::give_back() and recycle_pending(). Nothing is stored if the owner has
    // written something else.
    std::uint64_t used = ~tag_;
    slab_->user(index_).compare_exchange_strong(used, 0, std::memory_order_release, std::memory_order_relaxed);
}

std::byte *PeerSlot::start() const noexcept
{
    return slab_->slot(index_);
}

doca_error_t PeerSlot::open_private(const std::shared_ptr<ExporterProcess> &owner, const Name &name, PeerSlot &slot)
{
    PeerSlot opened;
    const doca_error_t status = PeerSlab::find(owner, name, SealedPage::Writers::owner, opened.slab_);
    if (status != DOCA_SUCCESS)
        return status;
    opened.index_ = name.index;
    slot = std::move(opened);
    return DOCA_SUCCESS;
}

doca_error_t PeerSlot::open_shared(const std::shared_ptr<ExporterProcess> &owner, const Name &name, std::uint64_t tag,
                                   PeerSlot &slot)
{
    PeerSlot opened;
    const doca_error_t status = PeerSlab::find(owner, name, SealedPage::Writers::all, opened.slab_);
    if (status != DOCA_SUCCESS)
        return status;
    opened.index_ = name.index;
    // Acquire: pairs with the store in OwnSlot::take_shared(). Also pairs with the exchange in Slab::give_back():
    // either it fails, or this one.
    std::uint64_t taken = tag;
    if (!opened.slab_->user(name.index).compare_exchange_strong(taken, ~tag, std::memory_order_acq_rel))
        return DOCA_ERROR_INVALID_VALUE; // the owner has ended the connection
    opened.tag_ = tag;
    slot = std::move(opened);
    return DOCA_SUCCESS;
}

} // namespace opendoca::soft
