// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
// The same copy from C++14, C++17 and C++20: designated initialisers where the language has them.
#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include <doca_argp.h>
#include <doca_buf_inventory.h>
#include <doca_dma.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(DMA_COPY::CXX)

namespace {

void check(doca_error_t status, const char *what)
{
    if (status != DOCA_SUCCESS)
        throw std::runtime_error(std::string(what) + ": " + doca_get_error_string(status));
}

template <typename T>
using Owned = std::unique_ptr<T, doca_error_t (*)(T *)>;

template <typename T, typename Create>
Owned<T> make(Create create, doca_error_t (*destroy)(T *), const char *what)
{
    T *object = nullptr;
    check(create(&object), what);
    return Owned<T>(object, destroy);
}

Owned<doca_dev> open_device()
{
    doca_devinfo **list = nullptr;
    uint32_t count = 0;
    check(doca_devinfo_list_create(&list, &count), "list");
    doca_dev *dev = nullptr;
    for (uint32_t i = 0; i < count && dev == nullptr; i++) {
        if (doca_dma_job_get_supported(list[i], DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS)
            check(doca_dev_open(list[i], &dev), "open");
    }
    doca_devinfo_list_destroy(list);
    if (dev == nullptr)
        throw std::runtime_error("no device");
    return Owned<doca_dev>(dev, doca_dev_close);
}

Owned<doca_mmap> map(doca_dev *dev, void *address, size_t length)
{
    auto mmap =
        make<doca_mmap>([](doca_mmap **out) { return doca_mmap_create(nullptr, out); }, doca_mmap_destroy, "mmap");
    check(doca_mmap_dev_add(mmap.get(), dev), "dev_add");
    check(doca_mmap_set_memrange(mmap.get(), address, length), "set_memrange");
    check(doca_mmap_set_permissions(mmap.get(), DOCA_ACCESS_LOCAL_READ_WRITE), "set_permissions");
    check(doca_mmap_start(mmap.get()), "start");
    return mmap;
}

doca_dma_job_memcpy describe(doca_ctx *ctx, doca_buf *dst, const doca_buf *src)
{
#if __cplusplus >= 202002L
    return {
        .base = {.type = DOCA_DMA_JOB_MEMCPY, .flags = DOCA_JOB_FLAGS_NONE, .ctx = ctx, .user_data = {.u64 = 42}},
        .dst_buff = dst,
        .src_buff = src,
    };
#else
    doca_dma_job_memcpy job{};
    job.base.type = DOCA_DMA_JOB_MEMCPY;
    job.base.flags = DOCA_JOB_FLAGS_NONE;
    job.base.ctx = ctx;
    job.base.user_data.u64 = 42;
    job.dst_buff = dst;
    job.src_buff = src;
    return job;
#endif
}

void copy(std::array<char, 64> &dst, std::array<char, 64> &src)
{
    auto dev = open_device();
    auto dma = make<doca_dma>(doca_dma_create, doca_dma_destroy, "dma");
    doca_ctx *const ctx = doca_dma_as_ctx(dma.get());
    check(doca_ctx_dev_add(ctx, dev.get()), "ctx_dev_add");
    check(doca_ctx_start(ctx), "ctx_start");
    auto workq =
        make<doca_workq>([](doca_workq **out) { return doca_workq_create(8, out); }, doca_workq_destroy, "workq");
    check(doca_ctx_workq_add(ctx, workq.get()), "workq_add");
    auto inventory = make<doca_buf_inventory>(
        [](doca_buf_inventory **out) { return doca_buf_inventory_create(nullptr, 2, DOCA_BUF_EXTENSION_NONE, out); },
        doca_buf_inventory_destroy, "inventory");
    check(doca_buf_inventory_start(inventory.get()), "inventory_start");
    auto src_mmap = map(dev.get(), src.data(), src.size());
    auto dst_mmap = map(dev.get(), dst.data(), dst.size());
    doca_buf *src_buf = nullptr;
    doca_buf *dst_buf = nullptr;
    check(doca_buf_inventory_buf_by_data(inventory.get(), src_mmap.get(), src.data(), src.size(), &src_buf), "src");
    check(doca_buf_inventory_buf_by_addr(inventory.get(), dst_mmap.get(), dst.data(), dst.size(), &dst_buf), "dst");

    const doca_dma_job_memcpy job = describe(ctx, dst_buf, src_buf);
    check(doca_workq_submit(workq.get(), &job.base), "submit");
    doca_event event{};
    doca_error_t status;
    while ((status = doca_workq_progress_retrieve(workq.get(), &event, 0)) == DOCA_ERROR_AGAIN) {
    }
    check(status, "retrieve");
    check(static_cast<doca_error_t>(event.result.u64), "result");
    doca_buf_refcount_rm(src_buf, nullptr);
    doca_buf_refcount_rm(dst_buf, nullptr);
    check(doca_ctx_workq_rm(ctx, workq.get()), "workq_rm");
    check(doca_ctx_stop(ctx), "ctx_stop");
    check(doca_ctx_dev_rm(ctx, dev.get()), "ctx_dev_rm");
}

} // namespace

int main(int argc, char **argv)
try {
    std::array<char, 64> src{"a text from C++"};
    std::array<char, 64> dst{};
    check(doca_log_create_standard_backend(), "log");
    check(doca_argp_init("dma_copy_cpp", nullptr), "argp_init");
    check(doca_argp_start(argc, argv), "argp_start");
    copy(dst, src);
    check(doca_argp_destroy(), "argp_destroy");
    std::printf("copied: %s\n", dst.data());
    return 0;
} catch (const std::exception &error) {
    DOCA_LOG_ERR("%s", error.what());
    return 1;
}
