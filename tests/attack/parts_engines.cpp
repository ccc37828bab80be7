// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compression and erasure coding: what their contexts and matrices take from the system may be refused, and their jobs
// take nothing.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doca_compress.h>
#include <doca_erasure_coding.h>

#include "parts.hpp"

namespace attack {

void walk_through_compression(Walk &walk, doca_dev *dev)
{
    doca_devinfo *const info = doca_dev_as_devinfo(dev);
    for (const doca_compress_job_types type : {DOCA_COMPRESS_DEFLATE_JOB, DOCA_DECOMPRESS_DEFLATE_JOB}) {
        if (doca_compress_job_get_supported(info, type) != DOCA_SUCCESS)
            return; // a build without the codec
    }
    std::vector<std::byte> memory(4096, std::byte{7});
    Map map(walk, dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE);
    Inventory inventory(walk, 3);
    Owned<doca_compress> compress(walk, doca_compress_destroy);
    if (!map.is_made() || !inventory.is_made() || !walk.call([&] { return doca_compress_create(compress.out()); }))
        return;
    doca_ctx *const ctx = doca_compress_as_ctx(compress);
    Queue queue(walk, ctx, dev, false);
    if (!queue.is_made())
        return;
    const auto release = [](doca_buf *buf) { return doca_buf_refcount_rm(buf, nullptr); };
    Owned<doca_buf> src(walk, release), packed(walk, release), back(walk, release);
    *src.out() = inventory.make(map, memory.data(), 1024, true);
    *packed.out() = inventory.make(map, memory.data() + 1024, 1024, false);
    *back.out() = inventory.make(map, memory.data() + 2048, 1024, false);
    if (src.get() == nullptr || packed.get() == nullptr || back.get() == nullptr)
        return;
    std::uint64_t checksums[2] = {};
    doca_compress_deflate_job job = {};
    job.base.ctx = ctx;
    job.base.type = DOCA_COMPRESS_DEFLATE_JOB;
    job.dst_buff = packed;
    job.src_buff = src;
    job.output_chksum = &checksums[0];
    walk.require(queue.run(job.base) == DOCA_SUCCESS, "compression can't fail");
    job.base.type = DOCA_DECOMPRESS_DEFLATE_JOB;
    job.dst_buff = back;
    job.src_buff = packed;
    job.output_chksum = &checksums[1];
    walk.require(queue.run(job.base) == DOCA_SUCCESS, "decompression can't fail");
    walk.require(memory[3071] == std::byte{7} && checksums[0] == checksums[1], "the content is back");
}

void walk_through_erasure_coding(Walk &walk, doca_dev *dev)
{
    if (doca_ec_job_get_supported(doca_dev_as_devinfo(dev), DOCA_EC_JOB_CREATE) != DOCA_SUCCESS)
        return; // a build without ISA-L
    std::vector<std::byte> memory(4096, std::byte{5});
    Map map(walk, dev, memory, DOCA_ACCESS_LOCAL_READ_WRITE);
    Inventory inventory(walk, 4);
    Owned<doca_ec> ec(walk, doca_ec_destroy);
    if (!map.is_made() || !inventory.is_made() || !walk.call([&] { return doca_ec_create(ec.out()); }))
        return;
    doca_ctx *const ctx = doca_ec_as_ctx(ec);
    Queue queue(walk, ctx, dev, false);
    Owned<doca_matrix> coding(walk, doca_ec_matrix_destroy), recovery(walk, doca_ec_matrix_destroy),
        change(walk, doca_ec_matrix_destroy), raw(walk, doca_ec_matrix_destroy);
    std::uint32_t lost[] = {0, 1};
    std::uint8_t ones[] = {1, 1};
    if (!queue.is_made() ||
        !walk.call([&] { return doca_ec_matrix_create(ec, DOCA_CODING_MATRIX_CAUCHY, 3, 2, coding.out()); }) ||
        !walk.call([&] { return doca_ec_recover_matrix_create(coding, ec, lost, 2, recovery.out()); }) ||
        !walk.call([&] { return doca_ec_update_matrix_create(coding, ec, lost, 2, change.out()); }) ||
        !walk.call([&] { return doca_ec_matrix_from_raw(ec, ones, 2, 1, raw.out()); }))
        return;
    // Redundancy is written behind the data, so that the blocks 2 to 4 are the source of the recovery.
    const auto release = [](doca_buf *buf) { return doca_buf_refcount_rm(buf, nullptr); };
    Owned<doca_buf> src(walk, release), dst(walk, release), available(walk, release), recovered(walk, release);
    *src.out() = inventory.make(map, memory.data(), 3 * 64, true);
    *dst.out() = inventory.make(map, memory.data() + 3 * 64, 2 * 64, false);
    *available.out() = inventory.make(map, memory.data() + 2 * 64, 3 * 64, true);
    *recovered.out() = inventory.make(map, memory.data() + 2048, 2 * 64, false);
    if (src.get() == nullptr || dst.get() == nullptr || available.get() == nullptr || recovered.get() == nullptr)
        return;
    doca_ec_job job = {};
    job.base.ctx = ctx;
    job.base.type = DOCA_EC_JOB_CREATE;
    job.coding_matrix = coding;
    job.src_buff = src;
    job.dst_buff = dst;
    walk.require(queue.run(job.base) == DOCA_SUCCESS, "coding can't fail");
    job.base.type = DOCA_EC_JOB_RECOVER;
    job.coding_matrix = recovery;
    job.src_buff = available;
    job.dst_buff = recovered;
    std::memset(memory.data() + 2048, 0, 2 * 64);
    walk.require(queue.run(job.base) == DOCA_SUCCESS, "recovery can't fail");
    walk.require(std::memcmp(memory.data() + 2048, memory.data(), 2 * 64) == 0, "the lost blocks are back");
}

} // namespace attack
