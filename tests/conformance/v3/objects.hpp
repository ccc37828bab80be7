// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Owners for the objects of the C API of DOCA 3.0, and the devices of this machine as parameters of tests.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

namespace doca_test {

/// For set-up that a test can't go on without. GoogleTest reports the exception.
inline void must(doca_error_t status, const char *file = __builtin_FILE(), int line = __builtin_LINE())
{
    if (status != DOCA_SUCCESS)
        throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + doca_error_get_name(status));
}

/// Destroys an object at the end, which has to work.
template <typename T, doca_error_t (*Destroy)(T *)>
class Handle {
public:
    Handle() = default;
    Handle(Handle &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Handle &operator=(Handle &&other) noexcept
    {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Handle() { reset(); }

    operator T *() const noexcept { return object_; }
    /// To be filled by a create function.
    [[nodiscard]] T **out()
    {
        reset();
        return &object_;
    }
    T *release() noexcept { return std::exchange(object_, nullptr); }
    void reset()
    {
        if (T *const object = release(); object != nullptr) {
            EXPECT_EQ(Destroy(object), DOCA_SUCCESS);
        }
    }

private:
    T *object_ = nullptr;
};

inline doca_error_t release_buf(doca_buf *buf)
{
    return doca_buf_dec_refcount(buf, nullptr);
}

using DevHandle = Handle<doca_dev, doca_dev_close>;
using MmapHandle = Handle<doca_mmap, doca_mmap_destroy>;
using InventoryHandle = Handle<doca_buf_inventory, doca_buf_inventory_destroy>;
using BufHandle = Handle<doca_buf, release_buf>;
using PeHandle = Handle<doca_pe, doca_pe_destroy>;
using DmaHandle = Handle<doca_dma, doca_dma_destroy>;

/// A list of devices that frees itself.
class DevinfoList {
public:
    DevinfoList() { must(doca_devinfo_create_list(&list_, &size_)); }
    DevinfoList(const DevinfoList &) = delete;
    DevinfoList &operator=(const DevinfoList &) = delete;
    ~DevinfoList() { EXPECT_EQ(doca_devinfo_destroy_list(list_), DOCA_SUCCESS); }

    [[nodiscard]] doca_devinfo *const *begin() const { return list_; }
    [[nodiscard]] doca_devinfo *const *end() const { return list_ + size_; }

private:
    doca_devinfo **list_ = nullptr;
    std::uint32_t size_ = 0;
};

inline std::string ibdev_of(const doca_devinfo *info)
{
    char name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
    must(doca_devinfo_get_ibdev_name(info, name, sizeof(name)));
    return name;
}

/// Whether there is a device of this name.
inline bool has_device(const std::string &ibdev)
{
    const DevinfoList list;
    return std::any_of(list.begin(), list.end(), [&](doca_devinfo *info) { return ibdev_of(info) == ibdev; });
}

/// Opens a device by its name.
inline DevHandle open_device(const std::string &ibdev)
{
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (ibdev_of(info) != ibdev)
            continue;
        DevHandle dev;
        must(doca_dev_open(info, dev.out()));
        return dev;
    }
    throw std::runtime_error("no device " + ibdev);
}

inline bool can_copy(doca_devinfo *info)
{
    return doca_dma_cap_task_memcpy_is_supported(info) == DOCA_SUCCESS;
}

/// Whether @p ibdev names one of the software devices, which all run the same code.
inline bool is_soft(const std::string &ibdev)
{
    return ibdev.starts_with("soft_");
}

/// Names of the devices that do DMA: the first software device, and every other.
inline std::vector<std::string> copying_devices()
{
    std::vector<std::string> names;
    bool has_soft = false;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        const std::string name = ibdev_of(info);
        if (can_copy(info) && !(is_soft(name) && std::exchange(has_soft, true)))
            names.push_back(name);
    }
    return names;
}

inline std::string name_of_device(const testing::TestParamInfo<std::string> &info)
{
    std::string name = info.param;
    for (char &c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0)
            c = '_';
    }
    return name;
}

/// A started memory map of memory that belongs to somebody else.
inline MmapHandle map_of(doca_dev *dev, std::span<std::byte> range,
                         std::uint32_t access = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE)
{
    MmapHandle mmap;
    must(doca_mmap_create(mmap.out()));
    must(doca_mmap_add_dev(mmap, dev));
    must(doca_mmap_set_memrange(mmap, range.data(), range.size()));
    must(doca_mmap_set_permissions(mmap, access));
    must(doca_mmap_start(mmap));
    return mmap;
}

inline InventoryHandle inventory_of(std::size_t size)
{
    InventoryHandle inventory;
    must(doca_buf_inventory_create(size, inventory.out()));
    must(doca_buf_inventory_start(inventory));
    return inventory;
}

/// A number that is none of an enumeration's, as a C program passes it.
template <typename Enum>
Enum no_value(unsigned number)
{
    Enum value{};
    static_assert(sizeof(value) == sizeof(number));
    std::memcpy(&value, &number, sizeof(number));
    return value;
}

inline std::size_t data_len_of(const doca_buf *buf)
{
    std::size_t length = 0;
    EXPECT_EQ(doca_buf_get_data_len(buf, &length), DOCA_SUCCESS);
    return length;
}

inline doca_ctx_states state_of(const doca_ctx *ctx)
{
    doca_ctx_states state{};
    EXPECT_EQ(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
    return state;
}

inline std::size_t in_flight(const doca_ctx *ctx)
{
    std::size_t count = 0;
    EXPECT_EQ(doca_ctx_get_num_inflight_tasks(ctx, &count), DOCA_SUCCESS);
    return count;
}

} // namespace doca_test

/// A suite whose parameter is the name of a device.
#define INSTANTIATE_FOR_COPYING_DEVICES(suite)                                                                         \
    GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                                              \
    INSTANTIATE_TEST_SUITE_P(device, suite, testing::ValuesIn(doca_test::copying_devices()), doca_test::name_of_device)
