// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: a source of any bytes, in any pieces, for each type of compress tasks. The first three bytes of an input
// choose the type, the flags, how the source and the destination are cut, and the room of the destination.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "target.hpp"

namespace {

constexpr std::size_t half = 65536;
constexpr std::byte canary{0xa5};

std::byte memory[3 * half]; ///< the source, the destination, and what a compressed source is decompressed to
bool has_ended;

template <typename Task>
void ended(Task *, doca_data, doca_data)
{
    has_ended = true;
}

/// A running context on a software device. Lives as long as the process.
struct Context {
    Context()
    {
        set_up();
        doca_devinfo **list = nullptr;
        std::uint32_t count = 0;
        must(doca_devinfo_create_list(&list, &count));
        for (std::uint32_t i = 0; i != count && dev == nullptr; ++i) {
            if (doca_compress_cap_task_compress_deflate_is_supported(list[i]) == DOCA_SUCCESS)
                must(doca_dev_open(list[i], &dev));
        }
        must(doca_devinfo_destroy_list(list));
        must(doca_mmap_create(&map));
        must(doca_mmap_add_dev(map, dev));
        must(doca_mmap_set_memrange(map, memory, sizeof(memory)));
        must(doca_mmap_start(map));
        must(doca_buf_inventory_create(64, &inventory));
        must(doca_buf_inventory_start(inventory));
        must(doca_pe_create(&pe));
        must(doca_compress_create(dev, &compress));
        must(doca_compress_task_compress_deflate_set_conf(compress, ended, ended, 1));
        must(doca_compress_task_decompress_deflate_set_conf(compress, ended, ended, 1));
        must(doca_compress_task_decompress_lz4_stream_set_conf(compress, ended, ended, 1));
        must(doca_compress_task_decompress_lz4_block_set_conf(compress, ended, ended, 1));
        must(doca_pe_connect_ctx(pe, doca_compress_as_ctx(compress)));
        must(doca_ctx_start(doca_compress_as_ctx(compress)));
    }

    /// Returns a list of @p length bytes at @p at, cut every @p step bytes, with @p gap bytes between the elements. It
    /// is filled with @p data, or has none if that is empty.
    doca_buf *list(std::byte *at, std::size_t length, std::size_t step, std::size_t gap, Input data) const
    {
        constexpr std::size_t most_elements = 20;
        step = std::max(step, length / most_elements + 1);
        doca_buf *head = nullptr;
        for (std::size_t done = 0; done != length;) {
            const std::size_t part = std::min(length - done, step);
            const Input part_of_data = data.empty() ? data : data.subspan(done, part);
            std::ranges::copy(part_of_data, at);
            doca_buf *buf = nullptr;
            must(doca_buf_inventory_buf_get_by_args(inventory, map, at, part, at, part_of_data.size(), &buf));
            if (head == nullptr)
                head = buf;
            else
                must(doca_buf_chain_list(head, buf));
            at += part + gap;
            done += part;
        }
        return head;
    }

    doca_error_t run(doca_task *task) const
    {
        has_ended = false;
        must(doca_task_submit(task));
        while (!has_ended)
            (void)doca_pe_progress(pe); // 0 while another thread carries out a long task
        const doca_error_t status = doca_task_get_status(task);
        doca_task_free(task);
        return status;
    }

    doca_dev *dev = nullptr;
    doca_mmap *map = nullptr;
    doca_buf_inventory *inventory = nullptr;
    doca_pe *pe = nullptr;
    doca_compress *compress = nullptr;
};

template <typename Task, typename... Arguments>
doca_task *make(doca_error_t (*alloc_init)(Arguments...), doca_task *(*as_task)(Task *), auto... arguments)
{
    Task *task = nullptr;
    must(alloc_init(arguments..., doca_data{}, &task));
    return as_task(task);
}

std::size_t length_of(const doca_buf *list)
{
    std::size_t length = 0;
    for (auto *buf = const_cast<doca_buf *>(list); buf != nullptr;) {
        std::size_t part = 0;
        must(doca_buf_get_data_len(buf, &part));
        length += part;
        must(doca_buf_get_next_in_list(buf, &buf));
    }
    return length;
}

/// What was compressed is decompressed to the same bytes.
void decompress(const Context &context, doca_buf *stream, Input data)
{
    std::byte *const to = memory + 2 * half;
    doca_buf *const back = context.list(to, data.size(), half, 0, {});
    must(context.run(make(doca_compress_task_decompress_deflate_alloc_init,
                          doca_compress_task_decompress_deflate_as_task, context.compress, stream, back)));
    require(length_of(back) == data.size() && std::memcmp(to, data.data(), data.size()) == 0, "the content is equal");
    must(doca_buf_dec_refcount(back, nullptr));
}

} // namespace

void test_input(Input input)
{
    static const Context context;
    if (input.size() < 4 || input.size() > half / 2)
        return;
    const auto choice = std::to_integer<unsigned>(input[0]);
    const std::size_t step = std::to_integer<std::size_t>(input[1]) * 16 + 1;
    const std::size_t room = std::to_integer<std::size_t>(input[2]) * 257 + 1;
    input = input.subspan(3);
    const std::size_t gap = choice / 128; // elements that are adjacent are used in place
    std::byte *const to = memory + half;
    to[room] = canary;
    doca_buf *const src = context.list(memory, input.size(), step, gap, input);
    doca_buf *const dst = context.list(to, room, choice & 64 ? step : half, choice & 64 ? gap : 0, {});
    const auto run = [&](auto alloc_init, auto as_task, auto... flags) {
        return context.run(
            make(alloc_init, as_task, context.compress, flags..., static_cast<const doca_buf *>(src), dst));
    };
    doca_error_t status = DOCA_SUCCESS;
    switch (choice % 4) {
    case 0:
        status = run(doca_compress_task_compress_deflate_alloc_init, doca_compress_task_compress_deflate_as_task);
        break;
    case 1:
        status = run(doca_compress_task_decompress_deflate_alloc_init, doca_compress_task_decompress_deflate_as_task);
        break;
    case 2:
        status =
            run(doca_compress_task_decompress_lz4_stream_alloc_init, doca_compress_task_decompress_lz4_stream_as_task,
                static_cast<std::uint8_t>(choice & 16), static_cast<std::uint8_t>(choice & 32));
        break;
    default:
        status =
            run(doca_compress_task_decompress_lz4_block_alloc_init, doca_compress_task_decompress_lz4_block_as_task);
    }
    require(status == DOCA_SUCCESS || status == DOCA_ERROR_IO_FAILED, "bad data is IO_FAILED");
    require(status == DOCA_SUCCESS || length_of(dst) == 0, "a task that fails writes no data");
    require((choice & 64) != 0 || to[room] == canary, "nothing is written beyond the destination");
    if (status == DOCA_SUCCESS && choice % 4 == 0)
        decompress(context, dst, input);
    must(doca_buf_dec_refcount(src, nullptr));
    must(doca_buf_dec_refcount(dst, nullptr));
}
