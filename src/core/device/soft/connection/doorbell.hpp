// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Doorbells: how a thread finds the connections with new events among many without checking each. The thread owns a
// page with one bit for each connection (the doorbell) and two levels of summary bits above, so that one word shows
// whether any doorbell was rung. A peer stores its data, then rings. Peers map the page and may write anything to it,
// so a set bit only means that the connection must be checked, and an unused index is ignored. A peer that dies between
// its store and the ring has not rung; the end of its process makes the owner check all connections with it.
//
// Not a NIC's doorbell: a peer rings it, so that the receiving thread polls only the connections that have new events.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>

#include "../../../process/fork.hpp"
#include "../process/sealed_page.hpp"
#include "../process/wake.hpp"

namespace opendoca::soft {

class ExporterProcess;

inline constexpr std::uint32_t bits_of_word = 64;
inline constexpr std::uint32_t max_doorbells = bits_of_word * bits_of_word * bits_of_word; ///< of one thread

/// The shared memory of one thread's doorbells. Owned by Doorbells; peers map it and set bits, the owner clears them.
/// Invariant while no peer misbehaves: if the bit of a doorbell is set, the summary bits above it are set, or the peer
/// that rings has not finished yet.
struct DoorbellPage {
    char magic[8];
    std::uint32_t version;
    std::uint32_t number; ///< distinguishes the page from all others that its process has ever created
    // Each ring accesses both of these, so they share a cache line.
    alignas(64) std::atomic<std::uint64_t> root;                 ///< bit g: a bit of group g is set
    SleepState wake_up_state;                                    ///< of the owner in event-driven mode
    alignas(64) std::atomic<std::uint64_t> groups[bits_of_word]; ///< bit w of group g: a bit of word 64 g + w is set
    alignas(64) std::atomic<std::uint64_t> words[bits_of_word * bits_of_word];

    static constexpr std::uint32_t any_event = 1; ///< the only event of wake_up_state: a doorbell was rung

    /// Sets the bits of doorbell @p index from the lowest level up: a summary bit that is seen has the bits of the same
    /// ring below it, or an earlier collect() has taken them.
    void ring(std::uint32_t index) noexcept
    {
        const std::uint32_t word = index / bits_of_word, group = word / bits_of_word;
        // All sequentially consistent. If a summary bit is already set, the owner has yet to clear it, and reads the
        // level below only after that: pairs with the exchanges in Doorbells::collect().
        words[word].fetch_or(bit(index), std::memory_order_seq_cst);
        set(groups[group], bit(word));
        set(root, bit(group));
    }

private:
    [[nodiscard]] static constexpr std::uint64_t bit(std::uint32_t number) noexcept
    {
        return std::uint64_t{1} << (number % bits_of_word);
    }
    /// Sets @p bit unless it is set already: a load leaves the cache line shared while many peers ring.
    static void set(std::atomic<std::uint64_t> &word, std::uint64_t bit) noexcept
    {
        if ((word.load(std::memory_order_seq_cst) & bit) == 0)
            word.fetch_or(bit, std::memory_order_seq_cst);
    }
};

/// A request to ring, in one word: the number of the doorbell page (bits 32 to 63), the index of the doorbell (8 to
/// 31), and the mask of events to ring for (0 to 7). The owner of the doorbell stores it where the peer loads it after
/// each of its stores. One word, so that the peer never combines the index of one request with the page of another.
class DoorbellRequest {
public:
    constexpr DoorbellRequest() noexcept = default; ///< requests no ring
    constexpr explicit DoorbellRequest(std::uint64_t word) noexcept : word_(word) {}
    constexpr DoorbellRequest(std::uint32_t page, std::uint32_t index, std::uint32_t events) noexcept
        : word_(std::uint64_t{page} << 32 | index << 8 | events)
    {
    }

    [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }
    [[nodiscard]] constexpr std::uint32_t page() const noexcept { return static_cast<std::uint32_t>(word_ >> 32); }
    [[nodiscard]] constexpr std::uint32_t index() const noexcept { return word_ >> 8 & 0xffffff; }
    /// Returns whether any event of the mask @p events is requested.
    [[nodiscard]] constexpr bool requests(std::uint32_t events) const noexcept { return (word_ & events) != 0; }

private:
    std::uint64_t word_ = 0;
};

/// The doorbells of one thread and their page. Owned by the ConnectionPoller of the thread's completion queue; only
/// that thread may use it.
class Doorbells {
public:
    /// Creates the page with no doorbell rung. NO_MEMORY and others of SealedPage::create().
    [[nodiscard]] static doca_error_t create(std::unique_ptr<Doorbells> &doorbells);

    [[nodiscard]] std::uint32_t number() const noexcept { return page().number; }
    /// The descriptor number by which peers open the page.
    [[nodiscard]] std::int32_t fd() const noexcept { return page_->fd(); }

    /// Returns whether any doorbell was rung since it was last collected. One load, however many doorbells there are.
    [[nodiscard]] bool is_any_rung() const noexcept
    {
        // After SleepingSide::arm(), pairs with the store of the root in DoorbellPage::ring(), after which
        // PeerDoorbells::ring() loads `sleeping`: either this load sees the bit, or that load sees the arming.
        return page().root.load(std::memory_order_seq_cst) != 0;
    }
    /// Marks connection @p index to be checked by the next poll, for an event for which its peer does not ring.
    void ring(std::uint32_t index) noexcept { page().ring(index); }
    /// Calls @p action with the index of each doorbell that was rung, and clears it first, so that a ring during the
    /// action is not lost. The index may be any number below max_doorbells, as peers can set any bit.
    template <typename Action>
    void collect(Action action) noexcept
    {
        // From the highest level down; each word is cleared before those below it are read: see DoorbellPage::ring().
        each_bit(page().root, 0, [&](std::uint32_t group) {
            each_bit(page().groups[group], group,
                     [&](std::uint32_t word) { each_bit(page().words[word], word, action); });
        });
    }

    SleepingSide wake_up; ///< lets peers wake this thread out of epoll; open in event-driven mode only
    /// Opens wake_up. OPERATING_SYSTEM or NO_MEMORY, after a log line.
    [[nodiscard]] doca_error_t open_wake_up() noexcept { return wake_up.open(page().wake_up_state); }

private:
    Doorbells() = default;

    /// Clears @p word, word @p number of its level, and calls @p action with the number of each bit that was set.
    template <typename Action>
    static void each_bit(std::atomic<std::uint64_t> &word, std::uint32_t number, Action action) noexcept
    {
        for (std::uint64_t bits = word.exchange(0, std::memory_order_seq_cst); bits != 0; bits &= bits - 1)
            action(number * bits_of_word + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
    [[nodiscard]] DoorbellPage &page() const noexcept { return *mapped_; }

    std::shared_ptr<SealedPage> page_;
    DoorbellPage *mapped_ = nullptr; ///< the memory of page_
};

/// The doorbells of a peer's thread, mapped into this process, and shared by all connections with that thread.
/// Thread-safe.
class PeerDoorbells {
public:
    /// Opens page @p number of @p process, at its descriptor @p fd. INVALID_VALUE, NOT_PERMITTED, NO_MEMORY.
    [[nodiscard]] static doca_error_t open(const std::shared_ptr<ExporterProcess> &process, std::int32_t fd,
                                           std::uint32_t number, std::shared_ptr<PeerDoorbells> &doorbells);
    PeerDoorbells(const PeerDoorbells &) = delete;
    PeerDoorbells &operator=(const PeerDoorbells &) = delete;
    ~PeerDoorbells();

    /// Returns the page's number, by which a DoorbellRequest names it.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

    /// Rings doorbell @p index after the data was stored, and wakes the thread if it is blocked. Returns false if the
    /// thread stays blocked because descriptors or memory have run out: a retry may succeed.
    [[nodiscard]] bool ring(std::uint32_t index) noexcept
    {
        // The index comes from the peer's page: out of range, it rings some doorbell of the same peer.
        page().ring(index % max_doorbells);
        // Pairs with the owner's load of the root after SleepingSide::arm().
        if (const std::uint64_t seen = page().wake_up_state.sleeping.load(std::memory_order_seq_cst); seen != 0)
            [[unlikely]]
            return wake(seen);
        return true;
    }

private:
    PeerDoorbells(std::shared_ptr<ExporterProcess> process, std::uint32_t number) noexcept;
    [[gnu::cold]] [[nodiscard]] bool wake(std::uint64_t seen) noexcept;
    [[nodiscard]] DoorbellPage &page() const noexcept { return *static_cast<DoorbellPage *>(page_->start()); }

    const std::shared_ptr<ExporterProcess> process_;
    const std::uint32_t number_;
    std::shared_ptr<SealedPage> page_; ///< null only if open() has failed
    ObjectMutex lock_;                 ///< guards waking_
    WakingSide waking_;
};

} // namespace opendoca::soft
