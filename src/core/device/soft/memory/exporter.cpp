// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "exporter.hpp"

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <utility>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../log/log.hpp"
#include "../../../process/fork.hpp"
#include "../process/process.hpp"
#include "../process/reserve.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_EXPORT);

namespace opendoca::soft {

namespace {

/// Initialises the lock and takes it. The kernel marks its word when the thread that holds it ends. No thread ever
/// waits for the lock: it is only tried.
bool lock_alive_mark(pthread_mutex_t &mutex) noexcept
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    const bool is_made = pthread_mutex_init(&mutex, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    return is_made && pthread_mutex_trylock(&mutex) == 0;
}

/// Fills @p value with random bytes. Logs a failure.
template <typename T>
[[nodiscard]] bool fill_at_random(T &value) noexcept
{
    if (getrandom(&value, sizeof(value), 0) == sizeof(value))
        return true;
    LOG_ERR("getrandom: %s", std::strerror(errno));
    return false;
}

} // namespace

static constinit ForkSafeMutex instance_lock;
static const ForkRegistration instance_lock_registration(instance_lock, LockRank::exporters);

doca_error_t Exporter::instance(std::shared_ptr<Exporter> &exporter)
{
    // Guarded by the lock; never destroyed, as exports may outlive static objects.
    static auto *const current = new std::shared_ptr<Exporter>;
    const std::lock_guard guard(instance_lock);
    // After a fork the parent's pages are not the child's: it gets new ones.
    if (*current == nullptr || (*current)->self_.pid() != getpid()) {
        std::shared_ptr<Exporter> fresh(new Exporter);
        if (const doca_error_t status = fresh->create_pages(); status != DOCA_SUCCESS)
            return status;
        *current = std::move(fresh);
    }
    (*current)->keep_alive_mark();
    exporter = *current;
    return DOCA_SUCCESS;
}

Exporter::~Exporter()
{
    if (guard_ != nullptr)
        munmap(guard_, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
}

doca_error_t Exporter::create_pages()
{
    free_entries_ = std::make_unique_for_overwrite<std::uint32_t[]>(max_exports);
    ProcessId self;
    doca_error_t status = ProcessId::find_out(self);
    if (status == DOCA_SUCCESS)
        status = SealedPage::create(export_page_name, sizeof(ExportPage), SealedPage::Writers::owner, page_);
    if (status == DOCA_SUCCESS)
        status = SealedPage::create(hazard_page_name, sizeof(HazardPage), SealedPage::Writers::all_named, hazard_page_);
    if (status == DOCA_SUCCESS)
        status = create_guard();
    if (status != DOCA_SUCCESS)
        return status;
    DescriptorReserve::fill();
    OwnHazardPointers::clear();
    ExportPage &shared = page(); // all zero: valid atomics and unused entries
    if (!lock_alive_mark(shared.alive)) {
        LOG_ERR("the page's lock can't be taken");
        return DOCA_ERROR_DRIVER;
    }
    std::memcpy(shared.magic, export_magic, sizeof(export_magic));
    shared.version = export_version;
    shared.pid = static_cast<std::uint32_t>(self.pid());
    shared.start_time = self.start_time();
    shared.size = sizeof(ExportPage);
    shared.hazard_page_fd = hazard_page_->fd();
    shared.has_membarrier = can_make_barriers();
    shared.guard_addr = reinterpret_cast<std::uintptr_t>(guard_);
    self_ = self;
    return DOCA_SUCCESS;
}

/// Maps the guard at a random address.
doca_error_t Exporter::create_guard() noexcept
{
    const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (int tries = 0; tries < 64; ++tries) {
        std::uintptr_t addr = 0;
        if (!fill_at_random(addr))
            return DOCA_ERROR_DRIVER;
        // Kernels give programs 39 bits of addresses or more, and sanitizers occupy most of the lower ones.
        addr &= (std::uintptr_t{1} << (46 - tries % 8)) - size;
        void *const wanted = reinterpret_cast<void *>(addr);
        // By the system call: thread sanitizers would change the address.
        void *const mapped = reinterpret_cast<void *>(syscall(
            SYS_mmap, wanted, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
        if (mapped == MAP_FAILED)
            continue; // occupied, or out of range
        guard_ = mapped;
        // A forked child is another process: it must not have the guard.
        if (mapped == wanted && madvise(mapped, size, MADV_DONTFORK) == 0)
            return DOCA_SUCCESS;
        munmap(std::exchange(guard_, nullptr), size);
    }
    LOG_ERR("no page can be mapped at a random address: %s", std::strerror(errno));
    return DOCA_ERROR_NO_MEMORY;
}

ExporterAddress Exporter::address() const noexcept
{
    return {page().pid, page_->fd(), page().start_time, pid_namespace()};
}

bool Exporter::take_entry(std::uint32_t &entry) noexcept
{
    const std::lock_guard guard(lock_);
    if (num_free_ != 0) {
        entry = free_entries_[--num_free_];
        return true;
    }
    if (num_entries_ == max_exports) {
        LOG_ERR("%" PRIu32 " exports exist in this process, which is the limit", num_entries_);
        return false;
    }
    entry = num_entries_++;
    return true;
}

/// Takes the lock again if the thread that held it has ended, so that the mark means the end of the process.
void Exporter::keep_alive_mark() noexcept
{
    if (pthread_mutex_trylock(&page().alive) == EOWNERDEAD)
        pthread_mutex_consistent(&page().alive);
}

/// Lets other processes of this user access this one's memory under Yama's scope 1. Without Yama the call fails, and is
/// not needed.
void Exporter::allow_access_under_yama() noexcept
{
    const std::lock_guard guard(lock_);
    if (!has_allowed_access_)
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    has_allowed_access_ = true;
}

doca_error_t Exporter::publish(const Memory &memory, std::unique_ptr<Export> &published)
{
    std::shared_ptr<Exporter> exporter;
    if (const doca_error_t status = instance(exporter); status != DOCA_SUCCESS)
        return status;
    std::uint32_t number = 0;
    if (!exporter->take_entry(number))
        return DOCA_ERROR_NO_MEMORY;
    // Nothing after this allocates: a live export always has an owner that can revoke it.
    std::unique_ptr<Export> created;
    try {
        created.reset(new Export(exporter, number));
    } catch (...) {
        exporter->end(number);
        throw;
    }
    ExportDescriptor &d = created->descriptor_;
    if (!fill_at_random(d.nonce))
        return DOCA_ERROR_DRIVER;
    ExportEntry &entry = exporter->page().entries[number];
    entry.fd = -1;
    if (memory.page != nullptr) {
        entry.fd = memory.page->fd();
        // Memory of a shared object is mapped by importers, and all other memory is copied by the kernel.
    } else if (auto object = find_shared_object(memory.range, (memory.access & remote_writing_access) != 0)) {
        entry.fd = object->fd.get();
        entry.fd_device = object->device;
        entry.fd_inode = object->inode;
        entry.fd_offset = object->offset;
        created->object_ = std::move(*object);
    } else {
        exporter->allow_access_under_yama();
    }
    // The entry is not live yet, so its fields may be written one by one.
    entry.addr = reinterpret_cast<std::uintptr_t>(memory.range.addr);
    entry.len = memory.range.len;
    entry.access = memory.access;
    entry.kind = static_cast<std::uint16_t>(memory.kind);
    std::memcpy(entry.nonce, d.nonce, sizeof(d.nonce));
    std::strncpy(entry.function, memory.function.name.c_str(), sizeof(entry.function) - 1);
    std::strncpy(entry.pci_address, memory.function.pci_address.c_str(), sizeof(entry.pci_address) - 1);
    static_cast<ExporterAddress &>(d) = exporter->address();
    d.generation = entry.generation.load(std::memory_order_relaxed) + 1;
    d.entry = number;
    d.kind = entry.kind;
    // Release: pairs with the first is_live() in RemoteMemory::read_entry(), after which the fields are visible.
    entry.generation.store(d.generation, std::memory_order_release);
    published = std::move(created);
    return DOCA_SUCCESS;
}

void Exporter::end(std::uint32_t number) noexcept
{
    if (self_.pid() != getpid())
        return; // a forked child's copy of an object of its parent
    std::atomic<std::uint64_t> &generation = page().entries[number].generation;
    // An entry that never became live is only freed.
    if ((generation.load(std::memory_order_relaxed) & 1) != 0)
        static_cast<HazardPage *>(hazard_page_->start())->revoke(generation, number);
    const std::lock_guard guard(lock_);
    free_entries_[num_free_++] = number;
}

} // namespace opendoca::soft
