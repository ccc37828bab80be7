// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doca_erasure_coding.h>

#include "../galois_reference.hpp"
#include "objects.hpp"

namespace doca_test {

using EcHandle = Handle<doca_ec, doca_ec_destroy>;
using MatrixHandle = Handle<doca_ec_matrix, doca_ec_matrix_destroy>;

inline std::vector<std::string> coding_devices()
{
    std::vector<std::string> names;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        const bool can = doca_ec_cap_task_create_is_supported(info) == DOCA_SUCCESS;
        if (can && !(is_soft(ibdev_of(info)) && !names.empty()))
            names.push_back(ibdev_of(info));
    }
    return names;
}

/// The functions of one kind of tasks.
template <typename Task>
struct KindOf;

#define DOCA_TEST_KIND(kind)                                                                                           \
    template <>                                                                                                        \
    struct KindOf<doca_ec_task_##kind> {                                                                               \
        static constexpr auto set_conf = doca_ec_task_##kind##_set_conf;                                               \
        static constexpr auto alloc = doca_ec_task_##kind##_allocate_init;                                             \
        static constexpr auto as_task = doca_ec_task_##kind##_as_task;                                                 \
    }
DOCA_TEST_KIND(galois_mul);
DOCA_TEST_KIND(create);
DOCA_TEST_KIND(update);
DOCA_TEST_KIND(recover);
#undef DOCA_TEST_KIND

/// An erasure coding context that runs, with memory for blocks.
class ErasureCodingTest : public testing::TestWithParam<std::string> {
protected:
    static constexpr std::size_t size = std::size_t{1} << 23;
    static constexpr std::uint32_t num_tasks = 4;

    void SetUp() override
    {
        must(doca_pe_create(pe.out()));
        must(doca_ec_create(dev, ec.out()));
        configure<doca_ec_task_galois_mul>();
        configure<doca_ec_task_create>();
        configure<doca_ec_task_update>();
        configure<doca_ec_task_recover>();
        must(doca_ctx_set_user_data(ctx(), {.ptr = this}));
        must(doca_pe_connect_ctx(pe, ctx()));
        must(doca_ctx_start(ctx()));
    }
    void TearDown() override
    {
        if (state_of(ctx()) == DOCA_CTX_STATE_IDLE)
            return;
        EXPECT_EQ(doca_ctx_stop(ctx()), DOCA_SUCCESS);
    }

    [[nodiscard]] doca_ctx *ctx() const { return doca_ec_as_ctx(ec); }

    template <typename Task>
    doca_error_t configure(std::uint32_t count = num_tasks)
    {
        return KindOf<Task>::set_conf(ec, ended<Task, true>, ended<Task, false>, count);
    }

    // Matrices.

    MatrixHandle matrix(doca_ec_matrix_type type, std::size_t k, std::size_t m)
    {
        MatrixHandle made;
        must(doca_ec_matrix_create(ec, type, k, m, made.out()));
        return made;
    }
    /// Null if the library refuses.
    MatrixHandle recover_matrix(const doca_ec_matrix *coding, std::vector<std::uint32_t> missing)
    {
        MatrixHandle made;
        doca_ec_matrix *raw = nullptr;
        if (doca_ec_matrix_create_recover(ec, coding, missing.data(), missing.size(), &raw) == DOCA_SUCCESS)
            *made.out() = raw;
        return made;
    }
    MatrixHandle update_matrix(const doca_ec_matrix *coding, std::vector<std::uint32_t> changed)
    {
        MatrixHandle made;
        must(doca_ec_matrix_create_update(ec, coding, changed.data(), changed.size(), made.out()));
        return made;
    }
    /// @p count of the numbers below @p end, in ascending order.
    std::vector<std::uint32_t> random_set(std::size_t end, std::size_t count)
    {
        std::vector<std::uint32_t> set(end);
        std::iota(set.begin(), set.end(), 0U);
        std::ranges::shuffle(set, random);
        set.resize(count);
        std::ranges::sort(set);
        return set;
    }
    static Rows rows(doca_ec_matrix_type type, std::size_t k, std::size_t m)
    {
        return type == DOCA_EC_MATRIX_TYPE_CAUCHY ? reference_cauchy(k, m) : reference_vandermonde(k, m);
    }

    // Memory. It is handed out from the beginning; tests set `used` back to 0.

    std::byte *take(std::size_t length)
    {
        if (length > memory.size() - used)
            throw std::runtime_error("the memory of the test is used up");
        return &memory[std::exchange(used, used + length)];
    }
    BufHandle room(std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, take(length), length, buf.out()));
        return buf;
    }
    BufHandle data(std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, map, take(length), length, buf.out()));
        return buf;
    }
    /// A buffer with the blocks, one after the other.
    BufHandle data(const Blocks &blocks)
    {
        const std::size_t begin = used;
        BufHandle buf = data(blocks.size() * blocks[0].size());
        for (std::size_t i = 0; i != blocks.size(); ++i)
            std::memcpy(&memory[begin + i * blocks[i].size()], blocks[i].data(), blocks[i].size());
        return buf;
    }
    /// Appends @p tail to the list of @p head, which is null at first and owns the list.
    static void append(BufHandle &head, BufHandle tail)
    {
        if (head == nullptr) {
            head = std::move(tail);
            return;
        }
        must(doca_buf_chain_list(head, tail));
        tail.release();
    }
    /// The data of a list.
    static Block bytes_in(const doca_buf *list)
    {
        Block all;
        for (const doca_buf *buf = list; buf != nullptr;) {
            void *addr = nullptr;
            must(doca_buf_get_data(buf, &addr));
            const auto *const bytes = static_cast<const std::uint8_t *>(addr);
            all.insert(all.end(), bytes, bytes + data_len_of(buf));
            doca_buf *next = nullptr;
            must(doca_buf_get_next_in_list(const_cast<doca_buf *>(buf), &next));
            buf = next;
        }
        return all;
    }
    /// The same as blocks of @p length bytes.
    static Blocks blocks_in(const doca_buf *list, std::size_t length)
    {
        const Block all = bytes_in(list);
        EXPECT_EQ(all.size() % length, 0u);
        Blocks blocks;
        for (std::size_t i = 0; i + length <= all.size(); i += length)
            blocks.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(i),
                                all.begin() + static_cast<std::ptrdiff_t>(i + length));
        return blocks;
    }
    Blocks random_blocks(std::size_t count, std::size_t length)
    {
        Blocks blocks(count, Block(length));
        for (Block &block : blocks) {
            for (std::uint8_t &byte : block)
                byte = static_cast<std::uint8_t>(random());
        }
        return blocks;
    }

    // Tasks.

    template <typename Task>
    Task *alloc(const doca_ec_matrix *matrix, const doca_buf *src, doca_buf *dst)
    {
        Task *task = nullptr;
        must(KindOf<Task>::alloc(ec, matrix, src, dst, {.u64 = 7}, &task));
        return task;
    }
    /// Submits @p task and serves its end: how it has ended.
    doca_error_t run(doca_task *task)
    {
        const int before = num_ended;
        EXPECT_EQ(doca_task_submit(task), DOCA_SUCCESS);
        EXPECT_EQ(num_ended, before) << "a submit calls no callback";
        while (num_ended == before)
            EXPECT_EQ(doca_pe_progress(pe), 1);
        EXPECT_EQ(last_succeeded, doca_task_get_status(task) == DOCA_SUCCESS);
        return doca_task_get_status(task);
    }
    /// Runs a task of a kind once.
    template <typename Task>
    doca_error_t run(const doca_ec_matrix *matrix, const doca_buf *src, doca_buf *dst)
    {
        doca_task *const task = KindOf<Task>::as_task(alloc<Task>(matrix, src, dst));
        const doca_error_t status = run(task);
        doca_task_free(task);
        return status;
    }
    /// The blocks that a task of a kind makes of @p inputs, in memory of its own.
    template <typename Task>
    Blocks result(const doca_ec_matrix *matrix, const Blocks &inputs, std::size_t num_outputs)
    {
        used = 0;
        const BufHandle src = data(inputs);
        const BufHandle dst = room(num_outputs * inputs[0].size());
        EXPECT_EQ(run<Task>(matrix, src, dst), DOCA_SUCCESS);
        return blocks_in(dst, inputs[0].size());
    }

    template <typename Task, bool Succeeded>
    static void ended(Task *task, doca_data task_data, doca_data ctx_data)
    {
        EXPECT_EQ(task_data.u64, 7u);
        auto &test = *static_cast<ErasureCodingTest *>(ctx_data.ptr);
        ++test.num_ended;
        test.last_succeeded = Succeeded;
        if (test.on_end)
            test.on_end(KindOf<Task>::as_task(task));
    }

    std::vector<std::byte> memory = std::vector<std::byte>(size);
    std::size_t used = 0;
    int num_ended = 0;
    bool last_succeeded = false;
    std::function<void(doca_task *)> on_end; ///< called in each callback
    std::mt19937 random{1};
    DevHandle dev = open_device(GetParam());
    MmapHandle map = map_of(dev, memory);
    InventoryHandle inventory = inventory_of(4096);
    PeHandle pe;
    EcHandle ec;
};

} // namespace doca_test
