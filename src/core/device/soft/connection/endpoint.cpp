// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "endpoint.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../log.hpp"
#include "../../../crc32.hpp"
#include "../memory/exporter.hpp"
#include "../process/process.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_ENDPOINT);

namespace opendoca::soft {

namespace {

/// The endpoints of this process: its instances that connect to each other share one mapping of a page, so
/// that thread sanitizers, which know memory by its address, see what orders them.
struct Registry {
    std::mutex lock;
    std::map<std::uint64_t, std::weak_ptr<Endpoint>> endpoints;
};

Registry &registry()
{
    static auto *const instance = new Registry;
    return *instance;
}

constexpr std::size_t entry_size(std::uint32_t chain_length) noexcept
{
    const std::size_t size = sizeof(ReceiveEntry) + chain_length * sizeof(ReceiveSegment);
    return (size + 63) / 64 * 64;
}

constexpr std::size_t page_size(std::uint32_t recv_queue_size, std::uint32_t chain_length) noexcept
{
    return sizeof(EndpointPage) + recv_queue_size * (sizeof(MessageCell) + entry_size(chain_length)) +
           std::min(recv_queue_size, max_slots) * slot_size;
}

doca_error_t read_details(std::span<const std::byte> bytes, ConnectionDetails &d)
{
    if (bytes.size() != sizeof(d)) {
        LOG_ERR("connection details have %zu bytes, these %zu", sizeof(d), bytes.size());
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    std::memcpy(&d, bytes.data(), sizeof(d));
    if (std::memcmp(d.magic, endpoint_magic, sizeof(d.magic)) != 0) {
        LOG_ERR("these %zu bytes are not connection details of opendoca's software device",
                     bytes.size());
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    if (d.version != endpoint_version || d.size != sizeof(d)) {
        LOG_ERR("the connection details have version %" PRIu32 ", this library reads %" PRIu32,
                     d.version, endpoint_version);
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    if (d.checksum != crc32(&d, offsetof(ConnectionDetails, checksum))) {
        LOG_ERR("the connection details are damaged: their checksum does not match");
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    if (d.export_page_fd < 0 || d.endpoint_fd < 0 || d.pid == 0 || d.pid > INT32_MAX || d.endpoint_id == 0 ||
        d.endpoint_id == EndpointPage::closed) {
        LOG_ERR("the connection details name descriptor %" PRId32 " of process %" PRIu32, d.endpoint_fd,
                     d.pid);
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    return DOCA_SUCCESS;
}

/// What names a process in export descriptors.
ExportDescriptor owner_of(const ConnectionDetails &details) noexcept
{
    ExportDescriptor owner{};
    owner.pid = details.pid;
    owner.page_fd = details.export_page_fd;
    owner.start_time = details.start_time;
    owner.pid_namespace = details.pid_namespace;
    return owner;
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

doca_error_t Endpoint::create(const QueuePairSettings &settings, const DeviceFunction &function,
                              std::shared_ptr<Endpoint> &endpoint, ConnectionDetails &details)
{
    std::shared_ptr<Exporter> exporter; // who connects must know when this process ends
    if (const doca_error_t status = Exporter::instance(exporter); status != DOCA_SUCCESS)
        return status;
    ConnectionDetails d{};
    do {
        if (getrandom(&d.endpoint_id, sizeof(d.endpoint_id), 0) != sizeof(d.endpoint_id) ||
            getrandom(d.nonce, sizeof(d.nonce), 0) != sizeof(d.nonce)) {
            LOG_ERR("getrandom: %s", std::strerror(errno));
            return DOCA_ERROR_DRIVER;
        }
    } while (d.endpoint_id == 0 || d.endpoint_id == EndpointPage::closed);

    std::shared_ptr<Endpoint> created(new Endpoint);
    created->size_ = page_size(settings.recv_queue_size, settings.recv_chain_length);
    if (const doca_error_t status =
            create_shared_page(endpoint_page_name, created->size_, created->fd_, created->mapping_);
        status != DOCA_SUCCESS)
        return status;
    created->page_ = static_cast<EndpointPage *>(created->mapping_.get());
    EndpointPage &page = *created->page_; // all zero: no message, no receive
    std::memcpy(page.magic, endpoint_magic, sizeof(page.magic));
    page.version = endpoint_version;
    page.pid = exporter->page().pid;
    page.start_time = exporter->page().start_time;
    page.size = created->size_;
    page.id = d.endpoint_id;
    std::memcpy(page.nonce, d.nonce, sizeof(page.nonce));
    page.recv_queue_size = settings.recv_queue_size;
    page.chain_length = settings.recv_chain_length;
    page.function_id = function_id_of(function);
    page.permissions = settings.permissions;
    page.mtu = settings.mtu;
    page.wake_fd.store(-1, std::memory_order_relaxed);
    if (!created->read_page())
        return DOCA_ERROR_UNEXPECTED;

    std::memcpy(d.magic, endpoint_magic, sizeof(d.magic));
    d.version = endpoint_version;
    d.size = sizeof(d);
    d.pid = page.pid;
    d.export_page_fd = exporter->page_fd();
    d.start_time = page.start_time;
    d.pid_namespace = pid_namespace();
    d.endpoint_fd = created->fd_.get();
    d.checksum = crc32(&d, offsetof(ConnectionDetails, checksum));
    if (const doca_error_t status = ExporterProcess::attach(owner_of(d), created->process_);
        status != DOCA_SUCCESS)
        return status;

    auto &[lock, endpoints] = registry();
    const std::lock_guard guard(lock);
    std::erase_if(endpoints, [](const auto &item) { return item.second.expired(); });
    endpoints[d.endpoint_id] = created;
    endpoint = std::move(created);
    details = d;
    return DOCA_SUCCESS;
}

doca_error_t Endpoint::open(std::span<const std::byte> bytes, std::shared_ptr<Endpoint> &endpoint)
{
    ConnectionDetails d;
    if (const doca_error_t status = read_details(bytes, d); status != DOCA_SUCCESS)
        return status;
    if (d.pid == static_cast<std::uint32_t>(getpid())) {
        auto &[lock, endpoints] = registry();
        const std::lock_guard guard(lock);
        const auto known = endpoints.find(d.endpoint_id);
        std::shared_ptr<Endpoint> found = known == endpoints.end() ? nullptr : known->second.lock();
        if (found == nullptr || std::memcmp(found->page_->nonce, d.nonce, sizeof(d.nonce)) != 0) {
            LOG_ERR("the connection details are those of an instance of this process that was stopped");
            return DOCA_ERROR_CONNECTION_ABORTED;
        }
        endpoint = std::move(found);
        return DOCA_SUCCESS;
    }
    std::shared_ptr<Endpoint> opened(new Endpoint);
    if (const doca_error_t status = opened->open_page(d); status != DOCA_SUCCESS)
        return status;
    endpoint = std::move(opened);
    return DOCA_SUCCESS;
}

doca_error_t Endpoint::open_page(const ConnectionDetails &d)
{
    if (ExporterProcess::attach(owner_of(d), process_) != DOCA_SUCCESS)
        return DOCA_ERROR_CONNECTION_ABORTED; // which was explained
    const std::string place = "/proc/" + std::to_string(d.pid) + "/fd/" + std::to_string(d.endpoint_fd);
    const UniqueFd found(::open(place.c_str(), O_PATH | O_CLOEXEC));
    if (!found.is_open()) {
        const int error = errno;
        LOG_ERR("can't open the endpoint at descriptor %" PRId32 " of process %" PRIu32 ": %s",
                     d.endpoint_fd, d.pid,
                     error == ENOENT ? "it is not there any more"
                                     : explain_denial(static_cast<pid_t>(d.pid), error).c_str());
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    struct stat info {};
    constexpr auto smallest = static_cast<off_t>(sizeof(EndpointPage));
    constexpr auto largest = static_cast<off_t>(page_size(max_queue_size, max_chain_length));
    if (fstat(found.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < smallest ||
        info.st_size > largest || info.st_uid != geteuid()) {
        LOG_ERR("descriptor %" PRId32 " of process %" PRIu32 " is no endpoint of this user",
                     d.endpoint_fd, d.pid);
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    const std::string self = "/proc/thread-self/fd/" + std::to_string(found.get());
    const UniqueFd fd(::open(self.c_str(), O_RDWR | O_CLOEXEC));
    if (!is_sealed(fd.get())) {
        LOG_ERR("descriptor %" PRId32 " of process %" PRIu32 " is not a sealed endpoint", d.endpoint_fd,
                     d.pid);
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    size_ = static_cast<std::size_t>(info.st_size);
    if (map_shared_page(fd.get(), size_, mapping_) != DOCA_SUCCESS)
        return DOCA_ERROR_CONNECTION_ABORTED;
    page_ = static_cast<EndpointPage *>(mapping_.get());
    if (!read_page() || page_->pid != d.pid || page_->start_time != d.start_time || id_ != d.endpoint_id ||
        std::memcmp(page_->nonce, d.nonce, sizeof(d.nonce)) != 0) {
        LOG_ERR("the page at descriptor %" PRId32 " of process %" PRIu32 " is not that of these details",
                     d.endpoint_fd, d.pid);
        return DOCA_ERROR_CONNECTION_ABORTED;
    }
    return DOCA_SUCCESS;
}

/// Takes over what the page says of itself. False when it can't be so.
bool Endpoint::read_page() noexcept
{
    const std::uint32_t queue_size = page_->recv_queue_size;
    chain_length_ = page_->chain_length;
    if (std::memcmp(page_->magic, endpoint_magic, sizeof(endpoint_magic)) != 0 ||
        page_->version != endpoint_version || !std::has_single_bit(queue_size) ||
        queue_size > max_queue_size || chain_length_ == 0 || chain_length_ > max_chain_length ||
        page_size(queue_size, chain_length_) != size_)
        return false;
    mask_ = queue_size - 1;
    entry_size_ = entry_size(chain_length_);
    cells_ = reinterpret_cast<MessageCell *>(page_ + 1);
    entries_ = reinterpret_cast<std::byte *>(cells_ + queue_size);
    slots_ = entries_ + queue_size * entry_size_;
    num_slots_ = std::min(queue_size, max_slots);
    permissions_ = page_->permissions;
    id_ = page_->id;
    function_id_ = page_->function_id;
    return true;
}

} // namespace opendoca::soft
