// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compression by jobs of DOCA 2.2: what compress_session.hpp leaves to the generation.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <doca_compress.h>
#include <libdeflate.h>

#include "../compress_session.hpp"

namespace opendoca::tools {

namespace {

/// A running context with its work queue, and buffers for the memory of a case. Used by one thread.
class CompressJobs final : public Variant {
public:
    CompressJobs(doca_dev *dev, CompressOperation operation, std::span<std::byte> source, std::span<std::byte> result)
        : result_map_(start_map(dev, result, api::local_rights)),
          inventory_(start_inventory(2))
    {
        // A job of LZ4 takes the size of each block in front of it, little-endian.
        if (operation == CompressOperation::decompress_lz4) {
            for (unsigned shift = 0; shift != 32; shift += 8)
                block_.push_back(static_cast<std::byte>(source.size() >> shift));
            block_.insert(block_.end(), source.begin(), source.end());
            source = block_;
        }
        source_map_ = start_map(dev, source, api::local_rights);
        doca_compress *compress = nullptr;
        must(doca_compress_create(&compress), "creating a compress object");
        compress_.reset(compress);
        doca_workq *workq = nullptr;
        must(doca_workq_create(1, &workq), "creating a work queue");
        workq_.reset(workq);
        must(doca_ctx_dev_add(ctx(), dev), "adding a device");
        must(doca_ctx_start(ctx()), "starting compression");
        must(doca_ctx_workq_add(ctx(), workq), "adding a work queue");
        must(api::take_buf(inventory_.get(), source_map_.get(), source.data(), source.size(), source.size(), &source_),
             "taking a buffer");
        must(api::take_buf(inventory_.get(), result_map_.get(), result.data(), result.size(), 0, &result_),
             "taking a buffer");
        doca_job base{};
        base.type = operation == CompressOperation::compress_deflate     ? DOCA_COMPRESS_DEFLATE_JOB
                    : operation == CompressOperation::decompress_deflate ? DOCA_DECOMPRESS_DEFLATE_JOB
                                                                         : DOCA_DECOMPRESS_LZ4_JOB;
        base.ctx = ctx();
        deflate_ = {base, result_, source_, &checksums_};
        lz4_ = {base, result_, source_, &checksums_};
        job_ = operation == CompressOperation::decompress_lz4 ? &lz4_.base : &deflate_.base;
    }
    ~CompressJobs() override
    {
        (void)doca_ctx_workq_rm(ctx(), workq_.get());
        (void)doca_ctx_stop(ctx());
        (void)api::drop_buf(source_, nullptr);
        (void)api::drop_buf(result_, nullptr);
    }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            must(doca_buf_reset_data_len(result_), "resetting the destination");
            must(doca_workq_submit(workq_.get(), job_), "submitting a job");
            doca_event event;
            doca_error_t status = DOCA_ERROR_AGAIN;
            while ((status = doca_workq_progress_retrieve(workq_.get(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) ==
                   DOCA_ERROR_AGAIN) {
            }
            must(status, "a job");
        }
    }

private:
    [[nodiscard]] doca_ctx *ctx() const noexcept { return doca_compress_as_ctx(compress_.get()); }

    std::vector<std::byte> block_; ///< source of a job of LZ4
    MmapHandle source_map_;
    MmapHandle result_map_;
    InventoryHandle inventory_;
    Handle<doca_compress, doca_compress_destroy> compress_;
    Handle<doca_workq, doca_workq_destroy> workq_;
    doca_buf *source_ = nullptr;
    doca_buf *result_ = nullptr;
    std::uint64_t checksums_ = 0;
    doca_compress_deflate_job deflate_{};
    doca_compress_lz4_job lz4_{};
    const doca_job *job_ = nullptr; ///< one of the two
};

} // namespace

bool can_compress(doca_devinfo &info)
{
    return doca_compress_job_get_supported(&info, DOCA_COMPRESS_DEFLATE_JOB) == DOCA_SUCCESS;
}

std::unique_ptr<Variant> make_compress_loop(doca_dev *dev, CompressOperation operation, std::span<std::byte> source,
                                            std::span<std::byte> result)
{
    return std::make_unique<CompressJobs>(dev, operation, source, result);
}

std::uint32_t second_lz4_checksum(std::span<const std::byte> content)
{
    return libdeflate_adler32(1, content.data(), content.size());
}

} // namespace opendoca::tools
