// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// User memory and doorbell pages of DOCA 3.0 on the card made of software: a program makes a queue of the device of
// them. And on devices that take no commands.
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <infiniband/mlx5dv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_rdma_bridge.h>
#include <doca_uar.h>
#include <doca_umem.h>

#include "../conformance/support/log_capture.hpp"
#include "../conformance/v3/objects.hpp"
#include "card_control.hpp"

namespace {

using namespace doca_test;
using namespace mlx5_test;

using UmemHandle = Handle<doca_umem, doca_umem_destroy>;
using UarHandle = Handle<doca_uar, doca_uar_destroy>;

constexpr std::uint32_t read_write = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE;

UmemHandle umem_of(doca_dev *dev, std::span<std::byte> memory, std::uint32_t access = read_write)
{
    UmemHandle umem;
    must(doca_umem_create(dev, memory.data(), memory.size(), access, umem.out()));
    return umem;
}

std::uint32_t id_of(const doca_umem *umem)
{
    std::uint32_t id = 0;
    must(doca_umem_get_id(umem, &id));
    return id;
}

UarHandle uar_of(doca_dev *dev, doca_uar_allocation_type type = DOCA_UAR_ALLOCATION_TYPE_NONCACHE)
{
    UarHandle uar;
    must(doca_uar_create(dev, type, uar.out()));
    return uar;
}

std::uint32_t id_of(const doca_uar *uar)
{
    std::uint32_t id = 0;
    must(doca_uar_id_get(uar, &id));
    return id;
}

std::vector<std::string> devices()
{
    std::vector<std::string> names;
    const DevinfoList list;
    for (const doca_devinfo *info : list)
        names.push_back(ibdev_of(info));
    return names;
}

/// A completion queue of 64 entries, as the device's manual has its command.
class DevxQueue {
public:
    static constexpr std::size_t buffer_bytes = 64 * 64;
    static constexpr std::size_t record_bytes = 8;

    /// The buffer is at the beginning of @p buffer, the doorbell record at that of @p record.
    DevxQueue(doca_dev *dev, std::uint32_t buffer, std::uint32_t record, std::uint32_t uar)
    {
        ibv_pd *pd = nullptr;
        must(doca_rdma_bridge_get_dev_pd(dev, &pd));
        std::array<std::uint32_t, 0x110 / 4> in{};
        std::array<std::uint32_t, 4> out{};
        const auto set = [&](unsigned bit, unsigned width, std::uint32_t value) {
            std::uint32_t word = be32toh(in[bit / 32]);
            word |= value << (32 - bit % 32 - width);
            in[bit / 32] = htobe32(word);
        };
        constexpr unsigned context = 0x80;
        set(0, 16, 0x400); // CREATE_CQ
        set(context + 0x06, 1, 1);
        set(context + 0x20, 32, record);
        set(context + 0x63, 5, 6); // 64 entries
        set(context + 0x68, 24, uar);
        set(0x2c0, 32, buffer);
        set(0x2e0, 1, 1);
        errno = 0;
        object_ = mlx5dv_devx_obj_create(pd->context, in.data(), sizeof(in), out.data(), sizeof(out));
    }
    DevxQueue(const DevxQueue &) = delete;
    DevxQueue &operator=(const DevxQueue &) = delete;
    ~DevxQueue()
    {
        if (object_ != nullptr) {
            EXPECT_EQ(mlx5dv_devx_obj_destroy(object_), 0);
        }
    }
    [[nodiscard]] bool exists() const { return object_ != nullptr; }

private:
    mlx5dv_devx_obj *object_ = nullptr;
};

class UserAccess : public testing::TestWithParam<std::string> {
protected:
    UserAccess()
        : memory(static_cast<std::byte *>(
                     mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
                 2 * page)
    {
    }
    ~UserAccess() override { munmap(memory.data(), memory.size()); }
    void SetUp() override { ASSERT_NE(memory.data(), MAP_FAILED); }
    void TearDown() override { EXPECT_EQ(ask_card("clear"), "ok"); }

    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::span<std::byte> memory;
    DevHandle dev = open_device(GetParam());
};
INSTANTIATE_TEST_SUITE_P(device, UserAccess, testing::ValuesIn(devices()), name_of_device);

TEST_P(UserAccess, MemoryIsKnownByItsNumberUntilItIsDestroyed)
{
    const std::uint64_t objects = card_count("objects");
    UmemHandle umem = umem_of(dev, memory.subspan(100, page)); // any address will do
    const UmemHandle other = umem_of(dev, memory.first(page));
    EXPECT_EQ(card_count("objects"), objects + 2);
    EXPECT_NE(id_of(umem), id_of(other));
    std::uint32_t size = 0;
    void *address = nullptr;
    EXPECT_EQ(doca_umem_get_size(umem, &size), DOCA_SUCCESS);
    EXPECT_EQ(size, page);
    EXPECT_EQ(doca_umem_get_address(umem, &address), DOCA_SUCCESS);
    EXPECT_EQ(address, memory.data() + 100);
    umem.reset();
    EXPECT_EQ(card_count("objects"), objects + 1);
}

TEST_P(UserAccess, PagesOfEachTypeAreThisProcessesAndDiffer)
{
    std::vector<UarHandle> uars;
    for (const auto type :
         {DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME, DOCA_UAR_ALLOCATION_TYPE_NONCACHE, DOCA_UAR_ALLOCATION_TYPE_NONCACHE}) {
        uars.push_back(uar_of(dev, type));
        void *first = nullptr, *reg = nullptr;
        EXPECT_EQ(doca_uar_page_get(uars.back(), &first), DOCA_SUCCESS);
        EXPECT_EQ(doca_uar_reg_addr_get(uars.back(), &reg), DOCA_SUCCESS);
        ASSERT_NE(first, nullptr);
        EXPECT_LE(first, reg);
        EXPECT_LT(reg, static_cast<std::byte *>(first) + page);
        *static_cast<volatile std::uint64_t *>(reg) = 0; // a doorbell of no queue
    }
    EXPECT_NE(id_of(uars[0]), id_of(uars[1]));
    // The third type has no name in the libmlx5 of Debian 12.
    doca_uar *dedicated = nullptr;
    const doca_error_t status = doca_uar_create(dev, DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED, &dedicated);
    EXPECT_EQ(status, DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(dedicated, nullptr);
}

TEST_P(UserAccess, AQueueOfTheDeviceIsMadeOfThem)
{
    UmemHandle buffer = umem_of(dev, memory.first(DevxQueue::buffer_bytes));
    const UmemHandle record = umem_of(dev, memory.subspan(page, DevxQueue::record_bytes));
    const UarHandle uar = uar_of(dev);
    {
        const DevxQueue queue(dev, id_of(buffer), id_of(record), id_of(uar));
        ASSERT_TRUE(queue.exists()) << std::strerror(errno);
        // The device does not let go of what a queue uses, and nothing has changed after that.
        LogCapture log;
        EXPECT_EQ(doca_umem_destroy(buffer), DOCA_ERROR_DRIVER);
        EXPECT_LOGGED(log, "an object of the device uses it");
    }
    {
        const DevxQueue again(dev, id_of(buffer), id_of(record), id_of(uar));
        EXPECT_TRUE(again.exists());
    }
    const std::uint32_t id = id_of(buffer);
    buffer.reset();
    const DevxQueue without_buffer(dev, id, id_of(record), id_of(uar));
    EXPECT_FALSE(without_buffer.exists());
    const DevxQueue without_page(dev, id_of(record), id_of(record), 0xffffff);
    EXPECT_FALSE(without_page.exists());
}

TEST_P(UserAccess, MemoryThatIsOnlyReadTakesNoQueue)
{
    const UarHandle uar = uar_of(dev);
    const UmemHandle record = umem_of(dev, memory.subspan(page, DevxQueue::record_bytes));
    for (const std::uint32_t access : {DOCA_ACCESS_FLAG_LOCAL_READ_ONLY + 0U, DOCA_ACCESS_FLAG_RDMA_READ + 0U,
                                       DOCA_ACCESS_FLAG_PCI_READ_ONLY + 0U}) {
        const UmemHandle buffer = umem_of(dev, memory.first(DevxQueue::buffer_bytes), access);
        EXPECT_FALSE(DevxQueue(dev, id_of(buffer), id_of(record), id_of(uar)).exists()) << access;
    }
    for (const std::uint32_t access :
         {read_write, DOCA_ACCESS_FLAG_RDMA_WRITE + 0U, DOCA_ACCESS_FLAG_RDMA_ATOMIC + 0U,
          DOCA_ACCESS_FLAG_PCI_READ_WRITE | std::uint32_t{DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING}}) {
        const UmemHandle buffer = umem_of(dev, memory.first(DevxQueue::buffer_bytes), access);
        EXPECT_TRUE(DevxQueue(dev, id_of(buffer), id_of(record), id_of(uar)).exists()) << access;
    }
}

TEST_P(UserAccess, TheDeviceStaysOpenForThem)
{
    UmemHandle umem = umem_of(dev, memory);
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
    umem.reset();
    UarHandle uar = uar_of(dev);
    EXPECT_EQ(doca_dev_close(dev), DOCA_ERROR_IN_USE);
    uar.reset();
    EXPECT_EQ(doca_dev_close(dev.release()), DOCA_SUCCESS);
}

TEST_P(UserAccess, WhatIsRefusedLeavesNothingBehind)
{
    doca_umem *umem = nullptr;
    doca_uar *uar = nullptr;
    const std::uint64_t objects = card_count("objects");
    EXPECT_EQ(doca_umem_create(dev, memory.data(), 0, read_write, &umem), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_umem_create(dev, memory.data(), page, 128, &umem), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_umem_create(dev, memory.data(), page,
                               DOCA_ACCESS_FLAG_PCI_READ_ONLY | DOCA_ACCESS_FLAG_PCI_READ_WRITE, &umem),
              DOCA_ERROR_INVALID_VALUE);
    // Memory that is not there.
    ASSERT_EQ(mprotect(memory.data() + page, page, PROT_NONE), 0);
    EXPECT_EQ(doca_umem_create(dev, memory.data(), 2 * page, read_write, &umem), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_uar_create(dev, no_value<doca_uar_allocation_type>(3), &uar), DOCA_ERROR_INVALID_VALUE);
    const struct {
        const char *fault;
        doca_error_t code;
    } faults[] = {{" 12", DOCA_ERROR_NO_MEMORY}, {" 5", DOCA_ERROR_DRIVER}, {" 95", DOCA_ERROR_NOT_SUPPORTED}};
    for (const auto &[fault, code] : faults) {
        ASSERT_EQ(ask_card(std::string("refuse reg_umem") + fault), "ok");
        EXPECT_EQ(doca_umem_create(dev, memory.data(), page, read_write, &umem), code);
    }
    EXPECT_EQ(umem, nullptr);
    EXPECT_EQ(uar, nullptr);
    EXPECT_EQ(card_count("objects"), objects);
    EXPECT_EQ(doca_dev_close(dev.release()), DOCA_SUCCESS) << "nothing uses it";
}

TEST_P(UserAccess, NoPageIsAnErrorOfTheDriver)
{
    // libmlx5 keeps pages that were given back, and asks for a new one when it has none left. Uncached ones are one for
    // all.
    const struct {
        const char *fault;
        doca_error_t code;
    } faults[] = {{" 12", DOCA_ERROR_NO_MEMORY}, {" 5", DOCA_ERROR_DRIVER}, {" 95", DOCA_ERROR_NOT_SUPPORTED}};
    std::vector<UarHandle> taken;
    for (const auto &[fault, code] : faults) {
        ASSERT_EQ(ask_card(std::string("refuse alloc_uar") + fault), "ok");
        doca_error_t status = DOCA_SUCCESS;
        for (int i = 0; i < 64 && status == DOCA_SUCCESS; ++i) {
            UarHandle uar;
            status = doca_uar_create(dev, DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME, uar.out());
            taken.push_back(std::move(uar));
        }
        EXPECT_EQ(status, code) << fault;
    }
}

/// Of a card that refuses QUERY_HCA_CAP: a run of its own.
class UserAccessWithoutDevx : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(device, UserAccessWithoutDevx, testing::ValuesIn(devices()), name_of_device);

TEST_P(UserAccessWithoutDevx, ThereIsNone)
{
    DevHandle dev = open_device(GetParam());
    std::array<std::byte, 64> memory{};
    doca_umem *umem = nullptr;
    doca_uar *uar = nullptr;
    LogCapture log;
    EXPECT_EQ(doca_umem_create(dev, memory.data(), memory.size(), read_write, &umem), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_uar_create(dev, DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME, &uar), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "DEVX");
    EXPECT_EQ(umem, nullptr);
    EXPECT_EQ(uar, nullptr);
    EXPECT_EQ(doca_dev_close(dev.release()), DOCA_SUCCESS) << "nothing uses it";
}

} // namespace
