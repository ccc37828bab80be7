// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "../../src/core/device/host/own_memory.hpp"
#include "../conformance/support/memory.hpp"

namespace {

using doca_test::Memory;
using doca_test::MemoryKind;
using opendoca::check_accessible;
using opendoca::find_shared_object;
using opendoca::MemoryRange;
using opendoca::SharedObject;
using opendoca::UniqueFd;

const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

/// Mappings that go at the end.
class Mapped {
public:
    Mapped(std::size_t size, int protection, int flags, int fd = -1, std::size_t offset = 0) : size_(size)
    {
        void *const mapped = mmap(nullptr, size, protection, flags, fd, static_cast<off_t>(offset));
        if (mapped == MAP_FAILED)
            throw std::runtime_error("mmap");
        start_ = static_cast<std::byte *>(mapped);
    }
    Mapped(const Mapped &) = delete;
    Mapped &operator=(const Mapped &) = delete;
    ~Mapped() { munmap(start_, size_); }

    [[nodiscard]] std::byte *operator+(std::size_t offset) const { return start_ + offset; }
    [[nodiscard]] MemoryRange range(std::size_t offset, std::size_t len) const { return {start_ + offset, len}; }

private:
    std::byte *start_;
    std::size_t size_;
};

UniqueFd make_memfd(std::size_t size)
{
    UniqueFd fd(memfd_create("test", MFD_CLOEXEC));
    EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(size)), 0);
    return fd;
}

constexpr int private_memory = MAP_PRIVATE | MAP_ANONYMOUS;
constexpr int reading = PROT_READ;
constexpr int writing = PROT_READ | PROT_WRITE;

TEST(IsAccessible, MemoryOfEveryKind)
{
    for (const MemoryKind kind : doca_test::all_memory_kinds) {
        if (!Memory::is_available(kind))
            continue;
        const Memory memory(kind, 100'000, 7);
        EXPECT_EQ(check_accessible({memory.data(), memory.size()}, false), DOCA_SUCCESS) << name_of(kind);
        EXPECT_EQ(check_accessible({memory.data(), memory.size()}, true), DOCA_SUCCESS) << name_of(kind);
    }
}

TEST(IsAccessible, WithAHoleItIsNot)
{
    {
        // What the first failure and its log line allocate must not come to lie in the hole.
        const Mapped forbidden(page, PROT_NONE, private_memory);
        EXPECT_EQ(check_accessible(forbidden.range(0, page), false), DOCA_ERROR_INVALID_VALUE);
    }
    const Mapped memory(5 * page, writing, private_memory);
    ASSERT_EQ(munmap(memory + 2 * page, page), 0);
    EXPECT_EQ(check_accessible(memory.range(0, 2 * page), true), DOCA_SUCCESS);
    EXPECT_EQ(check_accessible(memory.range(3 * page, 2 * page), true), DOCA_SUCCESS);
    EXPECT_EQ(check_accessible(memory.range(0, 2 * page + 1), true), DOCA_ERROR_INVALID_VALUE) << "the hole at the end";
    EXPECT_EQ(check_accessible(memory.range(3 * page - 1, page), false), DOCA_ERROR_INVALID_VALUE)
        << "the hole at the beginning";
    EXPECT_EQ(check_accessible(memory.range(0, 5 * page), false), DOCA_ERROR_INVALID_VALUE) << "the hole in the middle";
    EXPECT_EQ(check_accessible(memory.range(2 * page + 8, 8), false), DOCA_ERROR_INVALID_VALUE) << "all of it a hole";
}

TEST(IsAccessible, ReadingAndWritingAreTwo)
{
    const Mapped memory(3 * page, writing, private_memory);
    ASSERT_EQ(mprotect(memory + page, page, PROT_READ), 0);
    EXPECT_EQ(check_accessible(memory.range(0, 3 * page), false), DOCA_SUCCESS);
    EXPECT_EQ(check_accessible(memory.range(0, 3 * page), true), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(check_accessible(memory.range(0, page), true), DOCA_SUCCESS);
    ASSERT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
    EXPECT_EQ(check_accessible(memory.range(0, 3 * page), false), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(check_accessible(memory.range(2 * page - 1, 1), false), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(check_accessible(memory.range(2 * page, 1), false), DOCA_SUCCESS);
}

TEST(IsAccessible, AddressesThatNobodyHas)
{
    EXPECT_EQ(check_accessible({reinterpret_cast<std::byte *>(std::uintptr_t{16}), 16}, false),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(check_accessible({reinterpret_cast<std::byte *>(UINTPTR_MAX - 4096), 4096}, false),
              DOCA_ERROR_INVALID_VALUE);
}

TEST(IsAccessible, WhatCantBeFoundOutIsNoAnswer)
{
    const Mapped memory(page, writing, private_memory);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none = {0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const doca_error_t without_descriptors = check_accessible(memory.range(0, page), true);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(without_descriptors, DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(check_accessible(memory.range(0, page), true), DOCA_SUCCESS);
}

TEST(FindSharedObject, PrivateMemoryHasNone)
{
    for (const MemoryKind kind : {MemoryKind::heap, MemoryKind::anonymous, MemoryKind::private_file}) {
        const Memory memory(kind, 8192);
        EXPECT_EQ(find_shared_object({memory.data(), memory.size()}, true), std::nullopt) << name_of(kind);
        EXPECT_EQ(find_shared_object({memory.data(), memory.size()}, false), std::nullopt) << name_of(kind);
    }
}

/// Shared, but no peer has a way to it.
TEST(FindSharedObject, ObjectsWithoutDescriptorOrPathAreNotFound)
{
    for (const MemoryKind kind : {MemoryKind::anon_shared, MemoryKind::memfd_closed}) {
        const Memory memory(kind, 8192);
        EXPECT_EQ(find_shared_object({memory.data(), memory.size()}, true), std::nullopt) << name_of(kind);
    }
}

void expect_found(const MemoryRange &range, std::uint64_t offset)
{
    const std::optional<SharedObject> object = find_shared_object(range, true);
    ASSERT_TRUE(object.has_value());
    EXPECT_EQ(object->offset, offset);
    struct stat info {};
    ASSERT_EQ(fstat(object->fd.get(), &info), 0);
    EXPECT_EQ(object->device, info.st_dev);
    EXPECT_EQ(object->inode, info.st_ino);
    EXPECT_NE(fcntl(object->fd.get(), F_GETFD) & FD_CLOEXEC, 0);

    // Another mapping of it shows the same bytes.
    const std::size_t lead = offset % page;
    const Mapped again(range.len + lead, writing, MAP_SHARED, object->fd.get(), offset - lead);
    for (const std::size_t at : {std::size_t{0}, range.len - 1}) {
        range.addr[at] = std::byte{0x11};
        EXPECT_EQ(*(again + (lead + at)), std::byte{0x11});
        *(again + (lead + at)) = std::byte{0x33};
        EXPECT_EQ(range.addr[at], std::byte{0x33});
    }
}

TEST(FindSharedObject, MemfdThatIsOpenAndFileThatHasAPath)
{
    for (const MemoryKind kind : {MemoryKind::memfd, MemoryKind::shared_file}) {
        SCOPED_TRACE(name_of(kind));
        const Memory memory(kind, 100'000, 0);
        expect_found({memory.data(), memory.size()}, 0);
        expect_found({memory.data() + 12345, 50'000}, 12345);
        expect_found({memory.data() + page, 1}, page);
    }
}

TEST(FindSharedObject, PartOfTheObjectThatIsMapped)
{
    const UniqueFd fd = make_memfd(10 * page);
    const Mapped memory(3 * page, writing, MAP_SHARED, fd.get(), 4 * page);
    expect_found(memory.range(0, 3 * page), 4 * page);
    expect_found(memory.range(page + 17, page), 5 * page + 17);
}

/// Two mappings that show the object as one do, and mappings in another order do not.
TEST(FindSharedObject, SeveralMappings)
{
    const UniqueFd fd = make_memfd(4 * page);
    const Mapped memory(3 * page, writing, private_memory);
    const auto map_over = [&](std::size_t at, std::size_t offset, int object, int protection) {
        ASSERT_NE(mmap(memory + at * page, page, protection, MAP_SHARED | MAP_FIXED, object,
                       static_cast<off_t>(offset * page)),
                  MAP_FAILED);
    };
    map_over(0, 1, fd.get(), writing);
    map_over(1, 2, fd.get(), PROT_READ); // of other protection, so that the kernel keeps two
    map_over(2, 3, fd.get(), writing);
    const auto found = find_shared_object(memory.range(5, 3 * page - 5), false);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->offset, page + 5);
    map_over(2, 1, fd.get(), writing);
    EXPECT_EQ(find_shared_object(memory.range(0, 3 * page), false), std::nullopt) << "in another order";
    EXPECT_TRUE(find_shared_object(memory.range(0, 2 * page), false).has_value());
    const UniqueFd other = make_memfd(4 * page);
    map_over(2, 3, other.get(), writing);
    EXPECT_EQ(find_shared_object(memory.range(0, 3 * page), false), std::nullopt) << "of another object";
    ASSERT_NE(mmap(memory + 2 * page, page, writing, private_memory | MAP_FIXED, -1, 0), MAP_FAILED);
    EXPECT_EQ(find_shared_object(memory.range(0, 3 * page), false), std::nullopt) << "private at the end";
}

/// A file that was deleted and one that took its name: the descriptor leads to the right one, the path does
/// not.
TEST(FindSharedObject, AnotherFileWithTheSameName)
{
    std::string path = doca_test::temporary_directory() + "/opendoca-own-memory-XXXXXX";
    UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
    ASSERT_TRUE(fd.is_open());
    ASSERT_EQ(ftruncate(fd.get(), static_cast<off_t>(page)), 0);
    const Mapped memory(page, writing, MAP_SHARED, fd.get());
    expect_found(memory.range(0, page), 0);
    unlink(path.c_str());
    const UniqueFd impostor(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    ASSERT_EQ(ftruncate(impostor.get(), static_cast<off_t>(page)), 0);
    expect_found(memory.range(0, page), 0);
    fd = UniqueFd(); // both are closed by now
    EXPECT_EQ(find_shared_object(memory.range(0, page), true), std::nullopt);
    unlink(path.c_str());
}

/// What lies beyond the end of a file can't be touched.
TEST(FindSharedObject, BeyondTheEndOfTheObject)
{
    const UniqueFd fd = make_memfd(page + 100);
    const Mapped memory(3 * page, writing, MAP_SHARED, fd.get());
    EXPECT_TRUE(find_shared_object(memory.range(0, page + 100), true).has_value());
    EXPECT_EQ(find_shared_object(memory.range(0, page + 101), true), std::nullopt);
    EXPECT_EQ(find_shared_object(memory.range(2 * page, 1), true), std::nullopt);
}

TEST(FindSharedObject, ReadOnlyDescriptorIsEnoughForReading)
{
    if (geteuid() == 0)
        GTEST_SKIP() << "root may write any file";
    std::string path = doca_test::temporary_directory() + "/opendoca-own-memory-XXXXXX";
    {
        const UniqueFd made(mkostemp(path.data(), O_CLOEXEC));
        ASSERT_EQ(ftruncate(made.get(), static_cast<off_t>(page)), 0);
        ASSERT_EQ(fchmod(made.get(), 0400), 0);
    }
    const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const Mapped memory(page, reading, MAP_SHARED, fd.get());
    EXPECT_TRUE(find_shared_object(memory.range(0, page), false).has_value());
    EXPECT_EQ(find_shared_object(memory.range(0, page), true), std::nullopt);
    unlink(path.c_str());
}

} // namespace
