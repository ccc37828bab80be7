// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Slabs: sealed memfds that are divided into slots of equal size, so that objects that many connections have one of
// need no descriptor and no mapping each. A slot is memory that takes pages only where it is used.
//
// There are two kinds. Only its owner can write to a private slab (SealedPage::Writers::owner), and every process that
// connects to the owner maps it. A shared slab is for one peer process, which writes to it as well: it never holds a
// slot that another process uses, so what the peer writes there affects only the connections with that peer.
//
// A slot of a shared slab is reused only when both sides are through with it. Its user word shows that: 0 while the
// slot is free, the tag of the owner's object from then on, the complement of the tag while the peer uses the slot, and
// 0 once the peer is through. The peer can write anything to the word: that lets the owner reuse a slot early, which
// can only harm connections with the same peer, or never, until the slab is released.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sealed_page.hpp"

namespace opendoca::soft {

class ExporterProcess;

/// The beginning of a slab, written by its owner only before others know of the slab. In a shared slab, the user words
/// of all slots follow.
struct SlabHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t number; ///< distinguishes the slab from all others that its process has ever created
    std::uint32_t num_slots;
    std::uint32_t reserved;
    std::uint64_t slot_size; ///< bytes
};

/// Of the layout, and of what this version of the library stores in slots. Processes with different ones don't connect.
inline constexpr std::uint32_t slab_version = 1;
inline constexpr char slab_magic[8] = {'O', 'P', 'E', 'N', 'S', 'L', 'A', 'B'};
inline constexpr std::uint32_t most_slots = 4095; ///< of one slab
inline constexpr std::size_t largest_slab = std::size_t{1} << 30;

/// The kind of a slab, and where its slots are. Computed from the two numbers alone, so that both sides agree.
struct SlabLayout {
    SealedPage::Writers writers;
    std::uint32_t num_slots;
    std::size_t slot_size;

    [[nodiscard]] constexpr bool is_shared() const noexcept { return writers != SealedPage::Writers::owner; }
    [[nodiscard]] constexpr std::size_t first_slot() const noexcept
    {
        // Shared slots begin on a page: the memory of one that is free is returned to the system.
        constexpr std::size_t page = 4096;
        const std::size_t words = sizeof(SlabHeader) + num_slots * sizeof(std::uint64_t);
        return is_shared() ? (words + page - 1) / page * page : slot_size;
    }
    /// The place of slot @p index, from the start of the slab on.
    [[nodiscard]] constexpr std::size_t offset(std::uint32_t index) const noexcept
    {
        return first_slot() + index * slot_size;
    }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return offset(num_slots); }
    [[nodiscard]] std::byte *slot(void *start, std::uint32_t index) const noexcept
    {
        return static_cast<std::byte *>(start) + offset(index);
    }
    /// The user word of slot @p index. Only of a shared slab.
    [[nodiscard]] std::atomic<std::uint64_t> &user(void *start, std::uint32_t index) const noexcept
    {
        return reinterpret_cast<std::atomic<std::uint64_t> *>(static_cast<SlabHeader *>(start) + 1)[index];
    }
};

class Slab;

/// A slot of a slab of type @p SlabOfSide: the part that both sides have. Movable; an assignment swaps, so that the
/// slot that was assigned to ends with the other object.
template <typename SlabOfSide>
class SlotOfSide {
public:
    SlotOfSide() noexcept = default;
    SlotOfSide(SlotOfSide &&other) noexcept : slab_(std::move(other.slab_)), index_(other.index_), tag_(other.tag_) {}
    SlotOfSide &operator=(SlotOfSide &&other) noexcept
    {
        std::swap(slab_, other.slab_);
        std::swap(index_, other.index_);
        std::swap(tag_, other.tag_);
        return *this;
    }

protected:
    ~SlotOfSide() = default;

    std::shared_ptr<SlabOfSide> slab_; ///< null if there is no slot
    std::uint32_t index_ = 0;
    std::uint64_t tag_ = 0; ///< 0 if private
};

/// A slot that this process owns, of one of its slabs. Movable; gives the slot back when it is destroyed. A forked
/// child gives back nothing.
class OwnSlot : private SlotOfSide<Slab> {
public:
    OwnSlot() noexcept = default;
    OwnSlot(OwnSlot &&) noexcept = default;
    OwnSlot &operator=(OwnSlot &&) noexcept = default;
    ~OwnSlot();

    /// Takes a slot of @p size bytes that only this process writes to. It is not cleared: another object may have had
    /// it. NO_MEMORY and others of SealedPage::create().
    [[nodiscard]] static doca_error_t take_private(std::size_t size, OwnSlot &slot);
    /// Takes a slot of @p size bytes, all zero, that @p peer writes to as well, for the object that both sides know by
    /// this @p tag, which is neither 0 nor UINT64_MAX.
    [[nodiscard]] static doca_error_t take_shared(const std::shared_ptr<ExporterProcess> &peer, std::size_t size,
                                                  std::uint64_t tag, OwnSlot &slot);

    [[nodiscard]] bool is_taken() const noexcept { return slab_ != nullptr; }
    /// Returns false in a forked child, which has a copy of its parent's slot.
    [[nodiscard]] bool is_of_this_process() const noexcept;
    [[nodiscard]] std::byte *start() const noexcept;
    // By these the peer finds the slot.
    [[nodiscard]] std::int32_t fd() const noexcept;
    [[nodiscard]] std::uint32_t slab_number() const noexcept;
    [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
};

class PeerSlab;

/// A slot of another process's slab, or of this process's own, as its peer. Movable. Its memory stays mapped after the
/// owner has ended. When it is destroyed, the owner may reuse a shared slot; a forked child reports nothing.
class PeerSlot : private SlotOfSide<PeerSlab> {
public:
    PeerSlot() noexcept = default;
    PeerSlot(PeerSlot &&) noexcept = default;
    PeerSlot &operator=(PeerSlot &&) noexcept = default;
    ~PeerSlot();

    /// How a peer names a slot. Untrusted.
    struct Name {
        std::int32_t fd; ///< of the slab, in the owner's process
        std::uint32_t slab_number;
        std::uint32_t index;
        std::size_t size; ///< bytes of the slot that are needed
    };
    /// Opens slot @p name of @p owner. INVALID_VALUE: there is no such slab or slot, or, of a shared one, its owner has
    /// given it back or has not taken it for the object with this @p tag. NOT_PERMITTED, NO_MEMORY.
    [[nodiscard]] static doca_error_t open_private(const std::shared_ptr<ExporterProcess> &owner, const Name &name,
                                                   PeerSlot &slot);
    [[nodiscard]] static doca_error_t open_shared(const std::shared_ptr<ExporterProcess> &owner, const Name &name,
                                                  std::uint64_t tag, PeerSlot &slot);

    [[nodiscard]] bool is_open() const noexcept { return slab_ != nullptr; }
    [[nodiscard]] std::byte *start() const noexcept;
};

} // namespace opendoca::soft
