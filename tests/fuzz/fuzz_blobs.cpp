// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: what a process gives to another one to find its memory, its sync event or its RDMA instance.
// Compiled once for each, with one of the macros MMAP_DPU, MMAP_RDMA, CONNECTION and SYNC_EVENT. The first
// byte of an input says whether the rest is a blob as it stands, or is what is changed of a right one; then
// its checksum is made right again.
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>

#include "../../src/core/base/crc32.hpp"
#include "target.hpp"

namespace {

doca_dev *open_device(std::string_view wanted)
{
    doca_devinfo **list = nullptr;
    std::uint32_t size = 0;
    must(doca_devinfo_list_create(&list, &size));
    doca_dev *dev = nullptr;
    for (std::uint32_t i = 0; i < size; ++i) {
        char name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
        must(doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)));
        if (name == wanted)
            must(doca_dev_open(list[i], &dev));
    }
    must(doca_devinfo_list_destroy(list));
    require(dev != nullptr, "the device is there");
    return dev;
}

std::vector<std::byte> to_vector(const void *data, std::size_t size)
{
    const auto *const bytes = static_cast<const std::byte *>(data);
    return {bytes, bytes + size};
}

#if defined(MMAP_DPU) || defined(MMAP_RDMA)

/// One that is right, of memory of this process.
class Target {
public:
    Target()
    {
        must(doca_mmap_create(nullptr, &mmap_));
        must(doca_mmap_dev_add(mmap_, host_));
        must(doca_mmap_set_memrange(mmap_, memory_.data(), memory_.size()));
        must(doca_mmap_set_permissions(mmap_, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_DPU_READ_WRITE |
                                                  DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE));
        must(doca_mmap_start(mmap_));
        const void *data = nullptr;
        std::size_t size = 0;
#ifdef MMAP_DPU
        must(doca_mmap_export_dpu(mmap_, host_, &data, &size));
#else
        must(doca_mmap_export_rdma(mmap_, host_, &data, &size));
#endif
        right = to_vector(data, size);
    }

    void take(const std::vector<std::byte> &blob)
    {
        doca_mmap *imported = nullptr;
        if (doca_mmap_create_from_export(nullptr, blob.data(), blob.size(), importer_, &imported) != DOCA_SUCCESS)
            return;
        void *start = nullptr;
        std::size_t size = 0;
        must(doca_mmap_get_memrange(imported, &start, &size));
        auto *const at = static_cast<std::byte *>(start);
        require(at >= memory_.data() && at + size <= memory_.data() + memory_.size(), "it is what was exported");
        must(doca_mmap_destroy(imported));
    }

    std::vector<std::byte> right;

private:
    std::vector<std::byte> memory_ = std::vector<std::byte>(4096);
    doca_dev *host_ = open_device("soft_pf0");
#ifdef MMAP_DPU
    doca_dev *importer_ = open_device("soft_p0");
#else
    doca_dev *importer_ = host_;
#endif
    doca_mmap *mmap_ = nullptr;
};

#elif defined(CONNECTION)

/// An instance that is to be connected to another one of this process.
class Target {
public:
    Target()
    {
        peer_ = make();
        const void *details = nullptr;
        std::size_t size = 0;
        must(doca_rdma_export(peer_, &details, &size));
        right = to_vector(details, size);
        own_ = make();
        must(doca_rdma_export(own_, &details, &size));
    }

    void take(const std::vector<std::byte> &blob)
    {
        if (doca_rdma_connect(own_, blob.data(), blob.size()) != DOCA_SUCCESS)
            return;
        must(doca_ctx_stop(doca_rdma_as_ctx(own_)));
        must(doca_rdma_destroy(own_));
        own_ = make();
        const void *details = nullptr;
        std::size_t size = 0;
        must(doca_rdma_export(own_, &details, &size));
    }

    std::vector<std::byte> right;

private:
    doca_rdma *make()
    {
        doca_rdma *made = nullptr;
        must(doca_rdma_create(&made));
        must(doca_ctx_dev_add(doca_rdma_as_ctx(made), dev_));
        must(doca_ctx_start(doca_rdma_as_ctx(made)));
        return made;
    }

    doca_dev *dev_ = open_device("soft_p0");
    doca_rdma *peer_ = nullptr;
    doca_rdma *own_ = nullptr;
};

#elif defined(SYNC_EVENT)

/// An event whose counter is in memory of the library, or with the macro WORD in the program's.
class Target {
public:
    Target()
    {
        must(doca_sync_event_create(&event_));
        must(doca_sync_event_publisher_add_location_cpu(event_, host_));
        must(doca_sync_event_subscriber_add_location_dpu(event_));
#ifdef WORD
        must(doca_sync_event_set_addr(event_, &word_));
#endif
        must(doca_sync_event_start(event_));
        const std::uint8_t *data = nullptr;
        std::size_t size = 0;
        must(doca_sync_event_export_to_dpu(event_, host_, &data, &size));
        right = to_vector(data, size);
    }

    void take(const std::vector<std::byte> &blob)
    {
        doca_sync_event *imported = nullptr;
        if (doca_sync_event_create_from_export(dpu_, reinterpret_cast<const std::uint8_t *>(blob.data()), blob.size(),
                                               &imported) == DOCA_SUCCESS)
            must(doca_sync_event_destroy(imported));
    }

    std::vector<std::byte> right;

private:
    doca_dev *host_ = open_device("soft_pf0");
    doca_dev *dpu_ = open_device("soft_p0");
    doca_sync_event *event_ = nullptr;
#ifdef WORD
    std::uint64_t word_ = 0;
#endif
};

#endif

void seal(std::vector<std::byte> &bytes)
{
    if (bytes.size() < sizeof(std::uint32_t))
        return;
    const std::size_t end = bytes.size() - sizeof(std::uint32_t);
    const std::uint32_t crc = opendoca::crc32(bytes.data(), end);
    for (std::size_t i = 0; i < sizeof(crc); ++i)
        bytes[end + i] = static_cast<std::byte>(crc >> (24 - 8 * i) & 0xff);
}

} // namespace

void test_input(Input input)
{
    static Target &target = *new Target; // stays to the end, as the library does
    if (input.empty())
        return;
    const bool is_sealed = (input[0] & std::byte{1}) == std::byte{};
    const Input rest = input.subspan(1);
    std::vector<std::byte> blob = is_sealed ? changed(target.right, rest) : std::vector(rest.begin(), rest.end());
    if (is_sealed)
        seal(blob);
    if (!blob.empty())
        target.take(blob);
}
