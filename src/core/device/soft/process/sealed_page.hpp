// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory that processes share: memfds of a size that is sealed, see ../../../sealed_file.hpp. Others of the same user
// open them by the owner's /proc/<pid>/fd/<n>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <sys/types.h>

#include <doca_error.h>

#include "../../../unique_fd.hpp"

namespace opendoca::soft {

/// A page of this process or of another, mapped. A process maps each page once, whoever asks for it: thread
/// sanitizers know memory by its address, and see what orders accesses to it.
class SealedPage {
public:
    /// Who may write to the page. Where it is its owner alone, the kernel keeps others from doing so. Where they are
    /// named, its users wait for each other, and each leaves a lock on it, by which those who may not look into it see
    /// that it has the page mapped: see mapping.hpp. Few pages are, since the kernel's list of locks is read at one go.
    enum class Writers : std::uint8_t { owner, all, all_named };

    /// Makes one of @p size bytes, all zero. NO_MEMORY.
    [[nodiscard]] static doca_error_t create(const char *name, std::size_t size, Writers writers,
                                             std::shared_ptr<SealedPage> &page);

    /// Where another page is, and what it must be like.
    struct Expected {
        const char *what; ///< in messages: "page of exports"
        std::size_t smallest;
        std::size_t largest;
        Writers writers = Writers::all;
    };
    /// Opens the page at descriptor @p fd of process @p pid, which may be this one. INVALID_VALUE (there is nothing
    /// of that kind), NOT_PERMITTED (the kernel refuses, or it belongs to another user), NO_MEMORY (descriptors or
    /// memory have run out, and another try may work). What it says of itself has to be checked by the caller.
    [[nodiscard]] static doca_error_t open(pid_t pid, int fd, const Expected &expected,
                                           std::shared_ptr<SealedPage> &page);

    SealedPage(const SealedPage &) = delete;
    SealedPage &operator=(const SealedPage &) = delete;
    ~SealedPage();

    [[nodiscard]] void *start() const noexcept { return start_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// By which others open it; not open for a page of another process.
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    /// Whether descriptor @p fd of process @p pid, which runs, is not this page any more, for certain.
    [[nodiscard]] bool was_closed_by(pid_t pid, int fd) const noexcept;

private:
    SealedPage() = default;

    [[nodiscard]] doca_error_t map(int fd, Writers writers);

    UniqueFd fd_;
    void *start_ = nullptr;
    std::size_t size_ = 0;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

} // namespace opendoca::soft
