// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sealed_page.hpp"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../base/sealed_file.hpp"
#include "../../../log/log.hpp"
#include "../../../process/registry.hpp"
#include "process.hpp"
#include "reserve.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_PAGE);

namespace opendoca::soft {

namespace {

using Pages = Registry<std::pair<dev_t, ino_t>, SealedPage, LockRank::pages>;

constexpr SealedFor sealed_for(SealedPage::Writers writers) noexcept
{
    return writers == SealedPage::Writers::owner ? SealedFor::one_writer : SealedFor::all_writers;
}

} // namespace

SealedPage::~SealedPage()
{
    if (start_ == nullptr)
        return;
    munmap(start_, size_);
    Pages::instance().remove({device_, inode_});
}

doca_error_t SealedPage::map(int fd, Writers writers)
{
    // A shared lock, which is requested without waiting. The mapping keeps it after the descriptor is closed.
    if (writers == Writers::all_named && flock(fd, LOCK_SH | LOCK_NB) != 0) {
        const int error = errno;
        LOG_ERR("locking a memfd: %s", std::strerror(error));
        return error == EWOULDBLOCK ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_NO_MEMORY; // it is locked exclusively
    }
    const int access = writers == Writers::owner ? PROT_READ : PROT_READ | PROT_WRITE;
    void *const mapped = mmap(nullptr, size_, access, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        LOG_ERR("mapping %zu bytes of a memfd: %s", size_, std::strerror(errno));
        return DOCA_ERROR_NO_MEMORY;
    }
    start_ = mapped;
    return DOCA_SUCCESS;
}

doca_error_t SealedPage::make(const char *name, Writers writers)
{
    const auto fail = [&](const char *what, doca_error_t status) {
        if (errno == EBUSY)
            return DOCA_ERROR_AGAIN;
        LOG_ERR("%s the memfd '%s' of %zu bytes: %s", what, name, size_, std::strerror(errno));
        return status;
    };
    const SealedFor use = sealed_for(writers);
    fd_ = create_file_to_seal(name, size_, use);
    struct stat info {};
    if (!fd_.is_open() || fstat(fd_.get(), &info) != 0)
        return fail("creating", DOCA_ERROR_NO_MEMORY);
    const Writers own_access = writers == Writers::owner ? Writers::all : writers;
    if (const doca_error_t status = map(fd_.get(), own_access); status != DOCA_SUCCESS)
        return status;
    // A mapping that exists when this seal is set stays writable.
    if (!seal_file(fd_.get(), size_, use))
        return fail("sealing", DOCA_ERROR_OPERATING_SYSTEM);
    device_ = info.st_dev;
    inode_ = info.st_ino;
    return DOCA_SUCCESS;
}

doca_error_t SealedPage::create(const char *name, std::size_t size, Writers writers, std::shared_ptr<SealedPage> &page)
{
    for (int tries = 0; tries < max_tries_to_seal; ++tries) {
        const std::shared_ptr<SealedPage> created(new SealedPage);
        created->size_ = size;
        const doca_error_t status = created->make(name, writers);
        if (status == DOCA_ERROR_AGAIN)
            continue;
        if (status != DOCA_SUCCESS)
            return status;
        {
            Pages &pages = Pages::instance();
            const std::lock_guard guard(pages.lock);
            pages.add({created->device_, created->inode_}, created);
        }
        page = created;
        return DOCA_SUCCESS;
    }
    LOG_ERR("another process has opened or changed the memfd '%s' before it was sealed, %d times", name,
            max_tries_to_seal);
    return DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t SealedPage::open(pid_t pid, int fd, const Expected &expected, std::shared_ptr<SealedPage> &page)
{
    ReserveUse reserve;
    // Checked first by O_PATH: the file may be of any kind, and opening it could block or have effects.
    const UniqueFd found(reserve.open([&] { return ::open(DescriptorPath(pid, fd).c_str(), O_PATH | O_CLOEXEC); }));
    struct stat info {};
    if (!found.is_open() || fstat(found.get(), &info) != 0) {
        const int error = errno;
        if (error == ENOENT) {
            LOG_ERR("process %d has no %s at its descriptor %d", pid, expected.what, fd);
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (is_want(error)) {
            LOG_ERR("no descriptor or memory is left to open the %s of process %d", expected.what, pid);
            return DOCA_ERROR_NO_MEMORY;
        }
        LOG_ERR("can't open the %s of process %d: %s", expected.what, pid, explain_denial(pid, error).c_str());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (!S_ISREG(info.st_mode)) {
        LOG_ERR("descriptor %d of process %d is not a %s", fd, pid, expected.what);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (info.st_uid != geteuid()) {
        LOG_ERR("the %s of process %d belongs to user %u, this process to user %u", expected.what, pid, info.st_uid,
                geteuid());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    const bool is_writable = expected.writers != Writers::owner;
    // O_NONBLOCK: does not wait for a process that holds a lease on the file.
    const UniqueFd opened(reserve.open([&] {
        return ::open(DescriptorPath(getpid(), found.get()).c_str(),
                      (is_writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    }));
    const bool is_sealed = opened.is_open() && is_sealed_file(opened.get(), sealed_for(expected.writers), info);
    if (!is_sealed && is_want(errno)) {
        LOG_ERR("no descriptor or memory is left to open the %s of process %d", expected.what, pid);
        return DOCA_ERROR_NO_MEMORY;
    }
    if (!is_sealed) {
        LOG_ERR("descriptor %d of process %d is not a sealed %s", fd, pid, expected.what);
        return DOCA_ERROR_INVALID_VALUE;
    }
    const auto size = static_cast<std::size_t>(info.st_size);
    if (size < expected.smallest || size > expected.largest) {
        LOG_ERR("descriptor %d of process %d is not a %s of this version", fd, pid, expected.what);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Neither object is destroyed while the lock is held, since their destructors take it; not even if an allocation
    // fails.
    const std::shared_ptr<SealedPage> fresh(new SealedPage);
    std::shared_ptr<SealedPage> result;
    {
        Pages &pages = Pages::instance();
        const std::lock_guard guard(pages.lock);
        result = pages.find({info.st_dev, info.st_ino});
        if (result == nullptr) {
            result = fresh;
            result->size_ = size;
            result->device_ = info.st_dev;
            result->inode_ = info.st_ino;
            if (const doca_error_t status = result->map(opened.get(), expected.writers); status != DOCA_SUCCESS)
                return status;
            pages.add({info.st_dev, info.st_ino}, result);
        }
    }
    page = std::move(result);
    return DOCA_SUCCESS;
}

bool SealedPage::was_closed_by(pid_t pid, int fd) const noexcept
{
    struct stat info {};
    if (stat(DescriptorPath(pid, fd).c_str(), &info) == 0)
        return info.st_dev != device_ || info.st_ino != inode_;
    return errno == ENOENT && shows_descriptors(pid);
}

} // namespace opendoca::soft
