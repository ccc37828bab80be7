// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../../log/log.hpp"
#include "../../../process/fork.hpp"
#include "../../../process/registry.hpp"
#include "../process/directory.hpp"
#include "../process/reserve.hpp"
#include "../strict/strict.hpp"
#include "importer.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_IMPORT);

namespace opendoca::soft {

namespace {

/// Between two checks by system calls: see ExporterProcess::is_gone().
constexpr std::int64_t min_nanoseconds_between_checks = 20'000;

std::int64_t now() noexcept
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

} // namespace

doca_error_t ExporterProcess::attach(const ExporterAddress &address, std::shared_ptr<ExporterProcess> &process)
{
    // Both are declared before the lock: their destructors take it.
    const std::shared_ptr<ExporterProcess> fresh(new ExporterProcess);
    std::shared_ptr<ExporterProcess> found;
    const Key key{address.pid, address.start_time, address.page_fd, getpid()};
    {
        auto &processes = Registry<Key, ExporterProcess, LockRank::processes>::instance();
        const std::lock_guard guard(processes.lock);
        found = processes.find(key);
        if (found != nullptr && found->is_gone()) {
            // A process that has ended stays in the registry while something is imported from it: it is not reused.
            LOG_ERR("process %" PRIu32 ", which exported the memory, has ended", address.pid);
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (found == nullptr) {
            found = fresh;
            if (const doca_error_t status = found->open_pages(address); status != DOCA_SUCCESS)
                return status;
            processes.add(key, found);
            found->key_ = key;
        }
    }
    process = std::move(found);
    return DOCA_SUCCESS;
}

ExporterProcess::~ExporterProcess()
{
    Registry<Key, ExporterProcess, LockRank::processes>::instance().remove(key_);
}

doca_error_t ExporterProcess::open_pages(const ExporterAddress &address)
{
    if (address.pid_namespace != pid_namespace()) {
        LOG_ERR("the memory was exported in another PID namespace (%" PRIu64 ", here %" PRIu64
                "), as that of another container or machine: the software device can't reach there",
                address.pid_namespace, pid_namespace());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    ProcessId self; // importers register in the hazard page by their process id
    if (const doca_error_t status = ProcessId::find_out(self); status != DOCA_SUCCESS)
        return status;
    DescriptorReserve::fill();
    pid_ = static_cast<pid_t>(address.pid);
    page_fd_ = address.page_fd;
    is_self_ = pid_ == getpid();
    doca_error_t status = watch_.open(ProcessId(pid_, address.start_time));
    if (status == DOCA_ERROR_INVALID_VALUE)
        LOG_ERR("process %d, which exported the memory, is not there any more", pid_);
    if (status != DOCA_SUCCESS)
        return status;
    const auto explain = [this](doca_error_t error) {
        if (error != DOCA_ERROR_NOT_PERMITTED || !watch_.is_ending())
            return error;
        LOG_ERR("process %d, which exported the memory, has ended", pid_);
        return DOCA_ERROR_INVALID_VALUE;
    };
    status = SealedPage::open(
        pid_, page_fd_, {"page of exports", sizeof(ExportPage), sizeof(ExportPage), SealedPage::Writers::owner}, page_);
    if (status != DOCA_SUCCESS)
        return explain(status);
    if (std::memcmp(page().magic, export_magic, sizeof(export_magic)) != 0 || page().version != export_version ||
        page().pid != address.pid || page().start_time != address.start_time) {
        LOG_ERR("the page at descriptor %d of process %d is not its page of exports", page_fd_, pid_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    status = SealedPage::open(
        pid_, page().hazard_page_fd,
        {"page of hazard pointers", sizeof(HazardPage), sizeof(HazardPage), SealedPage::Writers::all_named},
        hazard_page_);
    if (status != DOCA_SUCCESS)
        return explain(status);
    guard_ = reinterpret_cast<void *>(page().guard_addr);
    // Both sides must take part in membarrier(): the exporter executes it, this process registers for it.
    needs_barrier_ = page().has_membarrier == 0 || !allow_barriers_by_others();
    return DOCA_SUCCESS;
}

static constinit ForkSafeMutex memory_lock;
static const ForkRegistration memory_lock_registration(memory_lock, LockRank::numbers);

doca_error_t ExporterProcess::open_memory()
{
    const std::lock_guard guard(memory_lock);
    if (memory_fd_.is_open())
        return DOCA_SUCCESS;
    const std::string path = "/proc/" + std::to_string(pid_) + "/mem";
    // Kept open, so the descriptor reserve is not used for it.
    UniqueFd opened(open(path.c_str(), O_RDWR | O_CLOEXEC));
    const int error = errno;
    if (!opened.is_open() && (error == EMFILE || error == ENFILE || error == ENOMEM)) {
        LOG_ERR("can't open the memory of process %d: %s", pid_, std::strerror(error));
        return DOCA_ERROR_NO_MEMORY;
    }
    // The page is still open there, so this is the memory of the program that has exported.
    if (!opened.is_open() || has_exited()) {
        if (watch_.is_ending() || opened.is_open()) {
            LOG_ERR("process %d, which exported the memory, has ended", pid_);
            return DOCA_ERROR_INVALID_VALUE;
        }
        LOG_ERR("can't open the memory of process %d: %s", pid_, explain_denial(pid_, error).c_str());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    memory_fd_ = std::move(opened);
    return DOCA_SUCCESS;
}

HazardPointer *ExporterProcess::take_hazard_pointer() noexcept
{
    HazardPointer *const pointer = hazards().take();
    if (pointer == nullptr) {
        LOG_ERR("all %" PRIu32 " hazard pointers for importing work queues of process %d are taken",
                max_hazard_pointers, pid_);
        return nullptr;
    }
    if (is_self_)
        OwnHazardPointers::add(hazards().index_of(*pointer));
    return pointer;
}

void ExporterProcess::release_hazard_pointer(HazardPointer &pointer) noexcept
{
    if (is_self_ && pid_ == getpid()) // a forked child's copy: the pointers belong to the parent
        OwnHazardPointers::remove(hazards().index_of(pointer));
    release_entry(pointer);
}

bool ExporterProcess::is_gone_or_ending() const noexcept
{
    return is_marked_dead(liveness()) && (has_exited() || watch_.is_ending());
}

bool ExporterProcess::check_gone_rate_limited() const noexcept
{
    if (is_gone_.load(std::memory_order_relaxed))
        return true;
    // Relaxed: a reader that finds an older time makes one system call more; nothing else depends on it.
    const std::int64_t time = now();
    const bool was_checked = time - alive_at_.load(std::memory_order_relaxed) < min_nanoseconds_between_checks;
    const bool checks_each_time = checks_each_time_.load(std::memory_order_relaxed);
    if (was_checked && !checks_each_time)
        return false;
    if (has_exited()) {
        if (checks_each_time)
            LOG_INFO("process %d has ended, and its memory is refused at once%s", pid_,
                     suffix_of(StrictRule::ended_process));
        return true;
    }
    alive_at_.store(time, std::memory_order_relaxed);
    return false;
}

bool ExporterProcess::has_exited() const noexcept
{
    // The page is close-on-exec: a program that the process has executed since does not have it open.
    if (!watch_.has_ended() && !page_->was_closed_by(pid_, page_fd_))
        return false;
    is_gone_.store(true, std::memory_order_relaxed);
    return true;
}

} // namespace opendoca::soft
