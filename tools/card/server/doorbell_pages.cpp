// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "doorbell_pages.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "process.hpp"

namespace opendoca::card {

namespace {

// Offsets of the doorbells of a UAR: the arm register of completion queues (MLX5_CQ_DOORBELL of mlx5dv.h), and the four
// buffers of its two BlueFlame registers, which have 512 bytes each from 0x800 on.
constexpr std::array<std::uint64_t, 5> doorbell_offsets = {0x20, 0x800, 0x900, 0xa00, 0xb00};
/// Time for the faulting thread to be scheduled and to repeat its store.
constexpr std::uint64_t store_grace_ns = 5'000'000;
constexpr std::size_t max_pages = 4096; // pages of one process; further ones are polled

} // namespace

void DoorbellPages::add(std::uint64_t address, std::uint64_t length)
{
    for (Page &page : pages_) {
        if (page.address == address) {
            page.length = length;
            protect(is_protected_);
            return;
        }
    }
    if (pages_.size() == max_pages)
        protect(is_protected_); // drops the pages that were unmapped
    if (pages_.size() == max_pages) {
        has_unprotected_ = true;
        return;
    }
    pages_.push_back({address, length});
    protect(is_protected_);
    if (pages_.empty() || pages_.back().address != address)
        has_unprotected_ = true; // protect() has dropped a page that is mapped: the kernel cannot protect it
}

void DoorbellPages::set_userfaultfd(UniqueFd userfaultfd)
{
    pages_.clear();
    has_unprotected_ = false;
    is_protected_ = false;
    has_faulted_ = false;
    userfaultfd_ = std::move(userfaultfd);
}

void DoorbellPages::clear()
{
    set_userfaultfd({});
}

void DoorbellPages::protect(bool on)
{
    if (!userfaultfd_.is_open())
        return;
    for (std::size_t i = 0; i < pages_.size();) {
        uffdio_writeprotect range{};
        range.range.start = pages_[i].address;
        range.range.len = pages_[i].length;
        range.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0;
        if (ioctl(userfaultfd_.get(), UFFDIO_WRITEPROTECT, &range) != 0 && errno == ENOENT) {
            pages_[i] = pages_.back(); // unmapped since it was added
            pages_.pop_back();
        } else {
            ++i;
        }
    }
    is_protected_ = on;
}

std::uint64_t DoorbellPages::content(const Process &process) const
{
    std::vector<std::uint64_t> addresses;
    addresses.reserve(pages_.size() * doorbell_offsets.size());
    for (const Page &page : pages_) {
        for (const std::uint64_t offset : doorbell_offsets) {
            if (offset + sizeof(std::uint64_t) <= page.length)
                addresses.push_back(page.address + offset);
        }
    }
    std::vector<std::uint64_t> words(addresses.size());
    const auto is_read = std::make_unique<bool[]>(addresses.size());
    process.read_pieces(addresses, sizeof(std::uint64_t), reinterpret_cast<std::uint8_t *>(words.data()),
                        {is_read.get(), addresses.size()});
    // A polynomial hash with the prime of FNV-1a. Equal sums of different words only cost a delay of store_grace_ns.
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words)
        sum = sum * 0x100000001b3 + word;
    return sum;
}

bool DoorbellPages::take_faults(const Process &process, std::uint64_t now)
{
    // The faulting addresses do not matter: the doorbell records show which queues have work.
    uffd_msg message;
    bool has_any = false;
    while (::read(userfaultfd_.get(), &message, sizeof(message)) == static_cast<ssize_t>(sizeof(message)))
        has_any = true;
    if (has_any) {
        content_at_fault_ = content(process);
        opened_at_ = now;
        has_faulted_ = true;
        protect(false);
    }
    return has_any;
}

bool DoorbellPages::try_protect(const Process &process, std::uint64_t now)
{
    // Without this check the pages could be protected again before the faulting thread gets a processor, and it would
    // fault for ever.
    if (has_faulted_ && now - opened_at_ < store_grace_ns && content(process) == content_at_fault_)
        return false;
    has_faulted_ = false;
    protect(true);
    return true;
}

} // namespace opendoca::card
