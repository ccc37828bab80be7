// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compression and erasure coding, which the CPU carries out: tasks that end within their submission, and long ones,
// which end later. AES-GCM is left out: loading OpenSSL's ciphers makes 6,000 allocations of its own, some of which it
// keeps.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doca_compress.h>
#include <doca_erasure_coding.h>

#include "parts.hpp"

namespace attack {

namespace {

constexpr std::size_t lengths[] = {1024, std::size_t{384} << 10};
constexpr std::size_t room = std::size_t{512} << 10;

/// The memory of a part: a source with bytes that compress well, and room for two results.
class Memory {
public:
    Memory(Walk &walk, doca_dev *dev)
        : bytes_(3 * room, std::byte{3}),
          map_(walk, dev, bytes_, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE),
          inventory_(walk, 16)
    {
    }

    [[nodiscard]] bool is_made() const { return map_.is_made() && inventory_.is_made(); }
    [[nodiscard]] doca_buf *source(std::size_t length) { return inventory_.make(map_, bytes_.data(), length, true); }
    [[nodiscard]] doca_buf *result(std::size_t number, std::size_t length = room)
    {
        return inventory_.make(map_, bytes_.data() + (1 + number) * room, length, false);
    }
    [[nodiscard]] std::byte *result_at(std::size_t number) { return bytes_.data() + (1 + number) * room; }

private:
    std::vector<std::byte> bytes_;
    Map map_;
    Inventory inventory_;
};

/// Allocates a task by @p alloc and runs it: whether it has succeeded.
template <typename Task, typename Alloc>
bool run_task(Walk &walk, Engine &engine, doca_task *(*as_task)(Task *), Alloc alloc)
{
    End &end = new_end();
    Task *task = nullptr;
    return walk.call([&] { return alloc(doca_data{.ptr = &end}, &task); }) &&
           walk.call([&] { return engine.run(as_task(task), end); });
}

} // namespace

void walk_through_compression(Walk &walk, doca_dev *dev)
{
    if (doca_compress_cap_task_compress_deflate_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
        return;
    Memory memory(walk, dev);
    Engine engine(walk);
    Owned<doca_compress> compress(walk, doca_compress_destroy);
    using Compress = doca_compress_task_compress_deflate;
    using Decompress = doca_compress_task_decompress_deflate;
    if (!memory.is_made() || !engine.is_made() ||
        !walk.call([&] { return doca_compress_create(dev, compress.out()); }) || !walk.call([&] {
            return doca_compress_task_compress_deflate_set_conf(compress, record_end<Compress>, record_end<Compress>,
                                                                2);
        }) ||
        !walk.call([&] {
            return doca_compress_task_decompress_deflate_set_conf(compress, record_end<Decompress>,
                                                                  record_end<Decompress>, 2);
        }))
        return;
    Running running(walk, engine, doca_compress_as_ctx(compress));
    for (const std::size_t length : lengths) {
        doca_buf *const src = memory.source(length), *const packed = memory.result(0), *const back = memory.result(1);
        if (!running.is_started() || src == nullptr || packed == nullptr || back == nullptr)
            return;
        if (run_task(walk, engine, doca_compress_task_compress_deflate_as_task,
                     [&](doca_data data, Compress **task) {
                         return doca_compress_task_compress_deflate_alloc_init(compress, src, packed, data, task);
                     }) &&
            run_task(walk, engine, doca_compress_task_decompress_deflate_as_task,
                     [&](doca_data data, Decompress **task) {
                         return doca_compress_task_decompress_deflate_alloc_init(compress, packed, back, data, task);
                     }))
            walk.require(memory.result_at(1)[length - 1] == std::byte{3}, "what was compressed comes back");
    }
}

void walk_through_erasure_coding(Walk &walk, doca_dev *dev)
{
    if (doca_ec_cap_task_create_is_supported(doca_dev_as_devinfo(dev)) != DOCA_SUCCESS)
        return;
    Memory memory(walk, dev);
    Engine engine(walk);
    Owned<doca_ec> ec(walk, doca_ec_destroy);
    Owned<doca_ec_matrix> matrix(walk, doca_ec_matrix_destroy), recovery(walk, doca_ec_matrix_destroy);
    std::uint32_t missing[] = {0};
    using Create = doca_ec_task_create;
    if (!memory.is_made() || !engine.is_made() || !walk.call([&] { return doca_ec_create(dev, ec.out()); }) ||
        !walk.call([&] { return doca_ec_task_create_set_conf(ec, record_end<Create>, record_end<Create>, 2); }) ||
        !walk.call([&] { return doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_VANDERMONDE, 3, 1, matrix.out()); }) ||
        !walk.call([&] { return doca_ec_matrix_create_recover(ec, matrix, missing, 1, recovery.out()); }))
        return;
    Running running(walk, engine, doca_ec_as_ctx(ec));
    for (const std::size_t length : lengths) {
        const std::size_t size = length / 3 / 64 * 64 * 3;
        doca_buf *const src = memory.source(size), *const dst = memory.result(0);
        if (!running.is_started() || src == nullptr || dst == nullptr)
            return;
        if (run_task(walk, engine, doca_ec_task_create_as_task, [&](doca_data data, Create **task) {
                return doca_ec_task_create_allocate_init(ec, matrix, src, dst, data, task);
            }))
            walk.require(memory.result_at(0)[size / 3 - 1] == std::byte{3}, "the redundancy is there");
    }
}

} // namespace attack
