// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compression, erasure coding and AES-GCM of DOCA 3.0 by calls at random: see tasks_model.hpp. Short tasks end within
// their submission and long ones later, in the order of submission; some are freed in flight, with their buffers.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include <doca_aes_gcm.h>
#include <doca_compress.h>
#include <doca_erasure_coding.h>

#include "tasks_model.hpp"

namespace {

using namespace doca_test;

enum class Work { deflate, inflate, encrypt, decrypt, code };

constexpr Work all_works[] = {Work::deflate, Work::inflate, Work::encrypt, Work::decrypt, Work::code};
constexpr std::size_t num_works = std::size(all_works), num_slots = 8;
constexpr std::uint32_t num_tasks = 3; ///< of each type
constexpr std::size_t num_blocks = 2, tag_size = 16;
/// Bytes of plaintext: within one submit, just over it, and several times as much.
constexpr std::size_t sizes[] = {4096, std::size_t{320} << 10, std::size_t{1} << 20};
constexpr std::size_t room = sizes[2] + (sizes[2] >> 3);
constexpr std::chrono::seconds patience(60);

using Bytes = std::vector<std::byte>;

class CpuWorkModelTest;

struct Slot : TaskModel {
    CpuWorkModelTest *model = nullptr;
    Work work{};
    bool is_short_of_room = false;
    const Bytes *expected = nullptr; ///< null if it is not known yet
    BufHandle src, dst;

    /// Compression finds out in its turn that the result does not fit, the others in the submit.
    [[nodiscard]] bool is_in_order() const
    {
        return !is_short_of_room || work == Work::deflate || work == Work::inflate;
    }
};

struct Ctx : CtxModel {
    std::deque<const Slot *>
        order; ///< tasks in flight in the order of submission, without those that are refused at once
};

class CpuWorkModelTest : public TasksModel {
protected:
    void SetUp() override;

    template <typename Task, bool Succeeded>
    static void ended(Task *, doca_data data, doca_data)
    {
        auto &slot = *static_cast<Slot *>(data.ptr);
        slot.model->end(slot, Succeeded);
    }
    template <typename Task, typename SetConf, typename Object>
    static void configure(SetConf set_conf, Object *object)
    {
        must(set_conf(object, ended<Task, true>, ended<Task, false>, num_tasks));
    }
    template <typename Task, typename AllocInit, typename AsTask, typename... Arguments>
    static doca_error_t allocate(doca_task *&made, AllocInit alloc_init, AsTask as_task, Slot &slot,
                                 Arguments... arguments)
    {
        Task *task = nullptr;
        const doca_error_t status = alloc_init(arguments..., {.ptr = &slot}, &task);
        if (status == DOCA_SUCCESS)
            made = as_task(task);
        return status;
    }
    doca_error_t make_task(Slot &slot, doca_task *&made);
    [[nodiscard]] Ctx &ctx_of(Work work)
    {
        return ctxs[work == Work::code ? 2 : work == Work::encrypt || work == Work::decrypt ? 1 : 0];
    }
    [[nodiscard]] std::byte *room_of(const Slot &slot)
    {
        return &results[static_cast<std::size_t>(&slot - slots.data()) * room];
    }
    void end(Slot &slot, bool has_succeeded);
    void step();
    void do_ctx(Ctx &ctx);
    void do_slot(Slot &slot);
    void alloc_slot(Slot &slot, Work work);
    void submit_slot(Slot &slot, std::size_t which, bool is_short_of_room);
    void release(Slot &slot);
    void serve();
    [[nodiscard]] Bytes result_of(Work work, std::size_t which);
    void clean_up();

    /// The sources of each work, by the index of their size; each is in `memory` from its offset on.
    struct Source {
        std::size_t at, length;
    };
    void add_source(Work work, std::size_t which, const Bytes &bytes);

    Bytes memory = Bytes(std::size_t{12} << 20);
    std::size_t used = 0;
    Bytes results = Bytes(num_slots * room);
    std::array<std::array<Source, std::size(sizes)>, num_works> sources{};
    std::array<std::array<Bytes, std::size(sizes)>, num_works> expected{};
    MmapHandle map = map_of(dev, memory), result_map = map_of(dev, results);
    InventoryHandle inventory = inventory_of(2 * num_slots);
    doca_compress *compress = nullptr;
    doca_aes_gcm *gcm = nullptr;
    doca_ec *ec = nullptr;
    doca_aes_gcm_key *key = nullptr;
    doca_ec_matrix *matrix = nullptr;
    std::array<Ctx, 3> ctxs;
    std::array<Slot, num_slots> slots;
    std::uint64_t num_dropped = 0;
    static constexpr std::uint8_t iv[12] = {1, 2, 3};
};

void CpuWorkModelTest::add_source(Work work, std::size_t which, const Bytes &bytes)
{
    std::ranges::copy(bytes, memory.begin() + static_cast<std::ptrdiff_t>(used));
    sources[static_cast<std::size_t>(work)][which] = {used, bytes.size()};
    used += bytes.size();
    ASSERT_LE(used, memory.size());
}

void CpuWorkModelTest::SetUp()
{
    TasksModel::SetUp();
    must(doca_compress_create(dev, &compress));
    configure<doca_compress_task_compress_deflate>(doca_compress_task_compress_deflate_set_conf, compress);
    configure<doca_compress_task_decompress_deflate>(doca_compress_task_decompress_deflate_set_conf, compress);
    must(doca_aes_gcm_create(dev, &gcm));
    configure<doca_aes_gcm_task_encrypt>(doca_aes_gcm_task_encrypt_set_conf, gcm);
    configure<doca_aes_gcm_task_decrypt>(doca_aes_gcm_task_decrypt_set_conf, gcm);
    const std::uint8_t raw_key[16] = {7};
    must(doca_aes_gcm_key_create(gcm, raw_key, DOCA_AES_GCM_KEY_128, &key));
    must(doca_ec_create(dev, &ec));
    configure<doca_ec_task_create>(doca_ec_task_create_set_conf, ec);
    must(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_VANDERMONDE, num_blocks, 1, &matrix));
    adopt(ctxs[0], doca_compress_as_ctx(compress));
    adopt(ctxs[1], doca_aes_gcm_as_ctx(gcm));
    adopt(ctxs[2], doca_ec_as_ctx(ec));
    for (Slot &slot : slots)
        slot.model = this;
    for (Ctx &ctx : ctxs)
        ASSERT_TRUE(start(ctx));
    for (std::size_t i = 0; i != std::size(sizes); ++i) {
        Bytes plain(sizes[i]);
        for (std::size_t at = 0; at != plain.size(); ++at)
            plain[at] = static_cast<std::byte>(one_in(3) ? below(256) : at >> 4);
        add_source(Work::deflate, i, plain);
        add_source(Work::encrypt, i, plain);
        add_source(Work::code, i, plain);
        // What the library makes of it has to be the same each time, and decompressed and decrypted it is the
        // plaintext.
        add_source(Work::inflate, i, result_of(Work::deflate, i));
        add_source(Work::decrypt, i, result_of(Work::encrypt, i));
        const std::size_t block = plain.size() / num_blocks;
        Bytes sum(block); // the one redundancy block
        for (std::size_t at = 0; at != block; ++at)
            sum[at] = plain[at] ^ plain[at + block];
        expected[static_cast<std::size_t>(Work::code)][i] = sum;
        expected[static_cast<std::size_t>(Work::inflate)][i] = plain;
        expected[static_cast<std::size_t>(Work::decrypt)][i] = plain;
    }
}

/// Runs a task once, and makes its result the expected one.
Bytes CpuWorkModelTest::result_of(Work work, std::size_t which)
{
    Slot &slot = slots[0];
    alloc_slot(slot, work);
    submit_slot(slot, which, false);
    while (slot.is_in_flight && !HasFailure())
        serve();
    Bytes &result = expected[static_cast<std::size_t>(work)][which];
    result.assign(room_of(slot), room_of(slot) + data_len_of(slot.dst));
    release(slot);
    return result;
}

doca_error_t CpuWorkModelTest::make_task(Slot &slot, doca_task *&made)
{
    const doca_buf *const src = slot.src;
    doca_buf *const dst = slot.dst;
    const std::uint8_t *const iv_at = iv;
    switch (slot.work) {
    case Work::deflate:
        return allocate<doca_compress_task_compress_deflate>(made, doca_compress_task_compress_deflate_alloc_init,
                                                             doca_compress_task_compress_deflate_as_task, slot,
                                                             compress, src, dst);
    case Work::inflate:
        return allocate<doca_compress_task_decompress_deflate>(made, doca_compress_task_decompress_deflate_alloc_init,
                                                               doca_compress_task_decompress_deflate_as_task, slot,
                                                               compress, src, dst);
    case Work::encrypt:
        return allocate<doca_aes_gcm_task_encrypt>(made, doca_aes_gcm_task_encrypt_alloc_init,
                                                   doca_aes_gcm_task_encrypt_as_task, slot, gcm, src, dst, key, iv_at,
                                                   12U, static_cast<std::uint32_t>(tag_size), 0U);
    case Work::decrypt:
        return allocate<doca_aes_gcm_task_decrypt>(made, doca_aes_gcm_task_decrypt_alloc_init,
                                                   doca_aes_gcm_task_decrypt_as_task, slot, gcm, src, dst, key, iv_at,
                                                   12U, static_cast<std::uint32_t>(tag_size), 0U);
    case Work::code:
        break;
    }
    return allocate<doca_ec_task_create>(made, doca_ec_task_create_allocate_init, doca_ec_task_create_as_task, slot, ec,
                                         matrix, src, dst);
}

void CpuWorkModelTest::end(Slot &slot, bool has_succeeded)
{
    TasksModel::ended(slot, has_succeeded);
    auto &ctx = static_cast<Ctx &>(*slot.ctx);
    if (slot.is_in_order() && (ctx.order.empty() || ctx.order.front() != &slot))
        complain("a task has overtaken another one");
    std::erase(ctx.order, &slot);
    const doca_error_t status = doca_task_get_status(slot.task);
    const bool is_flushed = status == DOCA_ERROR_SHUTDOWN && ctx.state == DOCA_CTX_STATE_STOPPING;
    if (slot.is_short_of_room || is_flushed) {
        if (has_succeeded || data_len_of(slot.dst) != 0)
            complain("a task has succeeded without room, or has failed with a result");
        return;
    }
    EXPECT_EQ(doca_error_get_name(status), std::string("DOCA_SUCCESS")) << where();
    if (slot.expected != nullptr && (data_len_of(slot.dst) != slot.expected->size() ||
                                     !std::equal(slot.expected->begin(), slot.expected->end(), room_of(slot))))
        complain("another result");
}

void CpuWorkModelTest::do_ctx(Ctx &ctx)
{
    switch (below(6)) {
    case 0:
    case 1:
        (void)start(ctx);
        break;
    case 2:
        if (one_in(8))
            stop(ctx);
        break;
    default:
        EXPECT_EQ(state_of(ctx.ctx), ctx.state) << where();
    }
}

void CpuWorkModelTest::alloc_slot(Slot &slot, Work work)
{
    Ctx &ctx = ctx_of(work);
    // What was freed in flight is in its pool again when its completion was delivered.
    while (in_flight(ctx.ctx) != ctx.in_flight && !HasFailure())
        progress(false);
    const auto out = static_cast<std::size_t>(
        std::ranges::count_if(slots, [&](const Slot &one) { return one.task != nullptr && one.work == work; }));
    const doca_error_t wanted = alloc(ctx, out == num_tasks);
    slot.work = work;
    must(doca_buf_inventory_buf_get_by_addr(inventory, map, memory.data(), memory.size(), slot.src.out()));
    must(doca_buf_inventory_buf_get_by_addr(inventory, result_map, room_of(slot), room, slot.dst.out()));
    doca_task *made = nullptr;
    if (!answers("alloc_init", make_task(slot, made), wanted)) {
        slot.src.reset();
        slot.dst.reset();
        return;
    }
    allocated(slot, ctx, made);
}

void CpuWorkModelTest::submit_slot(Slot &slot, std::size_t which, bool is_short_of_room)
{
    const auto work = static_cast<std::size_t>(slot.work);
    const Source &source = sources[work][which];
    must(doca_buf_set_data(slot.src, &memory[source.at], source.length));
    must(doca_buf_set_data(slot.dst, is_short_of_room ? room_of(slot) + room - 64 : room_of(slot), 0));
    slot.is_short_of_room = is_short_of_room;
    slot.expected = expected[work][which].empty() ? nullptr : &expected[work][which];
    if (submit(slot) && slot.is_in_order())
        static_cast<Ctx &>(*slot.ctx).order.push_back(&slot);
}

/// The task may be in flight: its buffers are then released at once, and their memory is used for others.
void CpuWorkModelTest::release(Slot &slot)
{
    if (slot.is_in_flight) {
        auto &ctx = static_cast<Ctx &>(*slot.ctx);
        std::erase(ctx.order, &slot);
        --ctx.in_flight;
        slot.is_in_flight = false;
        ++num_dropped;
    }
    free(slot);
    slot.src.reset();
    slot.dst.reset();
}

void CpuWorkModelTest::do_slot(Slot &slot)
{
    if (slot.task == nullptr)
        return alloc_slot(slot, all_works[below(num_works)]);
    if (one_in(slot.is_in_flight ? 16 : 6) || slot.ctx->state == DOCA_CTX_STATE_STOPPING)
        return release(slot);
    if (!slot.is_in_flight)
        submit_slot(slot, below(8) < 5 ? 0 : 1 + below(2), one_in(16));
}

void CpuWorkModelTest::serve()
{
    progress(std::ranges::any_of(ctxs,
                                 [](const Ctx &ctx) {
                                     return ctx.in_flight != 0 ||
                                            (ctx.state == DOCA_CTX_STATE_STOPPING && ctx.allocated == 0);
                                 }),
             patience);
}

void CpuWorkModelTest::step()
{
    const std::size_t what = below(12);
    if (what < 2)
        do_ctx(ctxs[below(ctxs.size())]);
    else if (what < 8)
        do_slot(slots[below(num_slots)]);
    else
        serve();
}

/// In the order that always works.
void CpuWorkModelTest::clean_up()
{
    for (Ctx &ctx : ctxs) {
        while (ctx.in_flight != 0 && !HasFailure())
            serve();
        for (Slot &slot : slots) {
            if (slot.task != nullptr && slot.ctx == &ctx)
                release(slot);
        }
        if (ctx.is_running())
            stop(ctx);
        while (!ctx.is_idle() && !HasFailure())
            serve();
    }
    EXPECT_EQ(doca_aes_gcm_key_destroy(key), DOCA_SUCCESS);
    EXPECT_EQ(doca_ec_matrix_destroy(matrix), DOCA_SUCCESS);
    EXPECT_EQ(doca_compress_destroy(compress), DOCA_SUCCESS);
    EXPECT_EQ(doca_aes_gcm_destroy(gcm), DOCA_SUCCESS);
    EXPECT_EQ(doca_ec_destroy(ec), DOCA_SUCCESS);
}

TEST_P(CpuWorkModelTest, CallsAndResultsMatchTheModel)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    std::printf("%llu tasks freed in flight\n", static_cast<unsigned long long>(num_dropped));
    tell(num_ends);
}

std::vector<std::string> working_devices()
{
    std::vector<std::string> names;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (doca_compress_cap_task_compress_deflate_is_supported(info) == DOCA_SUCCESS &&
            doca_compress_cap_task_decompress_deflate_is_supported(info) == DOCA_SUCCESS &&
            doca_aes_gcm_cap_task_encrypt_is_supported(info) == DOCA_SUCCESS &&
            doca_ec_cap_task_create_is_supported(info) == DOCA_SUCCESS && !(is_soft(ibdev_of(info)) && !names.empty()))
            names.push_back(ibdev_of(info));
    }
    return names;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CpuWorkModelTest);
INSTANTIATE_TEST_SUITE_P(device, CpuWorkModelTest, testing::ValuesIn(working_devices()), name_of_device);

} // namespace
