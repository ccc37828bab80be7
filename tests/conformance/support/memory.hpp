// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory of every kind that programs hand to memory maps.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace doca_test {

enum class MemoryKind : std::uint32_t {
    heap,         ///< malloc
    anonymous,    ///< mmap, private
    anon_shared,  ///< mmap, shared with children only
    memfd,        ///< a memfd whose descriptor stays open
    memfd_closed, ///< a memfd whose descriptor is closed
    shared_file,  ///< a file, whose descriptor is closed
    private_file, ///< a file, copied on write
    huge_memfd,   ///< a memfd of huge pages
};

constexpr MemoryKind all_memory_kinds[] = {
    MemoryKind::heap,         MemoryKind::anonymous,   MemoryKind::anon_shared,  MemoryKind::memfd,
    MemoryKind::memfd_closed, MemoryKind::shared_file, MemoryKind::private_file, MemoryKind::huge_memfd,
};

inline const char *name_of(MemoryKind kind)
{
    constexpr const char *names[] = {"heap",         "anonymous",   "anon_shared",  "memfd",
                                     "memfd_closed", "shared_file", "private_file", "huge_memfd"};
    return names[static_cast<std::uint32_t>(kind)];
}

/// A directory for files, which need not be kept.
inline std::string temporary_directory()
{
    const char *const directory = std::getenv("TMPDIR");
    return directory == nullptr ? "/tmp" : directory;
}

/// For system calls.
inline void must_work(bool holds, const char *what)
{
    if (!holds)
        throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

/// Memory that is given back at the end, or before.
class Memory {
public:
    /// @p lead bytes before the range that data() and size() tell of, so that it need not be aligned.
    Memory(MemoryKind kind, std::size_t size, std::size_t lead = 0) : kind_(kind), size_(size), lead_(lead)
    {
        if (kind == MemoryKind::heap) {
            start_ = static_cast<std::byte *>(std::malloc(size + lead));
            must_work(start_ != nullptr, "malloc");
            return;
        }
        const bool is_huge = kind == MemoryKind::huge_memfd;
        const std::size_t page = is_huge ? huge_page : static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        mapped_ = (size + lead + page - 1) / page * page;
        open_object();
        int flags = is_private() ? MAP_PRIVATE : MAP_SHARED;
        if (fd_ < 0)
            flags |= MAP_ANONYMOUS;
        void *const mapped = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, flags, fd_, 0);
        must_work(mapped != MAP_FAILED, "mmap");
        start_ = static_cast<std::byte *>(mapped);
        if (fd_ >= 0 && kind != MemoryKind::memfd && kind != MemoryKind::huge_memfd) {
            close(fd_);
            fd_ = -1;
        }
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory()
    {
        free();
        if (fd_ >= 0)
            close(fd_);
        if (!path_.empty())
            unlink(path_.c_str());
    }

    /// Whether the machine has this kind, as huge pages are rarely set aside.
    [[nodiscard]] static bool is_available(MemoryKind kind)
    {
        if (kind != MemoryKind::huge_memfd)
            return true;
        const int fd = memfd_create("test", MFD_CLOEXEC | MFD_HUGETLB);
        if (fd < 0)
            return false;
        void *const mapped = ftruncate(fd, huge_page) != 0
                                 ? MAP_FAILED
                                 : mmap(nullptr, huge_page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        if (mapped == MAP_FAILED)
            return false;
        munmap(mapped, huge_page);
        return true;
    }

    [[nodiscard]] std::byte *data() const { return start_ + lead_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::span<std::byte> bytes() const { return {data(), size_}; }
    [[nodiscard]] MemoryKind kind() const { return kind_; }

    /// Gives the memory back now.
    void free()
    {
        if (start_ == nullptr)
            return;
        if (kind_ == MemoryKind::heap)
            std::free(start_);
        else
            munmap(start_, mapped_);
        start_ = nullptr;
    }

private:
    static constexpr std::size_t huge_page = std::size_t{2} << 20;

    [[nodiscard]] bool is_private() const
    {
        return kind_ == MemoryKind::anonymous || kind_ == MemoryKind::private_file;
    }

    void open_object()
    {
        switch (kind_) {
        case MemoryKind::memfd:
        case MemoryKind::memfd_closed:
            fd_ = memfd_create("test", MFD_CLOEXEC);
            break;
        case MemoryKind::huge_memfd:
            fd_ = memfd_create("test", MFD_CLOEXEC | MFD_HUGETLB);
            break;
        case MemoryKind::shared_file:
        case MemoryKind::private_file:
            path_ = temporary_directory() + "/opendoca-memory-XXXXXX";
            fd_ = mkostemp(path_.data(), O_CLOEXEC);
            break;
        default:
            return;
        }
        must_work(fd_ >= 0, "the memory's file");
        must_work(ftruncate(fd_, static_cast<off_t>(mapped_)) == 0, "ftruncate");
    }

    MemoryKind kind_;
    std::byte *start_ = nullptr;
    std::size_t size_;
    std::size_t lead_;
    std::size_t mapped_ = 0;
    int fd_ = -1;
    std::string path_;
};

/// The content that a seed stands for, in rows of 256 bytes, of which there are 256: neighbouring bytes, rows, pages
/// and seeds differ. Copied and compared row by row, since tests are compiled without optimization.
class Pattern {
public:
    static constexpr std::size_t row_size = 256;

    /// From byte @p i of the content of @p seed to the end of its row.
    [[nodiscard]] static std::span<const std::byte> row(std::uint32_t seed, std::size_t i)
    {
        static const Pattern all;
        const std::size_t number = (i >> 8) * 13 + (i >> 20) * 3 + seed * 31 + 1;
        return std::span(all.rows_[number % row_size]).subspan(i % row_size);
    }

private:
    Pattern()
    {
        for (std::size_t row = 0; row < row_size; ++row) {
            for (std::size_t i = 0; i < row_size; ++i)
                rows_[row][i] = static_cast<std::byte>((i * 7 + row) & 0xff);
        }
    }

    std::byte rows_[row_size][row_size];
};

/// Byte @p i of the content that @p seed stands for.
inline std::byte pattern(std::uint32_t seed, std::size_t i)
{
    return Pattern::row(seed, i).front();
}

/// Fills @p bytes with the content of @p seed from its byte @p from on.
inline void fill(std::span<std::byte> bytes, std::uint32_t seed, std::size_t from = 0)
{
    while (!bytes.empty()) {
        const auto row = Pattern::row(seed, from);
        const std::size_t length = std::min(row.size(), bytes.size());
        std::memcpy(bytes.data(), row.data(), length);
        bytes = bytes.subspan(length);
        from += length;
    }
}

/// The first byte of @p bytes that differs from the content of @p seed, or the size when none does.
[[nodiscard]] inline std::size_t first_difference(std::span<const std::byte> bytes, std::uint32_t seed,
                                                  std::size_t from = 0)
{
    std::size_t i = 0;
    while (i < bytes.size()) {
        const auto row = Pattern::row(seed, from + i);
        const std::size_t length = std::min(row.size(), bytes.size() - i);
        if (std::memcmp(bytes.data() + i, row.data(), length) != 0)
            break;
        i += length;
    }
    while (i < bytes.size() && bytes[i] == pattern(seed, from + i))
        ++i;
    return i;
}

[[nodiscard]] inline bool is_filled(std::span<const std::byte> bytes, std::uint32_t seed, std::size_t from = 0)
{
    return first_difference(bytes, seed, from) == bytes.size();
}

/// A range of more bytes than a machine has: the same few pages over and over, as some devices need memory
/// behind all that they register.
class RepeatedMemory {
public:
    explicit RepeatedMemory(std::size_t size) : size_((size + part - 1) / part * part)
    {
        const int fd = memfd_create("test", MFD_CLOEXEC);
        must_work(fd >= 0 && ftruncate(fd, part) == 0, "memfd");
        void *const mapped = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        must_work(mapped != MAP_FAILED, "mmap");
        start_ = static_cast<std::byte *>(mapped);
        for (std::size_t offset = 0; offset < size_; offset += part)
            must_work(mmap(start_ + offset, part, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED,
                      "mmap");
        close(fd);
    }
    RepeatedMemory(const RepeatedMemory &) = delete;
    RepeatedMemory &operator=(const RepeatedMemory &) = delete;
    ~RepeatedMemory() { munmap(start_, size_); }

    [[nodiscard]] std::byte *data() const { return start_; }
    [[nodiscard]] std::span<std::byte> bytes() const { return {start_, size_}; }

private:
    static constexpr std::size_t part = std::size_t{2} << 20;

    std::size_t size_;
    std::byte *start_ = nullptr;
};

} // namespace doca_test
