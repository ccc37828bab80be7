// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Which memory of another process is mapped: what its owner can take pages away from would end this process by SIGBUS.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "../../src/comm_channel/ring.hpp"
#include "../../src/core/base/sealed_file.hpp"

using namespace opendoca;

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
        const UniqueFd made = create_file_to_seal("test", 4096);
        EXPECT_FALSE(is_taken(made, use));
        ASSERT_TRUE(seal_file(made.get(), use));
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

/// A mapping of another process that is older than the seal could still write.
TEST(SealedFile, of_one_writer_is_refused_if_another_has_opened_it_before)
{
    for (const int access : {O_RDWR, O_RDONLY}) {
        const UniqueFd made = create_file_to_seal("test", 4096);
        const std::string path = "/proc/self/fd/" + std::to_string(made.get());
        void *theirs = MAP_FAILED;
        {
            const UniqueFd opened(open(path.c_str(), access | O_CLOEXEC));
            theirs = mmap(nullptr, 4096, access == O_RDWR ? PROT_WRITE : PROT_READ, MAP_SHARED, opened.get(), 0);
        }
        ASSERT_NE(theirs, MAP_FAILED);
        errno = 0;
        EXPECT_EQ(seal_file(made.get(), SealedFor::one_writer), access == O_RDONLY);
        EXPECT_EQ(errno, access == O_RDONLY ? 0 : EBUSY);
        munmap(theirs, 4096);
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

} // namespace
