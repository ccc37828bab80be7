// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory maps with devices: membership, what start says about the memory, and the states of imported maps. More on
// exports is in test_export*.cpp.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/resource.h>

#include "support/dma_fixture.hpp"
#include "support/free_callback.hpp"

using namespace doca_test;

namespace {

/// Whole pages that can be made unreadable or read-only.
class Pages {
public:
    explicit Pages(std::size_t count, int protection = PROT_READ | PROT_WRITE) : size_(count * page_size())
    {
        void *const mapped = mmap(nullptr, size_, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        must_hold(mapped != MAP_FAILED, "mmap");
        start_ = static_cast<std::byte *>(mapped);
    }
    Pages(const Pages &) = delete;
    Pages &operator=(const Pages &) = delete;
    ~Pages() { munmap(start_, size_); }

    static std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
    [[nodiscard]] std::byte *page(std::size_t i) const { return start_ + i * page_size(); }
    void protect(std::size_t i, int protection) const
    {
        must_hold(mprotect(page(i), page_size(), protection) == 0, "mprotect");
    }

private:
    std::byte *start_;
    std::size_t size_;
};

} // namespace

class DevMmapTest : public DeviceTest {
protected:
    void SetUp() override { must(doca_mmap_create(nullptr, mmap.out())); }

    std::vector<std::byte> memory = std::vector<std::byte>(1000);
    MmapHandle mmap;
};
INSTANTIATE_FOR_DEVICES(DevMmapTest, can_copy);

TEST_P(DevMmapTest, takes_devices_only_while_stopped)
{
    EXPECT_EQ(doca_mmap_dev_add(nullptr, dev), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_dev_add(mmap, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_dev_rm(nullptr, dev), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_dev_rm(mmap, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_dev_rm(mmap, dev), DOCA_ERROR_INVALID_VALUE); // not a member
    must(doca_mmap_set_memrange(mmap, memory.data(), memory.size()));
    must(doca_mmap_start(mmap));
    EXPECT_EQ(doca_mmap_dev_add(mmap, dev), DOCA_ERROR_NOT_PERMITTED);
    must(doca_mmap_stop(mmap));
    EXPECT_EQ(doca_mmap_dev_add(mmap, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_dev_add(mmap, dev), DOCA_ERROR_IN_USE);
    must(doca_mmap_start(mmap));
    EXPECT_EQ(doca_mmap_dev_rm(mmap, dev), DOCA_ERROR_NOT_PERMITTED);
    must(doca_mmap_stop(mmap));
    EXPECT_EQ(doca_mmap_dev_rm(mmap, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_dev_rm(mmap, dev), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_dev_add(mmap, dev), DOCA_SUCCESS);
}

TEST_P(DevMmapTest, without_descriptors_it_is_not_started_for_now)
{
    must(doca_mmap_set_memrange(mmap, memory.data(), memory.size()));
    must(doca_mmap_dev_add(mmap, dev));
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none = {0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const doca_error_t without_descriptors = doca_mmap_start(mmap);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(without_descriptors, DOCA_ERROR_NO_MEMORY) << "the range is right";
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS);
}

TEST_P(DevMmapTest, takes_as_many_devices_as_the_limit_says)
{
    std::vector<DevHandle> others;
    for (const DeviceParam &device : devices_that(can_copy)) {
        if (device.ibdev != GetParam().ibdev)
            others.push_back(open_device(device));
    }
    if (others.size() < 2)
        GTEST_SKIP() << "takes three devices";
    must(doca_mmap_set_max_num_devices(mmap, 2));
    EXPECT_EQ(doca_mmap_dev_add(mmap, dev), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_dev_add(mmap, others[0]), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_dev_add(mmap, others[1]), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(doca_mmap_dev_add(mmap, dev), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_mmap_set_max_num_devices(mmap, 1), DOCA_ERROR_INVALID_VALUE); // below what was added
    EXPECT_EQ(doca_mmap_set_max_num_devices(mmap, 3), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_dev_add(mmap, others[1]), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_dev_rm(mmap, others[0]), DOCA_SUCCESS);
    must(doca_mmap_set_memrange(mmap, memory.data(), memory.size()));
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_dev_close(others[0].release()), DOCA_SUCCESS); // removed
    EXPECT_EQ(doca_dev_close(others[1]), DOCA_ERROR_IN_USE);      // a member
    mmap.reset();
}

TEST_P(DevMmapTest, start_refuses_memory_that_is_not_mapped_throughout)
{
    const Pages pages(3);
    must_hold(munmap(pages.page(1), Pages::page_size()) == 0, "munmap");
    must(doca_mmap_set_memrange(mmap, pages.page(0), 3 * Pages::page_size()));
    must(doca_mmap_dev_add(mmap, dev));
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_stop(mmap), DOCA_ERROR_BAD_STATE); // it has not started

    // Of what is mapped, the last byte can be in a map, and the one after it can't.
    for (const std::size_t beyond : {0, 1}) {
        MmapHandle other;
        must(doca_mmap_create(nullptr, other.out()));
        must(doca_mmap_set_memrange(other, pages.page(0), Pages::page_size() + beyond));
        must(doca_mmap_dev_add(other, dev));
        EXPECT_EQ(doca_mmap_start(other), beyond == 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE);
    }
}

TEST_P(DevMmapTest, start_refuses_memory_that_cannot_be_read)
{
    const Pages pages(2);
    pages.protect(1, PROT_NONE);
    must(doca_mmap_set_memrange(mmap, pages.page(0), 2 * Pages::page_size()));
    must(doca_mmap_set_permissions(mmap, DOCA_ACCESS_LOCAL_READ_ONLY));
    must(doca_mmap_dev_add(mmap, dev));
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
    pages.protect(1, PROT_READ);
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS);
}

TEST_P(DevMmapTest, start_compares_permissions_with_the_memory)
{
    const Pages pages(1, PROT_READ);
    must(doca_mmap_set_memrange(mmap, pages.page(0), 100));
    must(doca_mmap_dev_add(mmap, dev));
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE); // local writing is the default
    for (const std::uint32_t writing :
         {DOCA_ACCESS_LOCAL_READ_WRITE, DOCA_ACCESS_RDMA_WRITE, DOCA_ACCESS_DPU_READ_WRITE}) {
        must(doca_mmap_set_permissions(mmap, writing));
        EXPECT_EQ(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE) << writing;
    }
    for (const std::uint32_t reading :
         {DOCA_ACCESS_LOCAL_READ_ONLY, DOCA_ACCESS_RDMA_READ, DOCA_ACCESS_DPU_READ_ONLY}) {
        must(doca_mmap_set_permissions(mmap, reading));
        EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS) << reading;
        must(doca_mmap_stop(mmap));
    }
}

TEST_P(DevMmapTest, start_that_fails_can_be_repeated)
{
    Freed freed;
    const Pages pages(1, PROT_READ);
    must(doca_mmap_set_memrange(mmap, pages.page(0), 100));
    must(doca_mmap_set_free_cb(mmap, Freed::callback, &freed));
    must(doca_mmap_dev_add(mmap, dev));
    ASSERT_EQ(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
    // Still in the configuration phase, before the first start.
    EXPECT_EQ(doca_mmap_set_max_num_devices(mmap, 5), DOCA_SUCCESS);
    pages.protect(0, PROT_READ | PROT_WRITE);
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS);
    mmap.reset();
    EXPECT_EQ(freed.calls, 1);
}

TEST_P(DevMmapTest, failed_start_is_none_for_the_free_callback)
{
    Freed freed;
    const Pages pages(1, PROT_READ);
    must(doca_mmap_set_memrange(mmap, pages.page(0), 100));
    must(doca_mmap_set_free_cb(mmap, Freed::callback, &freed));
    must(doca_mmap_dev_add(mmap, dev));
    ASSERT_EQ(doca_mmap_start(mmap), DOCA_ERROR_INVALID_VALUE);
    mmap.reset();
    EXPECT_EQ(freed.calls, 0);
}

TEST_P(DevMmapTest, maps_every_kind_of_memory)
{
    for (const MemoryKind kind : all_memory_kinds) {
        if (!Memory::is_available(kind))
            continue;
        SCOPED_TRACE(name_of(kind));
        const Memory bytes(kind, 10000, 3);
        const LocalMap map(dev, bytes.bytes());
        const Inventory inventory(1);
        const BufHandle buf = inventory.full(map, bytes.data(), bytes.size());
        EXPECT_EQ(data_len_of(buf), 10000u);
    }
}

// Imported maps, as far as their state goes

class ImportedMmapTest : public testing::TestWithParam<DevicePair> {
protected:
    void SetUp() override
    {
        must(doca_mmap_export_dpu(exported, exporter, &descriptor, &descriptor_size));
        must(doca_mmap_create_from_export(nullptr, descriptor, descriptor_size, importer, imported.out()));
    }

    std::vector<std::byte> memory = std::vector<std::byte>(1000);
    DevHandle exporter{open_device(GetParam().exporter)};
    DevHandle importer{open_device(GetParam().importer)};
    LocalMap exported{exporter, memory, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE};
    const void *descriptor = nullptr;
    std::size_t descriptor_size = 0;
    MmapHandle imported;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ImportedMmapTest);
INSTANTIATE_TEST_SUITE_P(devices, ImportedMmapTest, testing::ValuesIn(few_device_pairs()), pair_name);

TEST_P(ImportedMmapTest, cannot_be_configured)
{
    EXPECT_EQ(doca_mmap_start(imported), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_dev_add(imported, exporter), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_dev_rm(imported, importer), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_set_memrange(imported, memory.data(), 10), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_set_permissions(imported, DOCA_ACCESS_LOCAL_READ_WRITE), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_set_free_cb(imported, Freed::callback, nullptr), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_set_max_num_devices(imported, 5), DOCA_ERROR_NOT_PERMITTED);
}

TEST_P(ImportedMmapTest, tells_of_its_origin)
{
    std::uint8_t answer = 99;
    EXPECT_EQ(doca_mmap_get_from_export(imported, &answer), DOCA_SUCCESS);
    EXPECT_EQ(answer, 1);
    EXPECT_EQ(doca_mmap_get_exported(imported, &answer), DOCA_SUCCESS);
    EXPECT_EQ(answer, 0);
    EXPECT_EQ(doca_mmap_get_from_export(exported, &answer), DOCA_SUCCESS);
    EXPECT_EQ(answer, 0);
    EXPECT_EQ(doca_mmap_get_exported(exported, &answer), DOCA_SUCCESS);
    EXPECT_EQ(answer, 1);
    void *addr = nullptr;
    std::size_t len = 0;
    EXPECT_EQ(doca_mmap_get_memrange(imported, &addr, &len), DOCA_SUCCESS);
    EXPECT_EQ(addr, memory.data());
    EXPECT_EQ(len, memory.size());
}

TEST_P(ImportedMmapTest, needs_no_start_and_can_be_stopped_once)
{
    const Inventory inventory(1);
    doca_buf *buf = nullptr;
    ASSERT_EQ(doca_buf_inventory_buf_by_addr(inventory, imported, memory.data(), 10, &buf), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_stop(imported), DOCA_ERROR_NOT_PERMITTED); // with a buffer
    must(doca_buf_refcount_rm(buf, nullptr));
    EXPECT_EQ(doca_mmap_stop(imported), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_stop(imported), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_mmap_start(imported), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_buf_inventory_buf_by_addr(inventory, imported, memory.data(), 10, &buf), DOCA_ERROR_NOT_PERMITTED);
}

TEST_P(ImportedMmapTest, keeps_its_device_in_use)
{
    EXPECT_EQ(doca_dev_close(importer), DOCA_ERROR_IN_USE);
    imported.reset();
    EXPECT_EQ(doca_dev_close(importer.release()), DOCA_SUCCESS);
}

TEST_P(ImportedMmapTest, keeps_its_own_user_data)
{
    const doca_data given = {.u64 = 0x1234567890};
    doca_data got = {.u64 = 77};
    EXPECT_EQ(doca_mmap_get_user_data(imported, &got), DOCA_SUCCESS);
    EXPECT_EQ(got.u64, 0u);
    must(doca_mmap_create_from_export(&given, descriptor, descriptor_size, importer, imported.out()));
    EXPECT_EQ(doca_mmap_get_user_data(imported, &got), DOCA_SUCCESS);
    EXPECT_EQ(got.u64, given.u64);
}

TEST_P(ImportedMmapTest, exported_map_starts_anew_only_after_a_stop)
{
    EXPECT_EQ(doca_mmap_start(exported), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_mmap_stop(exported), DOCA_SUCCESS);
    std::uint8_t answer = 99;
    EXPECT_EQ(doca_mmap_get_exported(exported, &answer), DOCA_SUCCESS);
    EXPECT_EQ(answer, 0);
    EXPECT_EQ(doca_mmap_start(exported), DOCA_SUCCESS);
}
