// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "exporter.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <climits>
#include <cstring>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../log.hpp"
#include "../../../crc32.hpp"
#include "../process/process.hpp"
#include "../process/sealed_page.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_EXPORT);

namespace opendoca::soft {

namespace {

/// The function that the descriptor's reader checks: for the DPU one that is behind a port of it.
FunctionIdentity identity_for(ExportKind kind, const DeviceFunction &function)
{
    const bool is_for_dpu = kind != ExportKind::rdma && kind != ExportKind::receive;
    return is_for_dpu && function.behind_port ? *function.behind_port
                                              : FunctionIdentity{function.name, function.pci_address};
}

/// The kernel marks this lock's word when the thread that holds it ends. Nobody ever waits for it: it is only tried.
bool lock_alive_mark(pthread_mutex_t &mutex) noexcept
{
    return init_robust_lock(mutex) && pthread_mutex_trylock(&mutex) == 0;
}

} // namespace

doca_error_t Exporter::instance(std::shared_ptr<Exporter> &exporter)
{
    static auto *const lock = new std::mutex;
    static auto *const current = new std::shared_ptr<Exporter>;
    const std::lock_guard guard(*lock);
    if (*current == nullptr || (*current)->pid_ != static_cast<std::uint32_t>(getpid())) {
        std::shared_ptr<Exporter> fresh(new Exporter);
        if (const doca_error_t status = fresh->create_page(); status != DOCA_SUCCESS)
            return status;
        *current = std::move(fresh);
    }
    (*current)->keep_alive_mark();
    exporter = *current;
    return DOCA_SUCCESS;
}

Exporter::~Exporter()
{
    if (page_ != nullptr)
        munmap(page_, sizeof(ExportPage));
}

doca_error_t Exporter::create_page()
{
    Mapping mapping;
    if (const doca_error_t status = create_shared_page(export_page_name, sizeof(ExportPage), fd_, mapping);
        status != DOCA_SUCCESS)
        return status;
    page_ = static_cast<ExportPage *>(mapping.release()); // all zero: valid atomics and unused entries
    const auto start_time = process_start_time(getpid());
    if (!start_time || !lock_alive_mark(page_->alive)) {
        LOG_ERR("%s", start_time ? "the page's lock can't be taken" : "/proc/thread-self/stat can't be read");
        return DOCA_ERROR_DRIVER;
    }
    const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    has_membarrier_ = commands > 0 && (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0;
    pid_ = static_cast<std::uint32_t>(getpid());
    start_time_ = *start_time;
    std::memcpy(page_->magic, export_magic, sizeof(export_magic));
    page_->version = export_version;
    page_->pid = pid_;
    page_->start_time = start_time_;
    page_->size = sizeof(ExportPage);
    page_->has_membarrier = has_membarrier_;
    return DOCA_SUCCESS;
}

bool Exporter::take_entry(std::uint32_t &entry)
{
    free_entries_.reserve(num_entries_ + 1); // so that revoke() never allocates
    if (!free_entries_.empty()) {
        entry = free_entries_.back();
        free_entries_.pop_back();
        return true;
    }
    if (num_entries_ == max_exports) {
        LOG_ERR("%" PRIu32 " exports exist in this process, which is the limit", num_entries_);
        return false;
    }
    entry = num_entries_++;
    return true;
}

/// Takes the mark over when the thread that held it has ended.
void Exporter::keep_alive_mark() noexcept
{
    if (pthread_mutex_trylock(&page_->alive) == EOWNERDEAD)
        pthread_mutex_consistent(&page_->alive);
}

/// Lets other processes of this user read and write this one's memory under Yama's scope 1. Without Yama it fails, and is
/// not needed.
void Exporter::allow_access_under_yama() noexcept
{
    const std::lock_guard guard(lock_);
    if (!has_allowed_access_)
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    has_allowed_access_ = true;
}

doca_error_t Exporter::publish(const Memory &memory, std::vector<std::byte> &descriptor,
                               std::unique_ptr<Ticket> &ticket)
{
    std::shared_ptr<Exporter> exporter;
    if (const doca_error_t status = instance(exporter); status != DOCA_SUCCESS)
        return status;
    ExportDescriptor d{};
    if (getrandom(d.nonce, sizeof(d.nonce), 0) != sizeof(d.nonce)) {
        LOG_ERR("getrandom: %s", std::strerror(errno));
        return DOCA_ERROR_DRIVER;
    }
    constexpr std::uint32_t writing = DOCA_ACCESS_DPU_READ_WRITE | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;
    auto shared = find_shared_object(memory.range, (memory.access & writing) != 0);
    if (!shared)
        exporter->allow_access_under_yama();
    const FunctionIdentity identity = identity_for(memory.kind, memory.function);
    SharedObject object = shared ? std::move(*shared) : SharedObject{};
    descriptor.resize(sizeof(d));

    std::uint32_t number = 0;
    {
        const std::lock_guard guard(exporter->lock_);
        if (!exporter->take_entry(number))
            return DOCA_ERROR_NO_MEMORY;
    }
    ExportEntry &entry = exporter->page_->entries[number];
    entry.addr = reinterpret_cast<std::uintptr_t>(memory.range.addr);
    entry.len = memory.range.len;
    entry.access = memory.access;
    entry.kind = static_cast<std::uint16_t>(memory.kind);
    entry.fd = object.fd.get();
    entry.fd_device = object.device;
    entry.fd_inode = object.inode;
    entry.fd_offset = object.offset;
    std::memcpy(entry.nonce, d.nonce, sizeof(d.nonce));
    std::strncpy(entry.function, identity.name.c_str(), sizeof(entry.function) - 1);
    std::strncpy(entry.pci_address, identity.pci_address.c_str(), sizeof(entry.pci_address) - 1);
    const std::uint64_t generation = entry.generation.load(std::memory_order_relaxed) + 1;
    entry.generation.store(generation, std::memory_order_release); // the fields above are seen with it

    std::memcpy(d.magic, export_magic, sizeof(d.magic));
    d.version = export_version;
    d.size = sizeof(d);
    d.pid = exporter->pid_;
    d.page_fd = exporter->fd_.get();
    d.start_time = exporter->start_time_;
    d.pid_namespace = pid_namespace();
    d.generation = generation;
    d.entry = number;
    d.kind = static_cast<std::uint16_t>(memory.kind);
    d.checksum = crc32(&d, offsetof(ExportDescriptor, checksum));
    std::memcpy(descriptor.data(), &d, sizeof(d));
    ticket = std::make_unique<Ticket>(std::move(exporter), number, std::move(object));
    return DOCA_SUCCESS;
}

void Exporter::revoke(std::uint32_t number) noexcept
{
    if (pid_ != static_cast<std::uint32_t>(getpid()))
        return; // a forked child's copy of an object of its parent
    ExportEntry &entry = page_->entries[number];
    // Pairs with an importer's order "slot, then generation": after the barrier either its slot is seen here, or the
    // new generation there.
    entry.generation.fetch_add(1, std::memory_order_seq_cst);
    if (has_membarrier_)
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    wait_for_readers(number);
    const std::lock_guard guard(lock_);
    free_entries_.push_back(number);
}

void Exporter::wait_for_readers(std::uint32_t number) noexcept
{
    using Clock = std::chrono::steady_clock;
    const std::uint32_t mark = number + 1;
    const std::uint32_t num_readers = std::min(page_->num_readers.load(std::memory_order_seq_cst), max_readers);
    for (ReaderSlot &slot : std::span(page_->readers, num_readers)) {
        const Clock::time_point start = Clock::now();
        bool was_reported = false;
        for (;;) {
            const std::uint32_t owner = slot.owner.load(std::memory_order_acquire);
            // Acquire: what the importer did to the memory happened before.
            const std::uint32_t in_use = slot.in_use.load(std::memory_order_seq_cst);
            if ((in_use & 0xffff) != mark && in_use >> 16 != mark)
                break;
            const std::uint64_t started = slot.started.load(std::memory_order_acquire);
            if (owner != 0 && started != 0 && !is_running(static_cast<pid_t>(owner), started)) {
                slot.in_use.store(0, std::memory_order_relaxed); // died in the middle
                slot.started.store(0, std::memory_order_relaxed);
                slot.owner.store(0, std::memory_order_release);
                break;
            }
            if (!was_reported && Clock::now() - start > std::chrono::seconds(1)) {
                LOG_WARN("waiting for process %" PRIu32 ", which is in the middle of a copy of exported memory",
                              owner);
                was_reported = true;
            }
            // The importer wakes us when it leaves; the limit is there for one that dies.
            const timespec limit = {0, 10'000'000};
            syscall(SYS_futex, &slot.in_use, FUTEX_WAIT, in_use, &limit, nullptr, 0);
        }
    }
}

} // namespace opendoca::soft
