// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Doorbells: how a thread finds the connections with new events among many without checking each. The thread owns a
// page with one bit for each connection (the doorbell) and two levels of summary bits above, so that one word shows
// whether any doorbell was rung. A peer stores its data, then rings. Peers map the page and may write anything to it,
// so a set bit only means that the connection must be checked, and an unused index is ignored. A peer that dies between
// its store and the ring has not rung; the end of its process makes the owner check all connections with it.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>

#include "../../../fork.hpp"
#include "../process/sealed_page.hpp"
#include "../process/wake.hpp"

namespace opendoca::soft {

class ExporterProcess;

inline constexpr std::uint32_t bits_of_word = 64;
inline constexpr std::uint32_t max_doorbells = bits_of_word * bits_of_word * bits_of_word;

struct DoorbellPage {
    char magic[8];
    std::uint32_t version;
    std::uint32_t number; ///< distinguishes the page from all others that its process has ever created
    // Each ring accesses both of these.
    alignas(64) std::atomic<std::uint64_t> root; ///< bit g: a bit of group g is set
    SleepState sleep;
    alignas(64) std::atomic<std::uint64_t> groups[bits_of_word]; ///< bit w of group g: a bit of word 64 g + w is set
    alignas(64) std::atomic<std::uint64_t> words[bits_of_word * bits_of_word];

    /// Sets the bits of doorbell @p index from the lowest level up: a reader that finds a bit also finds those below
    /// it.
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
    static void set(std::atomic<std::uint64_t> &word, std::uint64_t bit) noexcept
    {
        if ((word.load(std::memory_order_seq_cst) & bit) == 0)
            word.fetch_or(bit, std::memory_order_seq_cst);
    }
};

/// A request to ring, in one word: the number of the doorbell page, the index of the doorbell, and the mask of events
/// to ring for. The owner of the doorbell stores it where the peer loads it after each of its stores.
class DoorbellRequest {
public:
    constexpr DoorbellRequest() noexcept = default; ///< requests no ring
    constexpr explicit DoorbellRequest(std::uint64_t word) noexcept : word_(word) {}
    constexpr DoorbellRequest(std::uint32_t page, std::uint32_t index, std::uint32_t wishes) noexcept
        : word_(std::uint64_t{page} << 32 | index << 8 | wishes)
    {
    }

    [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }
    [[nodiscard]] constexpr std::uint32_t page() const noexcept { return static_cast<std::uint32_t>(word_ >> 32); }
    [[nodiscard]] constexpr std::uint32_t index() const noexcept { return word_ >> 8 & 0xffffff; }
    [[nodiscard]] constexpr bool wishes(std::uint32_t wish) const noexcept { return (word_ & wish) != 0; }

private:
    std::uint64_t word_ = 0;
};

/// The doorbells of one thread, which owns them and their page.
class Doorbells {
public:
    [[nodiscard]] static doca_error_t create(std::unique_ptr<Doorbells> &doorbells);

    [[nodiscard]] std::uint32_t number() const noexcept { return page().number; }
    /// The descriptor number by which peers open the page.
    [[nodiscard]] std::int32_t fd() const noexcept { return page_->fd(); }

    [[nodiscard]] bool is_any_rung() const noexcept
    {
        // Called after SleepingSide::arm(). Pairs with PeerDoorbells::ring(), which loads `sleeping` last.
        return page().root.load(std::memory_order_seq_cst) != 0;
    }
    /// Rings a doorbell of the owner's own, for a connection that must be checked without its peer.
    void ring(std::uint32_t index) noexcept { page().ring(index); }
    /// Calls @p look with the index of each doorbell that was rung; it may be any number below max_doorbells.
    template <typename Look>
    void collect(Look look) noexcept
    {
        // From the highest level down; each word is cleared before those below it are read: see DoorbellPage::ring().
        each_bit(page().root, 0, [&](std::uint32_t group) {
            each_bit(page().groups[group], group,
                     [&](std::uint32_t word) { each_bit(page().words[word], word, look); });
        });
    }

    SleepingSide sleep; ///< used in event-driven mode
    [[nodiscard]] doca_error_t open_sleep() noexcept { return sleep.open(page().sleep); }

private:
    Doorbells() = default;

    template <typename Look>
    static void each_bit(std::atomic<std::uint64_t> &word, std::uint32_t number, Look look) noexcept
    {
        for (std::uint64_t bits = word.exchange(0, std::memory_order_seq_cst); bits != 0; bits &= bits - 1)
            look(number * bits_of_word + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
    [[nodiscard]] DoorbellPage &page() const noexcept { return *static_cast<DoorbellPage *>(page_->start()); }

    std::shared_ptr<SealedPage> page_;
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

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

    /// Rings after the data was stored, and wakes the thread if it is blocked. Returns false if the thread stays
    /// blocked because descriptors or memory have run out: a retry may succeed.
    [[nodiscard]] bool ring(std::uint32_t index) noexcept
    {
        page().ring(index % max_doorbells);
        // Pairs with the owner's load of the root after SleepingSide::arm().
        if (const std::uint64_t seen = page().sleep.sleeping.load(std::memory_order_seq_cst); seen != 0) [[unlikely]]
            return wake(seen);
        return true;
    }

private:
    PeerDoorbells(std::shared_ptr<ExporterProcess> process, std::uint32_t number) noexcept;
    [[gnu::cold]] [[nodiscard]] bool wake(std::uint64_t seen) noexcept;
    [[nodiscard]] DoorbellPage &page() const noexcept { return *static_cast<DoorbellPage *>(page_->start()); }

    const std::shared_ptr<ExporterProcess> process_;
    const std::uint32_t number_;
    std::shared_ptr<SealedPage> page_;
    ObjectMutex lock_; ///< guards waking_
    WakingSide waking_;
};

} // namespace opendoca::soft
