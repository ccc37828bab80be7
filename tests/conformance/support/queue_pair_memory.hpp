// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The memory of the software device's connections, as one sees it who knows the layout: for tests that lie in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../src/core/device/soft/connection/queue_pair_page.hpp"
#include "../../../src/core/device/soft/process/slab.hpp"

#include "handle.hpp"

namespace doca_test {

[[nodiscard]] inline opendoca::soft::ConnectionDetails parse_details(std::span<const std::byte> bytes)
{
    opendoca::soft::ConnectionDetails d{};
    must_hold(from_bytes(bytes, opendoca::DescriptorKind::soft_connection, d) ==
                  opendoca::DescriptorReader::Fault::none,
              "details of the software device");
    return d;
}

/// Shared memory at a descriptor of a process, which may be this one.
class MappedFile {
public:
    MappedFile(std::uint32_t pid, std::int32_t fd, int access)
    {
        const std::string place = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
        const int opened = open(place.c_str(), ((access & PROT_WRITE) != 0 ? O_RDWR : O_RDONLY) | O_CLOEXEC);
        must_hold(opened >= 0, "the memory can be opened");
        size_ = static_cast<std::size_t>(lseek(opened, 0, SEEK_END));
        start_ = mmap(nullptr, size_, access, MAP_SHARED, opened, 0);
        close(opened);
        must_hold(start_ != MAP_FAILED, "the memory can be mapped");
    }
    MappedFile(const MappedFile &) = delete;
    MappedFile &operator=(const MappedFile &) = delete;
    ~MappedFile() { munmap(start_, size_); }

    [[nodiscard]] void *start() const { return start_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    /// The start of slot @p index, if the memory is a slab.
    [[nodiscard]] std::byte *slot(std::uint32_t index, opendoca::soft::SealedPage::Writers writers) const
    {
        const auto &header = *static_cast<const opendoca::soft::SlabHeader *>(start_);
        return opendoca::soft::SlabLayout{writers, header.num_slots, header.slot_size}.slot(start_, index);
    }

private:
    void *start_ = nullptr;
    std::size_t size_ = 0;
};

/// The head of a queue pair, read-only.
class MappedHead {
public:
    explicit MappedHead(const opendoca::soft::ConnectionDetails &d)
        : slab_(d.pid, d.head_fd, PROT_READ),
          head_(reinterpret_cast<const opendoca::soft::QueuePairPage *>(
              slab_.slot(d.head_slot, opendoca::soft::SealedPage::Writers::owner)))
    {
    }

    [[nodiscard]] const opendoca::soft::QueuePairPage *operator->() const { return head_; }
    [[nodiscard]] const MappedFile &slab() const { return slab_; }

private:
    MappedFile slab_;
    const opendoca::soft::QueuePairPage *head_;
};

/// The message region of a queue pair that is connected.
class MappedRegion {
public:
    explicit MappedRegion(const opendoca::soft::ConnectionDetails &d)
        : head_(d),
          slab_(d.pid, head_->region_fd.load(), PROT_READ | PROT_WRITE),
          start_(slab_.slot(head_->region_slot.load(), opendoca::soft::SealedPage::Writers::all))
    {
    }

    [[nodiscard]] const MappedHead &head() const { return head_; }
    [[nodiscard]] opendoca::soft::MessageCell &cell(std::uint32_t i) const
    {
        return reinterpret_cast<opendoca::soft::MessageCell *>(start_)[i];
    }
    [[nodiscard]] opendoca::soft::ReceiveEntry &first_entry() const
    {
        return *reinterpret_cast<opendoca::soft::ReceiveEntry *>(&cell(head_->recv_queue_size));
    }

private:
    MappedHead head_;
    MappedFile slab_;
    std::byte *start_;
};

/// The head of a queue pair of this process, as the library has mapped it: only so it can be written to.
[[nodiscard]] inline opendoca::soft::QueuePairPage &own_head(const opendoca::soft::ConnectionDetails &d)
{
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long start = 0;
        if (line.find(" rw-s ") == std::string::npos || line.find("memfd:opendoca-connections") == std::string::npos ||
            std::sscanf(line.c_str(), "%lx-", &start) != 1)
            continue;
        auto *const slab = reinterpret_cast<opendoca::soft::SlabHeader *>(start);
        const opendoca::soft::SlabLayout layout = {opendoca::soft::SealedPage::Writers::owner, slab->num_slots,
                                                   slab->slot_size};
        if (slab->number == d.head_slab)
            return *reinterpret_cast<opendoca::soft::QueuePairPage *>(layout.slot(slab, d.head_slot));
    }
    must_hold(false, "the slab of the head is mapped");
    __builtin_unreachable();
}

} // namespace doca_test
