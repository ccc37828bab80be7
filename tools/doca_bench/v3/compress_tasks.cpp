// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compression by tasks of DOCA 3.0: what compress_session.hpp leaves to the generation.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <doca_compress.h>
#include <xxhash.h>

#include "../compress_session.hpp"
#include "task_engine.hpp"

namespace opendoca::tools {

namespace {

/// A running context, and buffers for the memory of a case.
class CompressTasks final : public Variant {
public:
    CompressTasks(doca_dev *dev, CompressOperation operation, std::span<std::byte> source, std::span<std::byte> result)
        : source_map_(start_map(dev, source, api::local_rights)),
          result_map_(start_map(dev, result, api::local_rights)),
          inventory_(start_inventory(2))
    {
        doca_compress *compress = nullptr;
        must(doca_compress_create(dev, &compress), "creating a compress object");
        compress_.reset(compress);
        must(doca_compress_task_compress_deflate_set_conf(compress, ended, failed, 1), "configuring tasks");
        must(doca_compress_task_decompress_deflate_set_conf(compress, ended, failed, 1), "configuring tasks");
        must(doca_compress_task_decompress_lz4_block_set_conf(compress, ended, failed, 1), "configuring tasks");
        engine_.start(doca_compress_as_ctx(compress), 1);
        must(api::take_buf(inventory_.get(), source_map_.get(), source.data(), source.size(), source.size(), &source_),
             "taking a buffer");
        must(api::take_buf(inventory_.get(), result_map_.get(), result.data(), result.size(), 0, &result_),
             "taking a buffer");
        switch (operation) {
        case CompressOperation::compress_deflate:
            alloc(doca_compress_task_compress_deflate_alloc_init, doca_compress_task_compress_deflate_as_task);
            break;
        case CompressOperation::decompress_deflate:
            alloc(doca_compress_task_decompress_deflate_alloc_init, doca_compress_task_decompress_deflate_as_task);
            break;
        case CompressOperation::decompress_lz4:
            alloc(doca_compress_task_decompress_lz4_block_alloc_init, doca_compress_task_decompress_lz4_block_as_task);
            break;
        }
    }
    ~CompressTasks() override
    {
        engine_.stop(tasks_);
        (void)api::drop_buf(source_, nullptr);
        (void)api::drop_buf(result_, nullptr);
    }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            must(doca_buf_reset_data_len(result_), "resetting the destination");
            must(doca_task_submit(tasks_.front()), "submitting a task");
            (void)engine_.retrieve([] {});
        }
    }

private:
    template <typename Task>
    void alloc(doca_error_t (*alloc_init)(doca_compress *, const doca_buf *, doca_buf *, doca_data, Task **),
               doca_task *(*as_task)(Task *))
    {
        Task *task = nullptr;
        must(alloc_init(compress_.get(), source_, result_, doca_data{}, &task), "allocating a task");
        tasks_.push_back(as_task(task));
    }
    template <typename Task>
    static void ended(Task *, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::ended(task_data, ctx_data);
    }
    template <typename Task>
    static void failed(Task *task, doca_data task_data, doca_data ctx_data)
    {
        // A task begins with its doca_task.
        TaskEngine::failed(reinterpret_cast<doca_task *>(task), task_data, ctx_data);
    }

    MmapHandle source_map_;
    MmapHandle result_map_;
    InventoryHandle inventory_;
    TaskEngine engine_;
    Handle<doca_compress, doca_compress_destroy> compress_; // destroyed before its engine
    doca_buf *source_ = nullptr;
    doca_buf *result_ = nullptr;
    std::vector<doca_task *> tasks_; ///< one
};

} // namespace

bool can_compress(doca_devinfo &info)
{
    return doca_compress_cap_task_compress_deflate_is_supported(&info) == DOCA_SUCCESS;
}

std::unique_ptr<Variant> make_compress_loop(doca_dev *dev, CompressOperation operation, std::span<std::byte> source,
                                            std::span<std::byte> result)
{
    return std::make_unique<CompressTasks>(dev, operation, source, result);
}

std::uint32_t second_lz4_checksum(std::span<const std::byte> content)
{
    return XXH32(content.data(), content.size(), 0);
}

} // namespace opendoca::tools
