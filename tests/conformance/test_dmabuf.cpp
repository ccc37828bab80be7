// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory maps of dmabufs.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>

#include <doca_rdma_bridge.h>

#include "support/dma_fixture.hpp"
#include "support/free_callback.hpp"
#include "support/log_capture.hpp"
#include "support/plain_verbs.hpp"

using namespace doca_test;

namespace {

/// A file descriptor, for as long as it is wanted.
class File {
public:
    explicit File(int fd) : fd_(fd) {}
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File() { close(); }

    operator int() const { return fd_; }
    void close()
    {
        if (fd_ >= 0)
            ::close(fd_);
        fd_ = -1;
    }

private:
    int fd_;
};

constexpr std::size_t pages = 4;

std::size_t page_size()
{
    return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// A memfd, which is no dmabuf but is mapped in the same way.
int make_memfd()
{
    const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    must_hold(fd >= 0 && ftruncate(fd, static_cast<off_t>(pages * page_size())) == 0, "memfd");
    return fd;
}

/// A true dmabuf, or -1 where the kernel makes none for programs.
int make_dmabuf()
{
    const File driver(open("/dev/udmabuf", O_RDWR | O_CLOEXEC));
    if (driver < 0)
        return -1;
    const File memory(make_memfd());
    must_hold(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK) == 0, "F_SEAL_SHRINK");
    udmabuf_create wanted{};
    wanted.memfd = static_cast<std::uint32_t>(static_cast<int>(memory));
    wanted.flags = UDMABUF_FLAGS_CLOEXEC;
    wanted.size = pages * page_size();
    return ioctl(driver, UDMABUF_CREATE, &wanted);
}

std::span<std::byte> range_of(doca_mmap *mmap)
{
    void *addr = nullptr;
    std::size_t len = 0;
    must(doca_mmap_get_memrange(mmap, &addr, &len));
    return {static_cast<std::byte *>(addr), len};
}

} // namespace

class DmabufTest : public testing::Test {
protected:
    void SetUp() override { must(doca_mmap_create(nullptr, mmap.out())); }

    MmapHandle mmap;
    File memory{make_memfd()};
};

TEST_F(DmabufTest, arguments_are_checked)
{
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(nullptr, memory, 0, 4096), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, -1, 0, 4096), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, memory, 0, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, memory, SIZE_MAX, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, memory, 1, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, memory, SIZE_MAX / 2 + 1, 1), DOCA_ERROR_INVALID_VALUE);
    const LogCapture log;
    File closed(make_memfd());
    const int number = closed;
    closed.close();
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, number, 0, 4096), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "dmabuf");
    const File read_only(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, read_only, 0, 4096), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, memory, page_size(), pages * page_size()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "ends beyond");
    const File unmappable(eventfd(0, EFD_CLOEXEC));
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, unmappable, 0, 4096), DOCA_ERROR_NOT_SUPPORTED);

    // The map has no range by that, and can still be given one.
    void *addr = nullptr;
    std::size_t len = 0;
    EXPECT_EQ(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, memory, 0, 4096), DOCA_SUCCESS);
}

TEST_F(DmabufTest, the_range_is_the_part_that_was_asked_for)
{
    std::vector<std::byte> content(pages * page_size());
    fill(content, 1);
    must_hold(pwrite(memory, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()), "pwrite");
    const std::size_t offset = page_size() + 77, len = page_size() + 1;
    ASSERT_EQ(doca_mmap_set_dmabuf_memrange(mmap, memory, offset, len), DOCA_SUCCESS);
    const int number = memory;
    memory.close();
    const std::span<std::byte> range = range_of(mmap);
    ASSERT_EQ(range.size(), len);
    EXPECT_TRUE(is_filled(range, 1, offset));

    std::vector<std::byte> other(100);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, number, 0, 4096), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_set_memrange(mmap, other.data(), other.size()), DOCA_ERROR_NOT_PERMITTED);
    Freed freed;
    must(doca_mmap_set_free_cb(mmap, Freed::callback, &freed));
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS); // no device has a say
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, number, 0, 4096), DOCA_ERROR_BAD_STATE);
    mmap.reset();
    EXPECT_EQ(freed.calls, 1);
    EXPECT_EQ(freed.addr, range.data());
}

class DmabufDeviceTest : public DeviceTest {
protected:
    void SetUp() override
    {
        must(doca_mmap_create(nullptr, mmap.out()));
        must(doca_mmap_dev_add(mmap, dev));
        must(doca_mmap_set_permissions(mmap, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_WRITE));
    }

    /// What the device says of a part of @p fd without us in between.
    [[nodiscard]] doca_error_t verdict(int fd, std::size_t offset, std::size_t len) const
    {
        ibv_pd *pd = nullptr;
        if (doca_dev_get_pd(dev, &pd) != DOCA_SUCCESS)
            return DOCA_ERROR_NOT_SUPPORTED;
        const VerbsHandle<ibv_mr> region(ibv_reg_dmabuf_mr(pd, offset, len, offset, fd, IBV_ACCESS_LOCAL_WRITE));
        if (region != nullptr)
            return DOCA_SUCCESS;
        return errno == EOPNOTSUPP || errno == ENOSYS ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
    }

    MmapHandle mmap;
};
INSTANTIATE_FOR_EVERY_DEVICE(DmabufDeviceTest, exists);

TEST_P(DmabufDeviceTest, start_tells_whether_the_device_can_use_it)
{
    const File made(make_dmabuf()), substitute(make_memfd());
    const int fd = made >= 0 ? made : substitute;
    const std::size_t offset = page_size() + 8, len = page_size();
    must(doca_mmap_set_dmabuf_memrange(mmap, fd, offset, len));
    const LogCapture log;
    const doca_error_t expected = verdict(fd, offset, len);
    EXPECT_EQ(doca_mmap_start(mmap), expected);
    if (expected == DOCA_SUCCESS)
        return;
    EXPECT_LOGGED(log, "dmabuf");
    // Not started, and good for other devices.
    EXPECT_EQ(doca_mmap_stop(mmap), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_mmap_dev_rm(mmap, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS);
}

TEST_P(DmabufDeviceTest, the_device_moves_its_bytes)
{
    const File dmabuf(make_dmabuf());
    if (dmabuf < 0)
        GTEST_SKIP() << "takes /dev/udmabuf";
    const std::size_t offset = page_size() + 8, part = page_size();
    if (verdict(dmabuf, offset, 2 * part) != DOCA_SUCCESS)
        GTEST_SKIP() << "takes a device that can use dmabufs";
    must(doca_mmap_set_dmabuf_memrange(mmap, dmabuf, offset, 2 * part));
    must(doca_mmap_start(mmap));
    const std::span<std::byte> range = range_of(mmap);
    fill(range.first(part), 1);
    const Inventory inventory(1);
    const BufHandle buf = inventory.full(mmap, range.data(), range.size());
    std::uint32_t key = 0;
    ibv_pd *pd = nullptr;
    must(doca_buf_get_mkey(buf, dev, &key));
    must(doca_dev_get_pd(dev, &pd));
    EXPECT_EQ(PlainQueuePair(pd).run(IBV_WR_RDMA_WRITE, {range.data(), key}, {range.data() + part, key},
                                     static_cast<std::uint32_t>(part)),
              IBV_WC_SUCCESS);
    EXPECT_TRUE(is_filled(range.subspan(part), 1));
}
