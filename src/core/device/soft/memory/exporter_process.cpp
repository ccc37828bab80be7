// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "importer.hpp"
#include "../process/directory.hpp"
#include "../process/process.hpp"
#include "../process/sealed_page.hpp"

#include "../../../log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_IMPORT);

namespace opendoca::soft {

namespace {

/// Lets exporters make this process's barriers for it.
bool register_for_membarrier() noexcept
{
    static const bool is_registered =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    return is_registered;
}

} // namespace

doca_error_t ExporterProcess::attach(const ExportDescriptor &d, std::shared_ptr<ExporterProcess> &process)
{
    using Key = std::tuple<std::uint32_t, std::uint64_t, std::int32_t, pid_t>;
    static auto *const lock = new std::mutex;
    static auto *const known = new std::map<Key, std::weak_ptr<ExporterProcess>>;
    const std::lock_guard guard(*lock);
    std::erase_if(*known, [](const auto &item) { return item.second.expired(); });
    auto &place = (*known)[{d.pid, d.start_time, d.page_fd, getpid()}];
    std::shared_ptr<ExporterProcess> found = place.lock();
    if (found != nullptr && found->is_gone()) {
        LOG_ERR("process %" PRIu32 ", which exported the memory, has ended", d.pid);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (found == nullptr) {
        found = std::shared_ptr<ExporterProcess>(new ExporterProcess);
        if (const doca_error_t status = found->open_page(d); status != DOCA_SUCCESS)
            return status;
        place = found;
    }
    process = std::move(found);
    return DOCA_SUCCESS;
}

doca_error_t ExporterProcess::open_page(const ExportDescriptor &d)
{
    if (d.pid_namespace != pid_namespace()) {
        LOG_ERR("the memory was exported in another PID namespace (%" PRIu64 ", here %" PRIu64
                     "), as that of "
                     "another container or machine: the software device can't reach there",
                     d.pid_namespace, pid_namespace());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    pid_ = static_cast<pid_t>(d.pid);
    is_self_ = pid_ == getpid();
    pidfd_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!pidfd_.is_open() || !is_running(pid_, d.start_time)) {
        LOG_ERR("process %d, which exported the memory, is not there any more", pid_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Where the main thread has ended, /proc/<pid> is empty but for what other threads have there.
    place_ =
        "/proc/" + (is_self_ ? "thread-self" : std::to_string(pid_)) + "/fd/" + std::to_string(d.page_fd);
    const UniqueFd found(open(place_.c_str(), O_PATH | O_CLOEXEC));
    if (!found.is_open()) {
        const int error = errno;
        if (error == ENOENT) {
            LOG_ERR("process %d exports no memory at its descriptor %d", pid_, d.page_fd);
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (is_ending(pidfd_.get())) {
            LOG_ERR("process %d, which exported the memory, has ended", pid_);
            return DOCA_ERROR_INVALID_VALUE;
        }
        LOG_ERR("can't open the exports of process %d: %s", pid_, explain_denial(pid_, error).c_str());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    struct stat info {};
    if (fstat(found.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
        static_cast<std::uint64_t>(info.st_size) != sizeof(ExportPage)) {
        LOG_ERR("descriptor %d of process %d is not a page of exports of this version", d.page_fd, pid_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (info.st_uid != geteuid()) {
        LOG_ERR("the exports of process %d belong to user %u, this process to user %u", pid_,
                     info.st_uid, geteuid());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    const std::string self = "/proc/thread-self/fd/" + std::to_string(found.get());
    const UniqueFd fd(open(self.c_str(), O_RDWR | O_CLOEXEC));
    if (!is_sealed(fd.get())) {
        LOG_ERR("descriptor %d of process %d is not a sealed page of exports", d.page_fd, pid_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = map_shared_page(fd.get(), sizeof(ExportPage), mapping_);
        status != DOCA_SUCCESS)
        return status;
    page_ = static_cast<ExportPage *>(mapping_.get());
    page_device_ = info.st_dev;
    page_inode_ = info.st_ino;
    if (std::memcmp(page_->magic, export_magic, sizeof(export_magic)) != 0 ||
        page_->version != export_version || page_->pid != d.pid || page_->start_time != d.start_time) {
        LOG_ERR("the page at descriptor %d of process %d is not its page of exports", d.page_fd, pid_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (is_self_) {
        // One mapping of the page in a process: thread sanitizers know memory by its address.
        if (const doca_error_t status = Exporter::instance(own_); status != DOCA_SUCCESS)
            return status;
        if (own_->page_fd() != d.page_fd) {
            LOG_ERR("descriptor %d is not this process's page of exports", d.page_fd);
            return DOCA_ERROR_INVALID_VALUE;
        }
        mapping_.reset();
        page_ = &own_->page();
    }
    needs_barrier_ = page_->has_membarrier == 0 || !register_for_membarrier();
    return DOCA_SUCCESS;
}

doca_error_t ExporterProcess::open_memory()
{
    static auto *const lock = new std::mutex;
    const std::lock_guard guard(*lock);
    if (memory_fd_.is_open())
        return DOCA_SUCCESS;
    const std::string path = "/proc/" + std::to_string(pid_) + "/mem";
    memory_fd_ = UniqueFd(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!memory_fd_.is_open()) {
        const int error = errno;
        if (is_ending(pidfd_.get())) {
            LOG_ERR("process %d, which exported the memory, has ended", pid_);
            return DOCA_ERROR_INVALID_VALUE;
        }
        LOG_ERR("can't open the memory of process %d: %s", pid_, explain_denial(pid_, error).c_str());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

ReaderSlot *ExporterProcess::take_slot() noexcept
{
    ReaderSlot *const slot = take_place(std::span<ReaderSlot>(page_->readers), [](ReaderSlot &taken) {
        taken.in_use.store(0, std::memory_order_relaxed);
    });
    if (slot == nullptr) {
        LOG_ERR("all %" PRIu32 " places for importing work queues of process %d are taken", max_readers,
                     pid_);
        return nullptr;
    }
    raise_to(page_->num_readers, static_cast<std::uint32_t>(slot - page_->readers) + 1);
    return slot;
}

void ExporterProcess::give_back(ReaderSlot &slot) noexcept
{
    give_back_place(slot);
}

bool ExporterProcess::is_gone_or_ending() const noexcept
{
    return is_marked_dead(life_sign()) && (has_exited() || is_ending(pidfd_.get()));
}

bool ExporterProcess::has_exited() const noexcept
{
    if (has_ended(pidfd_.get()))
        return true;
    // The page is close-on-exec: a program that was executed since does not hold it.
    struct stat info {};
    return stat(place_.c_str(), &info) != 0 || info.st_dev != page_device_ || info.st_ino != page_inode_;
}

} // namespace opendoca::soft
