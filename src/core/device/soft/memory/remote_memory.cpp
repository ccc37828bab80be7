// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../../../log.hpp"
#include "../../../crc32.hpp"
#include "../connection/endpoint.hpp"
#include "importer.hpp"
#include "../process/process.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_REMOTE);

namespace opendoca::soft {

namespace {

const char *what_is_of(ExportKind kind) noexcept
{
    switch (kind) {
    case ExportKind::dpu:
    case ExportKind::rdma:
        return "a memory map";
    case ExportKind::receive:
        return "a receive";
    case ExportKind::counter:
        return "a sync event";
    case ExportKind::counter_word:
        return "a sync event's word";
    }
    return "an unknown kind";
}

/// Without @p wanted, any kind of a memory map is.
bool is_wanted(ExportKind kind, std::optional<ExportKind> wanted) noexcept
{
    return wanted ? kind == *wanted : kind == ExportKind::dpu || kind == ExportKind::rdma;
}

doca_error_t read_descriptor(std::span<const std::byte> bytes, std::optional<ExportKind> wanted,
                             ExportDescriptor &d)
{
    if (bytes.size() < sizeof(d)) {
        LOG_ERR("an export descriptor has %zu bytes, this one %zu", sizeof(d), bytes.size());
        return DOCA_ERROR_INVALID_VALUE;
    }
    std::memcpy(&d, bytes.data(), sizeof(d));
    if (std::memcmp(d.magic, export_magic, sizeof(d.magic)) != 0) {
        LOG_ERR("these %zu bytes are not an export descriptor of opendoca's software device",
                     bytes.size());
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (d.version != export_version || d.size != sizeof(d)) {
        LOG_ERR("the export descriptor has version %" PRIu32 " and %" PRIu32
                     " bytes; this library reads version "
                     "%" PRIu32 " with %zu bytes",
                     d.version, d.size, export_version, sizeof(d));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (d.checksum != crc32(&d, offsetof(ExportDescriptor, checksum))) {
        LOG_ERR("the export descriptor is damaged: its checksum does not match");
        return DOCA_ERROR_INVALID_VALUE;
    }
    const auto kind = static_cast<ExportKind>(d.kind);
    if (!is_wanted(kind, wanted)) {
        LOG_ERR("the export descriptor is of %s (%u), and one of %s is needed", what_is_of(kind), d.kind,
                     what_is_of(wanted.value_or(ExportKind::dpu)));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (d.entry >= max_exports || d.page_fd < 0 || d.pid == 0 || d.pid > INT32_MAX) {
        LOG_ERR("the export descriptor names entry %" PRIu32 " at descriptor %" PRId32
                     " of process %" PRIu32,
                     d.entry, d.page_fd, d.pid);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

/// A host's function must be one of those behind the importing DPU port.
doca_error_t check_port(const char *function, const char *pci_address, const DeviceFunction &importer)
{
    std::string known;
    for (const auto &rep : importer.representors()) {
        if (rep.name == function && rep.pci_address == pci_address)
            return DOCA_SUCCESS;
        known += (known.empty() ? "" : ", ") + rep.name + " (" + rep.pci_address + ")";
    }
    LOG_ERR("the memory was exported by %s (%s), which is not behind %s (%s); behind it are %s",
                 function, pci_address, importer.name.c_str(), importer.pci_address.c_str(), known.c_str());
    return DOCA_ERROR_NOT_PERMITTED;
}

/// Reads a byte, to learn now and not at the first job whether the kernel allows it.
doca_error_t probe(const ExporterProcess &process, const MemoryRange &range)
{
    std::byte probe;
    const iovec local = {&probe, 1};
    const iovec remote = {range.addr, 1};
    if (process_vm_readv(process.pid(), &local, 1, &remote, 1, 0) == 1)
        return DOCA_SUCCESS;
    const int error = errno;
    if (error == EFAULT || error == ESRCH) {
        LOG_ERR("process %d has no memory at %p", process.pid(), static_cast<void *>(range.addr));
        return DOCA_ERROR_INVALID_VALUE;
    }
    LOG_ERR("can't read the memory of process %d: %s", process.pid(),
                 explain_denial(process.pid(), error).c_str());
    return DOCA_ERROR_NOT_PERMITTED;
}

std::uint64_t mapping_alignment(int fd)
{
    struct statfs info {};
    if (fstatfs(fd, &info) == 0 && info.f_type == HUGETLBFS_MAGIC)
        return static_cast<std::uint64_t>(info.f_bsize);
    return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

doca_error_t RemoteMemory::import(std::span<const std::byte> bytes, const DeviceFunction &importer,
                                  std::unique_ptr<RemoteMemory> &memory, std::optional<ExportKind> wanted)
{
    ExportDescriptor d;
    if (const doca_error_t status = read_descriptor(bytes, wanted, d); status != DOCA_SUCCESS)
        return status;
    const bool to_dpu = d.kind != static_cast<std::uint16_t>(ExportKind::rdma);
    if (to_dpu && !importer.can.from_export_dpu) {
        LOG_ERR("device %s (%s) cannot import memory that was exported to a DPU", importer.name.c_str(),
                     importer.pci_address.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    std::unique_ptr<RemoteMemory> result(new RemoteMemory);
    if (const doca_error_t status = ExporterProcess::attach(d, result->process_); status != DOCA_SUCCESS)
        return status;
    const ExportEntry &entry = result->process_->page().entries[d.entry];
    result->shared_ = &entry;
    result->generation_ = d.generation;
    result->entry_ = d.entry;
    if ((d.generation & 1) == 0 || !result->is_live() ||
        std::memcmp(entry.nonce, d.nonce, sizeof(d.nonce)) != 0 || entry.kind != d.kind) {
        LOG_ERR("process %d does not export this memory, or not any more", result->process_->pid());
        return DOCA_ERROR_INVALID_VALUE;
    }
    const std::string function(entry.function, strnlen(entry.function, sizeof(entry.function)));
    const std::string address(entry.pci_address, strnlen(entry.pci_address, sizeof(entry.pci_address)));
    result->function_id_ = function_id_of(function.c_str(), address.c_str());
    if (to_dpu) {
        const doca_error_t status = check_port(function.c_str(), address.c_str(), importer);
        if (status != DOCA_SUCCESS)
            return status;
    }
    result->kind_ = static_cast<ExportKind>(d.kind);
    if (const doca_error_t status = result->reach_for(entry); status != DOCA_SUCCESS)
        return status;
    memory = std::move(result);
    return DOCA_SUCCESS;
}

doca_error_t RemoteMemory::reach_receive(const std::shared_ptr<ExporterProcess> &process,
                                         std::uint32_t entry_number, std::uint64_t generation,
                                         std::unique_ptr<RemoteMemory> &memory)
{
    if (entry_number >= max_exports)
        return DOCA_ERROR_INVALID_VALUE;
    const ExportEntry &entry = process->page().entries[entry_number];
    std::unique_ptr<RemoteMemory> result(new RemoteMemory);
    result->process_ = process;
    result->shared_ = &entry;
    result->generation_ = generation;
    result->entry_ = entry_number;
    result->kind_ = ExportKind::receive;
    if ((generation & 1) == 0 || !result->is_live() ||
        entry.kind != static_cast<std::uint16_t>(ExportKind::receive))
        return DOCA_ERROR_INVALID_VALUE;
    if (const doca_error_t status = result->reach_for(entry); status != DOCA_SUCCESS)
        return status;
    memory = std::move(result);
    return DOCA_SUCCESS;
}

doca_error_t RemoteMemory::reach_for(const ExportEntry &entry)
{
    range_ = {reinterpret_cast<std::byte *>(entry.addr), entry.len};
    access_ = entry.access;
    if (range_.len > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(range_.addr))
        return DOCA_ERROR_INVALID_VALUE;
    if (process_->is_self() || try_map(entry)) {
        reach_ = Reach::mapped;
    } else {
        doca_error_t status = process_->open_memory();
        if (status == DOCA_SUCCESS)
            status = probe(*process_, range_);
        if (status != DOCA_SUCCESS)
            return status;
    }
    if (!is_live()) {
        LOG_ERR("process %d stopped the export in the meantime", process_->pid());
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

bool RemoteMemory::try_map(const ExportEntry &entry)
{
    if (entry.fd < 0)
        return false;
    const std::string place = "/proc/" + std::to_string(process_->pid()) + "/fd/" + std::to_string(entry.fd);
    const UniqueFd found(open(place.c_str(), O_PATH | O_CLOEXEC));
    struct stat info {};
    if (!found.is_open() || fstat(found.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_dev != entry.fd_device || info.st_ino != entry.fd_inode)
        return false;
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (entry.fd_offset > size || entry.len > size - entry.fd_offset)
        return false;
    constexpr std::uint32_t writing =
        DOCA_ACCESS_DPU_READ_WRITE | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;
    const bool is_writable = (entry.access & writing) != 0;
    const std::string self = "/proc/thread-self/fd/" + std::to_string(found.get());
    const UniqueFd fd(open(self.c_str(), (is_writable ? O_RDWR : O_RDONLY) | O_CLOEXEC));
    if (!fd.is_open())
        return false;
    // Only a program's own memory may shrink under its users.
    if (kind_ == ExportKind::counter && !is_sealed(fd.get()))
        return false;
    const std::uint64_t alignment = mapping_alignment(fd.get());
    const std::uint64_t lead = entry.fd_offset % alignment;
    const std::uint64_t mapped_size = (lead + entry.len + alignment - 1) / alignment * alignment;
    void *const mapped = mmap(nullptr, mapped_size, is_writable ? PROT_READ | PROT_WRITE : PROT_READ,
                              MAP_SHARED, fd.get(), static_cast<off_t>(entry.fd_offset - lead));
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
