// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../../queue_pair.hpp"
#include "../memory/importer.hpp"
#include "../process/slab.hpp"
#include "queue_pair_page.hpp"

namespace opendoca::soft {

/// Returns a hash of a device function's name and PCI address, which identifies the function in shared pages. Two
/// handles of the same function have the same number in every process.
[[nodiscard]] std::uint64_t function_id_of(const char *name, const char *pci_address) noexcept;
[[nodiscard]] std::uint64_t function_id_of(const DeviceFunction &function) noexcept;

/// What the two ends of a connection share of one end: its head and its message region, mapped into this process.
/// Either of this process's own queue pair, or of its peer. Owned by the one SoftQueuePair that created or opened it.
/// The pointers and sizes stay within the mappings even if the other process changes what it can write to. Invariant:
/// the message region is there from take_region() or open_region() on, until then cell(), entry() and slot() must not
/// be called.
class QueuePairMapping {
public:
    /// Creates the head of a new queue pair, and the details by which a peer finds it. DRIVER if the system has no
    /// random numbers; NO_MEMORY and others of SealedPage::create().
    [[nodiscard]] static doca_error_t create(const QueuePairSettings &settings, const DeviceFunction &function,
                                             std::shared_ptr<QueuePairMapping> &mapping,
                                             std::vector<std::byte> &details);
    /// Takes the message region of this process's own queue pair, which is to be connected to one of @p peer, and
    /// publishes its place. Has no effect if it was taken for that process. NO_MEMORY and others of
    /// SealedPage::create().
    [[nodiscard]] doca_error_t take_region(const std::shared_ptr<ExporterProcess> &peer);

    /// Checks @p bytes, connection details from an untrusted source, and maps the head that they name.
    /// CONNECTION_ABORTED, after a log line, if the details are malformed or the head is not the one that they
    /// describe.
    [[nodiscard]] static doca_error_t open(std::span<const std::byte> bytes,
                                           std::shared_ptr<QueuePairMapping> &mapping);
    /// Maps the message region of a peer that is connected to this process. INVALID_VALUE if the peer has ended the
    /// connection or its head lies. NOT_PERMITTED, NO_MEMORY.
    [[nodiscard]] doca_error_t open_region();

    ~QueuePairMapping();
    QueuePairMapping(const QueuePairMapping &) = delete;
    QueuePairMapping &operator=(const QueuePairMapping &) = delete;

    /// Returns the head. That of a peer is read-only.
    [[nodiscard]] QueuePairPage &page() const noexcept { return *page_; }
    /// Returns whether the head still is that of the peer's queue pair, and has not been released. For what was loaded
    /// from the head, by acquire loads, before this call.
    [[nodiscard]] bool is_current() const noexcept { return page_->id.load(std::memory_order_relaxed) == id_; }
    [[nodiscard]] MessageCell &cell(std::uint32_t number) const noexcept { return cells_[number & mask_]; }
    [[nodiscard]] ReceiveEntry &entry(std::uint32_t number) const noexcept
    {
        return *reinterpret_cast<ReceiveEntry *>(entries_ + std::size_t{number & mask_} * entry_size_);
    }
    /// Returns the memory for the data of message @p number if it is of medium length: slot_size bytes.
    [[nodiscard]] std::byte *slot(std::uint32_t number) const noexcept
    {
        return slots_ + (number & (num_slots_ - 1)) * slot_size;
    }
    // All of these return the copies in this object, which the other process cannot change.
    [[nodiscard]] std::uint32_t num_slots() const noexcept { return num_slots_; }
    [[nodiscard]] std::uint32_t recv_queue_size() const noexcept { return mask_ + 1; }
    [[nodiscard]] std::uint32_t chain_length() const noexcept { return chain_length_; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] std::uint64_t function_id() const noexcept { return function_id_; }
    [[nodiscard]] bool shares_receives() const noexcept { return shares_receives_; }
    [[nodiscard]] std::uint32_t permissions() const noexcept { return permissions_; }
    /// Returns the process that owns the queue pair.
    [[nodiscard]] const std::shared_ptr<ExporterProcess> &process() const noexcept { return process_; }

private:
    QueuePairMapping() = default;

    void write_head(const QueuePairSettings &settings, const DeviceFunction &function,
                    const ConnectionDetails &details) const noexcept;
    [[nodiscard]] bool read_head() noexcept;
    void use_region(std::byte *start) noexcept;

    OwnSlot own_head_, own_region_;    ///< of this process's own queue pair
    PeerSlot peer_head_, peer_region_; ///< of a peer
    QueuePairPage *page_ = nullptr;
    MessageCell *cells_ = nullptr; ///< the start of the message region
    std::byte *entries_ = nullptr;
    std::size_t entry_size_ = 0;
    std::byte *slots_ = nullptr;
    // Copied from the head once it was checked: another process can change it at any time.
    std::uint32_t mask_ = 0; ///< the size of the receive queue - 1
    std::uint32_t chain_length_ = 0;
    std::uint32_t num_slots_ = 0;
    std::uint32_t permissions_ = 0;
    bool shares_receives_ = false;
    std::uint64_t id_ = 0;
    std::uint64_t function_id_ = 0;
    std::shared_ptr<ExporterProcess> process_;
    std::shared_ptr<ExporterProcess> region_peer_; ///< the process for which own_region_ was taken
};

} // namespace opendoca::soft
