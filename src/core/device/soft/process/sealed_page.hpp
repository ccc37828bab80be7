// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory that processes share: memfds of a size that is sealed, see src/core/base/sealed_file.hpp. Other processes of
// the same user open them by the owner's /proc/<pid>/fd/<n>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <sys/mman.h>
#include <sys/types.h>

#include <doca_error.h>

#include "../../../base/unique_fd.hpp"

namespace opendoca::soft {

/// A mapped page of shared memory, of this process or of another. A process maps each page only once, however many
/// users it has: thread sanitizers identify memory by its address, and so see the accesses' order.
class SealedPage {
public:
    /// The processes that may write to the page. `owner`: the kernel prevents all others. `all_named`: users of the
    /// page wait for each other, so each holds a file lock on it, which shows processes that may not read its maps that
    /// it has the page mapped (see mapping.hpp). Few pages are of this kind, because the kernel's list of locks is read
    /// as a whole.
    enum class Writers : std::uint8_t { owner, all, all_named };

    /// Creates a page of @p size bytes, all zero. NO_MEMORY. OPERATING_SYSTEM: it cannot be sealed, or another process
    /// has opened or changed each of several pages before.
    [[nodiscard]] static doca_error_t create(const char *name, std::size_t size, Writers writers,
                                             std::shared_ptr<SealedPage> &page);

    /// The expected properties of a page that is opened.
    struct Expected {
        const char *what; ///< the page's name in messages, such as "page of exports"
        std::size_t smallest;
        std::size_t largest;
        Writers writers = Writers::all;
    };
    /// Opens the page at descriptor @p fd of process @p pid, which may be this one. INVALID_VALUE: there is no such
    /// page. NOT_PERMITTED: the kernel refuses, or the page belongs to another user. NO_MEMORY: descriptors or memory
    /// have run out; a retry may succeed. The caller must check the page's contents.
    [[nodiscard]] static doca_error_t open(pid_t pid, int fd, const Expected &expected,
                                           std::shared_ptr<SealedPage> &page);

    SealedPage(const SealedPage &) = delete;
    SealedPage &operator=(const SealedPage &) = delete;
    ~SealedPage();

    /// Keeps this process from taking huge pages where it touches the memory first. Has no effect where it can't.
    void use_small_pages() const noexcept { (void)madvise(start_, size_, MADV_NOHUGEPAGE); }

    [[nodiscard]] void *start() const noexcept { return start_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// The descriptor by which other processes open the page; not open for a page of another process.
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    /// Returns true only if descriptor @p fd of process @p pid, which runs, certainly is not this page any more.
    [[nodiscard]] bool was_closed_by(pid_t pid, int fd) const noexcept;

private:
    SealedPage() = default;

    /// Makes the file and its mapping, and seals it. AGAIN: another process has opened or changed the file before.
    [[nodiscard]] doca_error_t make(const char *name, Writers writers);
    [[nodiscard]] doca_error_t map(int fd, Writers writers);

    UniqueFd fd_;
    void *start_ = nullptr;
    std::size_t size_ = 0;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

} // namespace opendoca::soft
