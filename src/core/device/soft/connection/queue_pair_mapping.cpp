// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "queue_pair_mapping.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <sys/random.h>

#include "../../../log/log.hpp"
#include "../memory/exporter.hpp"
#include "../process/read_once.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_CONNECTION);

namespace opendoca::soft {

namespace {

/// Returns the bytes of a receive entry with its segments, rounded up to whole cache lines so that two receives never
/// share one.
constexpr std::size_t entry_size(std::uint32_t chain_length) noexcept
{
    const std::size_t size = sizeof(ReceiveEntry) + chain_length * sizeof(ReceiveSegment);
    return (size + 63) / 64 * 64;
}

/// Returns the bytes of a message region. Cannot overflow for sizes up to max_queue_size and max_chain_length.
constexpr std::size_t region_size(std::uint32_t recv_queue_size, std::uint32_t chain_length) noexcept
{
    const std::size_t size = recv_queue_size * (sizeof(MessageCell) + entry_size(chain_length)) +
                             std::min(recv_queue_size, max_slots) * slot_size;
    constexpr std::size_t page = 4096; // regions do not share pages, which are returned to the system one by one
    return (size + page - 1) / page * page;
}

/// Decodes @p bytes, and rejects values that no queue pair can have.
doca_error_t read_details(std::span<const std::byte> bytes, ConnectionDetails &d)
{
    if (const auto fault = from_bytes(bytes, DescriptorKind::soft_connection, d);
        fault != DescriptorReader::Fault::none) {
        LOG_ERR("these %zu bytes are no connection details of the software device: %s", bytes.size(), to_text(fault));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    if (d.page_fd < 0 || d.head_fd < 0 || d.pid == 0 || d.pid >> ProcessId::pid_bits != 0 || d.queue_pair_id == 0 ||
        d.queue_pair_id == QueuePairPage::closed) {
        LOG_ERR("invalid connection details: process %" PRIu32 ", descriptors %" PRId32 " and %" PRId32 ", id %" PRIu64,
                d.pid, d.page_fd, d.head_fd, d.queue_pair_id);
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    return DOCA_SUCCESS;
}

} // namespace

std::uint64_t function_id_of(const char *name, const char *pci_address) noexcept
{
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char *text : {name, "/", pci_address}) {
        for (; *text != '\0'; ++text)
            hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3;
    }
    return hash;
}

std::uint64_t function_id_of(const DeviceFunction &function) noexcept
{
    return function_id_of(function.name.c_str(), function.pci_address.c_str());
}

doca_error_t QueuePairMapping::create(const QueuePairSettings &settings, const DeviceFunction &function,
                                      std::shared_ptr<QueuePairMapping> &mapping, std::vector<std::byte> &details)
{
    std::shared_ptr<Exporter> exporter; // a connecting peer must detect when this process ends
    if (const doca_error_t status = Exporter::instance(exporter); status != DOCA_SUCCESS)
        return status;
    ConnectionDetails d{};
    static_cast<ExporterAddress &>(d) = exporter->address();
    // 0 and `closed` name no queue pair.
    do {
        if (getrandom(&d.queue_pair_id, sizeof(d.queue_pair_id), 0) != sizeof(d.queue_pair_id) ||
            getrandom(d.nonce, sizeof(d.nonce), 0) != sizeof(d.nonce)) {
            LOG_ERR("getrandom: %s", std::strerror(errno));
            return DOCA_ERROR_DRIVER;
        }
    } while (d.queue_pair_id == 0 || d.queue_pair_id == QueuePairPage::closed);

    std::shared_ptr<QueuePairMapping> created(new QueuePairMapping);
    doca_error_t status = OwnSlot::take_private(sizeof(QueuePairPage), created->own_head_);
    if (status != DOCA_SUCCESS)
        return status;
    created->page_ = reinterpret_cast<QueuePairPage *>(created->own_head_.start());
    created->write_head(settings, function, d);
    // The head is read back by the same function as a peer's: it fails only if the settings exceed a limit, which the
    // caller has checked before.
    if (!created->read_head())
        return DOCA_ERROR_UNEXPECTED;
    d.head_fd = created->own_head_.fd();
    d.head_slab = created->own_head_.slab_number();
    d.head_slot = created->own_head_.index();
    status = ExporterProcess::attach(d, created->process_);
    if (status != DOCA_SUCCESS)
        return status;
    details = to_bytes(DescriptorKind::soft_connection, d);
    mapping = std::move(created);
    return DOCA_SUCCESS;
}

QueuePairMapping::~QueuePairMapping()
{
    // From now on nobody can connect. The rest of the head stays until the next queue pair has it: the peer may still
    // look whether its last message was received. A forked child's copy leaves it to its parent.
    if (own_head_.is_taken() && own_head_.is_of_this_process())
        page_->connected_to.store(QueuePairPage::closed, std::memory_order_release);
}

/// Writes the head of a new queue pair. It may have been another one's, which a late peer still reads.
void QueuePairMapping::write_head(const QueuePairSettings &settings, const DeviceFunction &function,
                                  const ConnectionDetails &details) const noexcept
{
    QueuePairPage &page = *page_;
    // All release: a reader that finds a value of the new queue pair does not find the id of the old one afterwards.
    page.id.store(0, std::memory_order_release);
    const auto store = [](auto &word, auto value) {
        auto converted = static_cast<std::remove_reference_t<decltype(word)>>(value); // clang takes no constant
        __atomic_store(&word, &converted, __ATOMIC_RELEASE);
    };
    page.connected_to.store(0, std::memory_order_release);
    page.doorbell_request.store(0, std::memory_order_release);
    page.doorbells_fd.store(0, std::memory_order_release);
    page.num_taken.store(0, std::memory_order_release);
    std::memcpy(page.magic, queue_pair_magic, sizeof(page.magic));
    store(page.version, queue_pair_version);
    store(page.pid, details.pid);
    store(page.start_time, details.start_time);
    for (std::size_t i = 0; i != sizeof(Nonce); ++i)
        store(page.nonce[i], details.nonce[i]);
    store(page.recv_queue_size, settings.recv_queue_size);
    store(page.chain_length, settings.recv_chain_length);
    store(page.function_id, function_id_of(function));
    store(page.permissions, settings.permissions);
    store(page.mtu, settings.mtu);
    store(page.shares_receives, settings.shared_receives != nullptr ? 1 : 0);
    page.id.store(details.queue_pair_id, std::memory_order_release);
}

/// Copies the fields of the head into this object. Returns false, with undefined members, if they are inconsistent with
/// each other. The owner can change the head at any time; the id is read last, so that all are of one queue pair.
bool QueuePairMapping::read_head() noexcept
{
    const QueuePairPage &page = *page_;
    const std::uint32_t queue_size = read_once(page.recv_queue_size);
    chain_length_ = read_once(page.chain_length);
    permissions_ = read_once(page.permissions);
    shares_receives_ = read_once(page.shares_receives) != 0;
    function_id_ = read_once(page.function_id);
    if (std::memcmp(page.magic, queue_pair_magic, sizeof(queue_pair_magic)) != 0 ||
        read_once(page.version) != queue_pair_version || !std::has_single_bit(queue_size) ||
        queue_size > max_queue_size || chain_length_ == 0 || chain_length_ > max_chain_length)
        return false;
    mask_ = queue_size - 1;
    entry_size_ = entry_size(chain_length_);
    num_slots_ = std::min(queue_size, max_slots);
    id_ = page.id.load(std::memory_order_acquire);
    return true;
}

/// Sets the pointers into the message region, which has the size that follows from the head.
void QueuePairMapping::use_region(std::byte *start) noexcept
{
    cells_ = reinterpret_cast<MessageCell *>(start);
    entries_ = reinterpret_cast<std::byte *>(cells_ + recv_queue_size());
    slots_ = entries_ + recv_queue_size() * entry_size_;
}

doca_error_t QueuePairMapping::take_region(const std::shared_ptr<ExporterProcess> &peer)
{
    if (own_region_.is_taken() && region_peer_ == peer)
        return DOCA_SUCCESS;
    const std::size_t size = region_size(recv_queue_size(), chain_length_);
    if (const doca_error_t status = OwnSlot::take_shared(peer, size, id_, own_region_); status != DOCA_SUCCESS)
        return status;
    region_peer_ = peer;
    use_region(own_region_.start());
    // Published by the store of connected_to that follows.
    page_->region_fd.store(own_region_.fd(), std::memory_order_relaxed);
    page_->region_slab.store(own_region_.slab_number(), std::memory_order_relaxed);
    page_->region_slot.store(own_region_.index(), std::memory_order_relaxed);
    return DOCA_SUCCESS;
}

doca_error_t QueuePairMapping::open(std::span<const std::byte> bytes, std::shared_ptr<QueuePairMapping> &mapping)
{
    ConnectionDetails d{};
    if (const doca_error_t status = read_details(bytes, d); status != DOCA_SUCCESS)
        return status;
    std::shared_ptr<QueuePairMapping> opened(new QueuePairMapping);
    const PeerSlot::Name name = {d.head_fd, d.head_slab, d.head_slot, sizeof(QueuePairPage)};
    if (ExporterProcess::attach(d, opened->process_) != DOCA_SUCCESS ||
        PeerSlot::open_private(opened->process_, name, opened->peer_head_) != DOCA_SUCCESS)
        return DOCA_ERROR_CONNECTION_ABORTED; // the reason is in the log
    opened->page_ = reinterpret_cast<QueuePairPage *>(opened->peer_head_.start());
    const QueuePairPage &page = *opened->page_;
    // The head may by now be that of another queue pair with another id and nonce.
    if (!opened->read_head() || page.pid != d.pid || page.start_time != d.start_time ||
        opened->id_ != d.queue_pair_id || std::memcmp(page.nonce, d.nonce, sizeof(d.nonce)) != 0) {
        LOG_ERR("the connection details are outdated or invalid: head %" PRIu32 " of process %" PRIu32
                " is not that of the queue pair that they describe",
                d.head_slot, d.pid);
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    mapping = std::move(opened);
    return DOCA_SUCCESS;
}

doca_error_t QueuePairMapping::open_region()
{
    const PeerSlot::Name name = {
        page_->region_fd.load(std::memory_order_relaxed), page_->region_slab.load(std::memory_order_relaxed),
        page_->region_slot.load(std::memory_order_relaxed), region_size(recv_queue_size(), chain_length_)};
    if (const doca_error_t status = PeerSlot::open_shared(process_, name, id_, peer_region_); status != DOCA_SUCCESS)
        return status;
    use_region(peer_region_.start());
    return DOCA_SUCCESS;
}

} // namespace opendoca::soft
