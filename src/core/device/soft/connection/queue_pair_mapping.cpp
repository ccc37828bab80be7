// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "queue_pair_mapping.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstring>

#include <sys/random.h>

#include "../../../log/log.hpp"
#include "../memory/exporter.hpp"

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

/// Returns the bytes of the whole shared region. Cannot overflow for sizes up to max_queue_size and max_chain_length.
constexpr std::size_t page_size(std::uint32_t recv_queue_size, std::uint32_t chain_length) noexcept
{
    return sizeof(QueuePairPage) + recv_queue_size * (sizeof(MessageCell) + entry_size(chain_length)) +
           std::min(recv_queue_size, max_slots) * slot_size;
}

/// Decodes @p bytes, and rejects values that no queue pair can have.
doca_error_t read_details(std::span<const std::byte> bytes, ConnectionDetails &d)
{
    if (const auto fault = from_bytes(bytes, DescriptorKind::soft_connection, d);
        fault != DescriptorReader::Fault::none) {
        LOG_ERR("these %zu bytes are no connection details of the software device: %s", bytes.size(), to_text(fault));
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    if (d.page_fd < 0 || d.queue_pair_fd < 0 || d.pid == 0 || d.pid >> ProcessId::pid_bits != 0 ||
        d.queue_pair_id == 0 || d.queue_pair_id == QueuePairPage::closed) {
        LOG_ERR("invalid connection details: process %" PRIu32 ", descriptors %" PRId32 " and %" PRId32 ", id %" PRIu64,
                d.pid, d.page_fd, d.queue_pair_fd, d.queue_pair_id);
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
    // 0 and `closed` have meanings of their own in QueuePairPage::connected_to.
    do {
        if (getrandom(&d.queue_pair_id, sizeof(d.queue_pair_id), 0) != sizeof(d.queue_pair_id) ||
            getrandom(d.nonce, sizeof(d.nonce), 0) != sizeof(d.nonce)) {
            LOG_ERR("getrandom: %s", std::strerror(errno));
            return DOCA_ERROR_DRIVER;
        }
    } while (d.queue_pair_id == 0 || d.queue_pair_id == QueuePairPage::closed);

    std::shared_ptr<QueuePairMapping> created(new QueuePairMapping);
    const std::size_t size = page_size(settings.recv_queue_size, settings.recv_chain_length);
    doca_error_t status = SealedPage::create(queue_pair_page_name, size, SealedPage::Writers::all, created->memory_);
    if (status != DOCA_SUCCESS)
        return status;
    created->page_ = static_cast<QueuePairPage *>(created->memory_->start());
    QueuePairPage &page = *created->page_; // all zero: no message, no receive
    std::memcpy(page.magic, queue_pair_magic, sizeof(page.magic));
    page.version = queue_pair_version;
    page.pid = d.pid;
    page.start_time = d.start_time;
    page.size = size;
    page.id = d.queue_pair_id;
    std::memcpy(page.nonce, d.nonce, sizeof(page.nonce));
    page.recv_queue_size = settings.recv_queue_size;
    page.chain_length = settings.recv_chain_length;
    page.function_id = function_id_of(function);
    page.permissions = settings.permissions;
    page.mtu = settings.mtu;
    page.shares_receives = settings.shared_receives != nullptr ? 1 : 0;
    // The head is read back by the same function as a peer's: it fails only if the settings exceed a limit, which the
    // caller has checked before.
    if (!created->read_page())
        return DOCA_ERROR_UNEXPECTED;
    d.queue_pair_fd = created->memory_->fd();
    status = ExporterProcess::attach(d, created->process_);
    if (status != DOCA_SUCCESS)
        return status;
    details = to_bytes(DescriptorKind::soft_connection, d);
    mapping = std::move(created);
    return DOCA_SUCCESS;
}

doca_error_t QueuePairMapping::open(std::span<const std::byte> bytes, std::shared_ptr<QueuePairMapping> &mapping)
{
    ConnectionDetails d{};
    if (const doca_error_t status = read_details(bytes, d); status != DOCA_SUCCESS)
        return status;
    std::shared_ptr<QueuePairMapping> opened(new QueuePairMapping);
    constexpr SealedPage::Expected expected = {"queue pair", sizeof(QueuePairPage),
                                               page_size(max_queue_size, max_chain_length)};
    if (ExporterProcess::attach(d, opened->process_) != DOCA_SUCCESS ||
        SealedPage::open(opened->process_->pid(), d.queue_pair_fd, expected, opened->memory_) != DOCA_SUCCESS)
        return DOCA_ERROR_CONNECTION_ABORTED; // the reason is in the log
    opened->page_ = static_cast<QueuePairPage *>(opened->memory_->start());
    const QueuePairPage &page = *opened->page_;
    // The descriptor number may by now be that of another queue pair with another id and nonce.
    if (!opened->read_page() || page.pid != d.pid || page.start_time != d.start_time ||
        opened->id_ != d.queue_pair_id || std::memcmp(page.nonce, d.nonce, sizeof(d.nonce)) != 0) {
        LOG_ERR("the connection details are outdated or invalid: descriptor %" PRId32 " of process %" PRIu32
                " is not the queue pair that they describe",
                d.queue_pair_fd, d.pid);
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    mapping = std::move(opened);
    return DOCA_SUCCESS;
}

/// Copies the fields of the head into this object. Returns false, with undefined members, if they are inconsistent with
/// each other or with the size of the mapping, which the kernel guarantees by seals.
bool QueuePairMapping::read_page() noexcept
{
    const std::uint32_t queue_size = page_->recv_queue_size;
    chain_length_ = page_->chain_length;
    if (std::memcmp(page_->magic, queue_pair_magic, sizeof(queue_pair_magic)) != 0 ||
        page_->version != queue_pair_version || !std::has_single_bit(queue_size) || queue_size > max_queue_size ||
        chain_length_ == 0 || chain_length_ > max_chain_length ||
        page_size(queue_size, chain_length_) != memory_->size())
        return false;
    mask_ = queue_size - 1;
    entry_size_ = entry_size(chain_length_);
    cells_ = reinterpret_cast<MessageCell *>(page_ + 1);
    entries_ = reinterpret_cast<std::byte *>(cells_ + queue_size);
    slots_ = entries_ + queue_size * entry_size_;
    num_slots_ = std::min(queue_size, max_slots);
    permissions_ = page_->permissions;
    shares_receives_ = page_->shares_receives != 0;
    id_ = page_->id;
    function_id_ = page_->function_id;
    return true;
}

} // namespace opendoca::soft
