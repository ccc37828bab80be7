// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How a thread learns which of many connections has news without looking at each. It has a page with a bit for each,
// its doorbell, and two levels of bits above, so that one word tells whether anything has happened. A peer stores
// its news first, then rings. Peers map the page, and may write anything there: a bit means "look", and an index
// that nobody has means nothing. A peer that dies between the two has not rung: its death is news of all its
// connections.
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
    std::uint32_t number; ///< tells it from all others that its process has ever had
    // Both of these are what every ring looks at.
    alignas(64) std::atomic<std::uint64_t> root; ///< bit g: something in group g
    SleepState sleep;
    alignas(64) std::atomic<std::uint64_t> groups[bits_of_word]; ///< bit w of group g: something in word 64 g + w
    alignas(64) std::atomic<std::uint64_t> words[bits_of_word * bits_of_word];

    /// Sets the bits of doorbell @p index, from below: who finds one finds those below it.
    void ring(std::uint32_t index) noexcept
    {
        const std::uint32_t word = index / bits_of_word, group = word / bits_of_word;
        // All sequentially consistent. A bit that is set already is one that the owner clears later, and looks below
        // it after that: pairs with the exchanges in Doorbells::collect().
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

/// What a peer has to know in order to ring, in one word, which the owner of the doorbell stores where the peer looks
/// after each of its stores: the number of the page, the index of the doorbell, and for which news it rings.
class DoorbellRequest {
public:
    constexpr DoorbellRequest() noexcept = default; ///< rings for nothing
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

/// The doorbells of one thread.
class Doorbells {
public:
    [[nodiscard]] static doca_error_t create(std::unique_ptr<Doorbells> &doorbells);

    [[nodiscard]] std::uint32_t number() const noexcept { return page().number; }
    /// Where peers find the page: a number in this process.
    [[nodiscard]] std::int32_t fd() const noexcept { return page_->fd(); }

    [[nodiscard]] bool is_any_rung() const noexcept
    {
        // After SleepingSide::arm(). Pairs with PeerDoorbells::ring(), which looks at the sleeper last.
        return page().root.load(std::memory_order_seq_cst) != 0;
    }
    /// By the owner itself: something has to be looked at.
    void ring(std::uint32_t index) noexcept { page().ring(index); }
    /// Calls @p look with the index of each that was rung; it may be any up to max_doorbells.
    template <typename Look>
    void collect(Look look) noexcept
    {
        // From above, and each word is cleared before those below it are read: see DoorbellPage::ring().
        each_bit(page().root, 0, [&](std::uint32_t group) {
            each_bit(page().groups[group], group, [&](std::uint32_t word) {
                each_bit(page().words[word], word, look);
            });
        });
    }

    SleepingSide sleep; ///< in event-driven mode
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

/// The doorbells of a peer's thread, mapped: one for all connections of this process with that thread. Thread-safe.
class PeerDoorbells {
public:
    /// Those of page @p number of @p process, at its descriptor @p fd. INVALID_VALUE, NOT_PERMITTED, NO_MEMORY.
    [[nodiscard]] static doca_error_t open(const std::shared_ptr<ExporterProcess> &process, std::int32_t fd,
                                           std::uint32_t number, std::shared_ptr<PeerDoorbells> &doorbells);
    PeerDoorbells(const PeerDoorbells &) = delete;
    PeerDoorbells &operator=(const PeerDoorbells &) = delete;
    ~PeerDoorbells();

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }

    /// After the news were stored. Wakes the thread if it sleeps. False when it sleeps on, because descriptors or
    /// memory have run out: another try may work.
    [[nodiscard]] bool ring(std::uint32_t index) noexcept
    {
        page().ring(index % max_doorbells);
        // Pairs with the owner's look at the root after SleepingSide::arm().
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
    ObjectMutex lock_; ///< of waking_
    WakingSide waking_;
};

} // namespace opendoca::soft
