// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The plain copies that DMA jobs are compared with: each is the simplest code that does the same, without the library.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "measure.hpp"

namespace opendoca::tools {

/// Returns whether this CPU has the instructions for copy_non_temporal().
[[nodiscard]] bool has_non_temporal_copy() noexcept;
/// Returns whether this CPU has the instruction for StringCopy.
[[nodiscard]] bool has_string_copy() noexcept;

/// Copies with non-temporal stores. Requires has_non_temporal_copy().
void copy_non_temporal(std::byte *dst, const std::byte *src, std::size_t size) noexcept;

/// Copies with the C library.
struct LibcCopy {
    void operator()(std::byte *dst, const std::byte *src, std::size_t size) const noexcept
    {
        std::memcpy(dst, src, size);
    }
};

/// Copies with non-temporal stores, which do not read the destination's lines into the caches.
struct NonTemporalCopy {
    void operator()(std::byte *dst, const std::byte *src, std::size_t size) const noexcept
    {
        copy_non_temporal(dst, src, size);
    }
};

/// Copies with the processor's string instruction. Requires has_string_copy().
struct StringCopy {
    void operator()([[maybe_unused]] std::byte *dst, [[maybe_unused]] const std::byte *src,
                    [[maybe_unused]] std::size_t size) const noexcept
    {
#if defined(__x86_64__)
        __asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(size) : : "memory");
#endif
    }
};

/// Repeats @p step, which copies a part and returns its size, until @p size bytes are copied.
template <typename Step>
void copy_by_calls(const char *name, std::size_t size, Step step)
{
    for (std::size_t done = 0; done != size;) {
        const ssize_t result = step(done);
        if (result <= 0)
            throw std::runtime_error(std::string(name) + ": " + std::strerror(result == 0 ? ESRCH : errno));
        done += static_cast<std::size_t>(result);
    }
}

/// Copies from another process; the source is an address there.
struct ProcessRead {
    pid_t pid;
    void operator()(std::byte *dst, const std::byte *src, std::size_t size) const
    {
        copy_by_calls("process_vm_readv", size, [&](std::size_t done) {
            const iovec local = {dst + done, size - done};
            const iovec remote = {const_cast<std::byte *>(src) + done, size - done};
            return process_vm_readv(pid, &local, 1, &remote, 1, 0);
        });
    }
};

/// Copies to another process; the destination is an address there.
struct ProcessWrite {
    pid_t pid;
    void operator()(std::byte *dst, const std::byte *src, std::size_t size) const
    {
        copy_by_calls("process_vm_writev", size, [&](std::size_t done) {
            const iovec local = {const_cast<std::byte *>(src) + done, size - done};
            const iovec remote = {dst + done, size - done};
            return process_vm_writev(pid, &local, 1, &remote, 1, 0);
        });
    }
};

/// Copies from another process through an open /proc/<pid>/mem, where offsets are addresses.
struct MemoryFileRead {
    int fd;
    void operator()(std::byte *dst, const std::byte *src, std::size_t size) const
    {
        copy_by_calls("reading /proc/<pid>/mem", size, [&](std::size_t done) {
            return pread(fd, dst + done, size - done, reinterpret_cast<off_t>(src + done));
        });
    }
};

/// Copies to another process through an open /proc/<pid>/mem.
struct MemoryFileWrite {
    int fd;
    void operator()(std::byte *dst, const std::byte *src, std::size_t size) const
    {
        copy_by_calls("writing /proc/<pid>/mem", size, [&](std::size_t done) {
            return pwrite(fd, src + done, size - done, reinterpret_cast<off_t>(dst + done));
        });
    }
};

/// The slots that the copies of a case use in turn, all of one size. With many slots, each one is far from the one
/// before, so that neither caches nor prefetchers have it. The order is the same for each object with the same
/// parameters. A value that each loop copies, so it needs no synchronization.
class Walk {
public:
    /// @p slots is a power of two. An odd stride is coprime to it, so every slot is visited once before the first one
    /// is used again.
    Walk(std::size_t size, std::size_t slots) noexcept
        : size_(size),
          mask_(slots - 1),
          stride_(static_cast<std::size_t>(static_cast<double>(slots) * 0.618034) | 1)
    {
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t slots() const noexcept { return mask_ + 1; }
    /// Returns the offset of the next slot.
    [[nodiscard]] std::size_t next() noexcept
    {
        slot_ = (slot_ + stride_) & mask_;
        return slot_ * size_;
    }

private:
    std::size_t size_;
    std::size_t mask_;   ///< number of slots minus 1
    std::size_t stride_; ///< in slots: the golden section of their number, so that consecutive slots are far apart
    std::size_t slot_ = 0;
};

/// The measured loop of plain copies, with its own walk through the slots. The copy is a template parameter, so that it
/// is inlined as in a program.
template <typename Copy>
class CopyLoop final : public Variant {
public:
    CopyLoop(Copy copy, std::byte *dst, const std::byte *src, Walk walk)
        : copy_(copy),
          dst_(dst),
          src_(src),
          walk_(walk)
    {
    }

    void run(std::size_t count) override
    {
        std::size_t size = walk_.size();
        if (walk_.slots() == 1) {
            for (; count != 0; --count) {
                copy_(dst_, src_, size);
                __asm__ volatile("" : "+r"(size) : : "memory"); // keeps the compiler from merging the copies
            }
            return;
        }
        for (; count != 0; --count) {
            const std::size_t offset = walk_.next();
            copy_(dst_ + offset, src_ + offset, size);
            __asm__ volatile("" : "+r"(size) : : "memory");
        }
    }

private:
    Copy copy_;
    std::byte *dst_;
    const std::byte *src_;
    Walk walk_;
};

} // namespace opendoca::tools
