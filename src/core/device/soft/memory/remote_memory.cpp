// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../../../log/log.hpp"
#include "../connection/queue_pair_mapping.hpp"
#include "../process/read_once.hpp"
#include "importer.hpp"
#include "process_copy.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_REMOTE);

namespace opendoca::soft {

namespace {

const char *text_of_kind(EntryKind kind) noexcept
{
    switch (kind) {
    case EntryKind::host_memory:
    case EntryKind::rdma_memory:
    case EntryKind::dpu_memory:
        return "a memory map";
    case EntryKind::receive:
        return "a receive";
    case EntryKind::counter:
        return "a sync event";
    case EntryKind::counter_word:
        return "a sync event's word";
    }
    return "an unknown kind";
}

/// Checks the fields that every descriptor of an export has.
doca_error_t check_fields(const ExportDescriptor &d) noexcept
{
    if (d.entry < max_exports && d.page_fd >= 0 && d.pid != 0 && d.pid >> ProcessId::pid_bits == 0)
        return DOCA_SUCCESS;
    LOG_ERR("the export descriptor names entry %" PRIu32 " at descriptor %" PRId32 " of process %" PRIu32, d.entry,
            d.page_fd, d.pid);
    return DOCA_ERROR_INVALID_VALUE;
}

/// Copies a text out of shared memory, each byte once, and adds a NUL.
template <std::size_t size, std::size_t room>
void copy_text(char (&to)[room], const char (&from)[size]) noexcept
{
    static_assert(room == size + 1);
    for (std::size_t i = 0; i < size; ++i)
        to[i] = read_once(from[i]);
    to[size] = '\0';
}

/// Checks that @p importer may import from the function: a port of the DPU imports from itself and from the functions
/// behind it, a function of the host from its port.
doca_error_t check_port(const char *function, const char *pci_address, const DeviceFunction &importer)
{
    const std::string &port = importer.port.empty() ? importer.name : importer.port;
    if (port == function)
        return DOCA_SUCCESS;
    if (!importer.port.empty()) {
        LOG_ERR("the memory was exported by %s (%s), and %s (%s) is behind %s", function, pci_address,
                importer.name.c_str(), importer.pci_address.c_str(), port.c_str());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    std::string known;
    for (const auto &rep : importer.representors()) {
        if (rep.name == function && rep.pci_address == pci_address)
            return DOCA_SUCCESS;
        known += (known.empty() ? "" : ", ") + rep.name + " (" + rep.pci_address + ")";
    }
    LOG_ERR("the memory was exported by %s (%s), which is not behind %s (%s); behind it are %s", function, pci_address,
            importer.name.c_str(), importer.pci_address.c_str(), known.c_str());
    return DOCA_ERROR_NOT_PERMITTED;
}

/// Reads a byte, so that a range without memory is detected at the import and not at the first job.
doca_error_t probe(const ExporterProcess &process, const MemoryRange &range) noexcept
{
    std::byte byte;
    if (read_at_once(process.memory_fd(), &byte, range.addr, sizeof(byte)))
        return DOCA_SUCCESS;
    LOG_ERR("process %d has no memory at %p", process.pid(), static_cast<void *>(range.addr));
    return DOCA_ERROR_INVALID_VALUE;
}

/// Returns the alignment of mappings of a file: that of huge pages for hugetlbfs.
std::uint64_t mapping_alignment(int fd)
{
    struct statfs info {};
    if (fstatfs(fd, &info) == 0 && info.f_type == HUGETLBFS_MAGIC)
        return static_cast<std::uint64_t>(info.f_bsize);
    return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

doca_error_t RemoteMemory::import(std::span<const std::byte> bytes, const DeviceFunction &importer,
                                  std::unique_ptr<RemoteMemory> &memory)
{
    ExportDescriptor d{};
    if (const auto fault = from_bytes(bytes, DescriptorKind::soft_memory, d); fault != DescriptorReader::Fault::none) {
        LOG_ERR("these %zu bytes are no export descriptor of a memory map of the software device: %s", bytes.size(),
                to_text(fault));
        return DOCA_ERROR_INVALID_VALUE;
    }
    for (const EntryKind kind : {EntryKind::rdma_memory, EntryKind::dpu_memory}) {
        if (d.kind == static_cast<std::uint16_t>(kind))
            return import(d, kind, importer, memory);
    }
    return import(d, EntryKind::host_memory, importer, memory);
}

doca_error_t RemoteMemory::import(const ExportDescriptor &d, EntryKind wanted, const DeviceFunction &importer,
                                  std::unique_ptr<RemoteMemory> &memory)
{
    if (const doca_error_t status = check_fields(d); status != DOCA_SUCCESS)
        return status;
    if (d.kind != static_cast<std::uint16_t>(wanted)) {
        LOG_ERR("the export descriptor is of %s (%u), and one of %s is needed",
                text_of_kind(static_cast<EntryKind>(d.kind)), d.kind, text_of_kind(wanted));
        return DOCA_ERROR_INVALID_VALUE;
    }
    const bool is_across = wanted != EntryKind::rdma_memory;
    if (is_across && !importer.can.from_export_dpu) {
        LOG_ERR("device %s (%s) cannot import memory across the PCIe: %s", importer.name.c_str(),
                importer.pci_address.c_str(), importer.reason_against(Ability::import_memory).c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    std::unique_ptr<RemoteMemory> result(new RemoteMemory);
    if (const doca_error_t status = ExporterProcess::attach(d, result->process_); status != DOCA_SUCCESS)
        return status;
    result->shared_ = &result->process_->page().entries[d.entry];
    result->generation_ = d.generation;
    result->entry_ = d.entry;
    result->kind_ = wanted;
    Entry entry;
    // The nonce proves that the descriptor was made by this exporter for this export.
    if (!result->read_entry(entry) || std::memcmp(entry.nonce, d.nonce, sizeof(d.nonce)) != 0 || entry.kind != d.kind) {
        LOG_ERR("process %d does not export this memory, or not any more", result->process_->pid());
        return DOCA_ERROR_INVALID_VALUE;
    }
    result->function_id_ = function_id_of(entry.function, entry.pci_address);
    if (is_across) {
        const doca_error_t status = check_port(entry.function, entry.pci_address, importer);
        if (status != DOCA_SUCCESS)
            return status;
    }
    if (const doca_error_t status = result->make_accessible(entry); status != DOCA_SUCCESS)
        return status;
    memory = std::move(result);
    return DOCA_SUCCESS;
}

doca_error_t RemoteMemory::reach_receive(const std::shared_ptr<ExporterProcess> &process, std::uint32_t entry_number,
                                         std::uint64_t generation, std::unique_ptr<RemoteMemory> &memory)
{
    if (entry_number >= max_exports)
        return DOCA_ERROR_INVALID_VALUE;
    std::unique_ptr<RemoteMemory> result(new RemoteMemory);
    result->process_ = process;
    result->shared_ = &process->page().entries[entry_number];
    result->generation_ = generation;
    result->entry_ = entry_number;
    result->kind_ = EntryKind::receive;
    Entry entry;
    if (!result->read_entry(entry) || entry.kind != static_cast<std::uint16_t>(EntryKind::receive))
        return DOCA_ERROR_INVALID_VALUE;
    if (const doca_error_t status = result->make_accessible(entry); status != DOCA_SUCCESS)
        return status;
    memory = std::move(result);
    return DOCA_SUCCESS;
}

/// Returns false if the entry is not live, or was revoked meanwhile. The exporter can change the entry at any time:
/// only this copy is used.
bool RemoteMemory::read_entry(Entry &entry) const noexcept
{
    // The generation before and after the reads is the same, so the fields belong to one export.
    if ((generation_ & 1) == 0 || !is_live())
        return false;
    entry.addr = read_once(shared_->addr);
    entry.len = read_once(shared_->len);
    entry.access = read_once(shared_->access);
    entry.kind = read_once(shared_->kind);
    entry.fd = read_once(shared_->fd);
    entry.fd_device = read_once(shared_->fd_device);
    entry.fd_inode = read_once(shared_->fd_inode);
    entry.fd_offset = read_once(shared_->fd_offset);
    for (std::size_t i = 0; i < sizeof(entry.nonce); ++i)
        entry.nonce[i] = read_once(shared_->nonce[i]);
    copy_text(entry.function, shared_->function);
    copy_text(entry.pci_address, shared_->pci_address);
    return is_live();
}

doca_error_t RemoteMemory::make_accessible(const Entry &entry)
{
    range_ = {reinterpret_cast<std::byte *>(entry.addr), entry.len};
    access_ = entry.access;
    if (range_.len > UINTPTR_MAX - entry.addr)
        return DOCA_ERROR_INVALID_VALUE;
    doca_error_t status = DOCA_SUCCESS;
    if (kind_ == EntryKind::counter) {
        status = map_page(entry);
    } else if (process_->is_self() || try_map(entry)) {
        reach_ = Reach::mapped;
    } else {
        status = process_->open_memory();
        if (status == DOCA_SUCCESS)
            status = probe(*process_, range_);
    }
    if (status != DOCA_SUCCESS)
        return status;
    // Revoked while it was being mapped: the descriptor may refer to another object by now.
    if (!is_live()) {
        LOG_ERR("process %d stopped the export in the meantime", process_->pid());
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

/// Maps the page of a counter, to which all sides write.
doca_error_t RemoteMemory::map_page(const Entry &entry)
{
    const doca_error_t status = SealedPage::open(
        process_->pid(), entry.fd, {"sync event", range_.len, range_.len, SealedPage::Writers::all_named}, page_);
    if (status != DOCA_SUCCESS)
        return status;
    reach_ = Reach::mapped;
    shift_ = reinterpret_cast<std::uintptr_t>(page_->start()) - entry.addr;
    return DOCA_SUCCESS;
}

bool RemoteMemory::try_map(const Entry &entry)
{
    if (entry.fd < 0)
        return false;
    const UniqueFd found(open(DescriptorPath(process_->pid(), entry.fd).c_str(), O_PATH | O_CLOEXEC));
    struct stat info {};
    // O_PATH first: opening another kind of file could have effects, and blocks for some.
    if (!found.is_open() || fstat(found.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_dev != entry.fd_device || info.st_ino != entry.fd_inode)
        return false;
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (entry.fd_offset > size || entry.len > size - entry.fd_offset)
        return false;
    const bool is_writable = (entry.access & remote_writing_access) != 0;
    // O_NONBLOCK: does not wait for a process that holds a lease on the file.
    const UniqueFd fd(open(DescriptorPath(getpid(), found.get()).c_str(),
                           (is_writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
    if (!fd.is_open())
        return false;
    const std::uint64_t alignment = mapping_alignment(fd.get());
    const std::uint64_t lead = entry.fd_offset % alignment;
    if (entry.addr % alignment != lead)
        return false; // a mapping with another alignment is not of this kind, and cannot be reproduced here
    const std::uint64_t mapped_size = (lead + entry.len + alignment - 1) / alignment * alignment;
    void *const mapped = mmap(nullptr, mapped_size, is_writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                              fd.get(), static_cast<off_t>(entry.fd_offset - lead));
    if (mapped == MAP_FAILED)
        return false;
    mapping_ = mapped;
    mapping_size_ = mapped_size;
    shift_ = reinterpret_cast<std::uintptr_t>(mapped) + lead - entry.addr;
    return true;
}

RemoteMemory::~RemoteMemory()
{
    if (mapping_ != nullptr)
        munmap(mapping_, mapping_size_);
}

} // namespace opendoca::soft
