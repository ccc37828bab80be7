// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Which memory of another process is mapped: what its owner can take pages away from would end this process by SIGBUS.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../src/comm_channel/ring.hpp"
#include "../../src/core/base/sealed_file.hpp"

using namespace opendoca;

namespace {

int num_sealed_by_another = 0; ///< of the next memfds, as if another process were quick

} // namespace

extern "C" int memfd_create(const char *name, unsigned flags) noexcept
{
    const int fd = static_cast<int>(syscall(SYS_memfd_create, name, flags));
    if (num_sealed_by_another > 0) {
        --num_sealed_by_another;
        EXPECT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL), 0);
    }
    return fd;
}

namespace {

constexpr std::size_t huge = std::size_t{2} << 20;

UniqueFd make(unsigned flags, std::size_t size, int seals)
{
    UniqueFd fd(memfd_create("test", flags | MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (fd.is_open()) {
        EXPECT_EQ(ftruncate(fd.get(), static_cast<off_t>(size)), 0);
        EXPECT_EQ(fcntl(fd.get(), F_ADD_SEALS, seals), 0);
    }
    return fd;
}

bool is_taken(const UniqueFd &fd, SealedFor use)
{
    struct stat info {};
    errno = 0;
    const bool is_taken = is_sealed_file(fd.get(), use, info);
    EXPECT_TRUE(is_taken || errno == EINVAL);
    return is_taken;
}

TEST(SealedFile, its_size_and_its_writers_are_for_ever)
{
    constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    for (const SealedFor use : {SealedFor::all_writers, SealedFor::one_writer}) {
        const UniqueFd made = create_file_to_seal("test", 4096, use);
        EXPECT_FALSE(is_taken(made, use));
        ASSERT_TRUE(seal_file(made.get(), 4096, use));
        EXPECT_TRUE(is_taken(made, use));
        EXPECT_EQ(is_taken(made, SealedFor::all_writers), use == SealedFor::all_writers);
        EXPECT_EQ(is_taken(make(0, 4096, size_seals), use), use == SealedFor::all_writers);
        for (const int missing : {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL})
            EXPECT_FALSE(is_taken(make(0, 4096, seals_of(use) & ~missing), use)) << missing;
        EXPECT_FALSE(is_taken(make(0, 4096, seals_of(use) | F_SEAL_WRITE), use));
    }
    EXPECT_FALSE(is_taken(UniqueFd(open("/dev/zero", O_RDWR | O_CLOEXEC)), SealedFor::all_writers));
    EXPECT_FALSE(is_taken(UniqueFd(open(".", O_RDONLY | O_CLOEXEC)), SealedFor::all_writers));
}

UniqueFd open_again(const UniqueFd &fd, int flags)
{
    return UniqueFd(open(("/proc/self/fd/" + std::to_string(fd.get())).c_str(), flags | O_CLOEXEC));
}

bool has_leases()
{
    const UniqueFd file(memfd_create("test", MFD_CLOEXEC));
    return fcntl(file.get(), F_SETLEASE, F_RDLCK) == 0;
}

TEST(SealedFile, of_one_writer_is_opened_for_writing_by_nobody_else)
{
    if (!has_leases())
        GTEST_SKIP() << "the kernel grants no leases";
    constexpr std::size_t size = 4096;
    const UniqueFd made = create_file_to_seal("test", size, SealedFor::one_writer);
    ASSERT_TRUE(made.is_open());
    // Its signal does not end the program.
    EXPECT_FALSE(open_again(made, O_RDWR | O_NONBLOCK).is_open());
    EXPECT_EQ(errno, EWOULDBLOCK);
    EXPECT_TRUE(open_again(made, O_RDONLY).is_open());
    ASSERT_TRUE(seal_file(made.get(), size, SealedFor::one_writer));
    const UniqueFd opened = open_again(made, O_RDWR);
    ASSERT_TRUE(opened.is_open());
    EXPECT_EQ(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, opened.get(), 0), MAP_FAILED);
    EXPECT_EQ(errno, EPERM);
}

/// Where the lease has ended too early, as after long waits of others.
TEST(SealedFile, of_one_writer_is_refused_if_others_could_open_it)
{
    if (!has_leases())
        GTEST_SKIP() << "the kernel grants no leases";
    constexpr std::size_t size = 4096;
    for (const bool is_mapped : {false, true}) {
        const UniqueFd made = create_file_to_seal("test", size, SealedFor::one_writer);
        ASSERT_EQ(fcntl(made.get(), F_SETLEASE, F_UNLCK), 0);
        const UniqueFd opened = is_mapped ? open_again(made, O_RDWR) : UniqueFd();
        EXPECT_FALSE(seal_file(made.get(), size, SealedFor::one_writer));
        EXPECT_EQ(errno, EBUSY);
    }
}

/// An access to what is beyond the end would raise SIGBUS.
TEST(SealedFile, with_another_size_or_seal_is_refused)
{
    constexpr std::size_t size = 8192;
    for (const SealedFor use : {SealedFor::all_writers, SealedFor::one_writer}) {
        const UniqueFd made = create_file_to_seal("test", size, use);
        ASSERT_EQ(ftruncate(made.get(), size / 2), 0);
        EXPECT_FALSE(seal_file(made.get(), size, use));
        EXPECT_EQ(errno, EBUSY);
        for (const int seal : {F_SEAL_SEAL, F_SEAL_WRITE}) {
            const UniqueFd sealed = create_file_to_seal("test", size, use);
            ASSERT_EQ(fcntl(sealed.get(), F_ADD_SEALS, seal), 0);
            EXPECT_FALSE(seal_file(sealed.get(), size, use));
            EXPECT_EQ(errno, EBUSY);
        }
    }
}

/// The owner of a huge page can free it, and have the last one that is left.
TEST(SealedFile, huge_pages_are_refused)
{
    const UniqueFd theirs = make(MFD_HUGETLB | 21U << 26 /* of 2 MiB */, huge, seals_of(SealedFor::all_writers));
    if (!theirs.is_open())
        GTEST_SKIP() << "the kernel has no huge pages";
    EXPECT_FALSE(is_taken(theirs, SealedFor::all_writers));
    using namespace comm_channel;
    // Rings that are as long as such a page with the page of counters before them.
    const RingShape to_service = {512, 4080};
    const RingShape to_client = {8,
                                 static_cast<std::uint16_t>((huge - sizeof(SharedPage) - to_service.bytes()) / 8 - 8)};
    ASSERT_EQ(sizeof(SharedPage) + to_service.bytes() + to_client.bytes(), huge);
    SharedMemory memory;
    errno = 0;
    EXPECT_FALSE(memory.open(to_service, to_client, theirs));
    EXPECT_EQ(errno, EINVAL) << "it was mapped, or the kernel had no page just now";
    EXPECT_TRUE(memory.open(to_service, to_client, make(0, huge, seals_of(SealedFor::all_writers))));
}

TEST(SealedFile, of_rings_is_made_again_when_another_process_was_quick)
{
    using namespace comm_channel;
    const RingShape shape = {8, 64};
    SharedMemory memory;
    UniqueFd file;
    num_sealed_by_another = max_tries_to_seal - 1;
    EXPECT_TRUE(memory.create(shape, shape, file));
    EXPECT_EQ(seals_on(file.get()), seals_of(SealedFor::all_writers));
    num_sealed_by_another = max_tries_to_seal;
    errno = 0;
    EXPECT_FALSE(memory.create(shape, shape, file));
    EXPECT_EQ(errno, EBUSY);
    EXPECT_EQ(num_sealed_by_another, 0);
}

} // namespace
