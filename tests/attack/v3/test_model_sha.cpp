// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA of DOCA 3.0, whole messages and pieces, by calls at random: see tasks_model.hpp. OpenSSL makes the same digests.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <openssl/evp.h>

#include <doca_sha.h>

#include "tasks_model.hpp"

namespace {

using namespace doca_test;

struct Algorithm {
    doca_sha_algorithm value;
    const EVP_MD *(*openssl)();
    std::size_t digest_size, block_size;
};
constexpr Algorithm algorithms[] = {{DOCA_SHA_ALGORITHM_SHA1, EVP_sha1, 20, 64},
                                    {DOCA_SHA_ALGORITHM_SHA256, EVP_sha256, 32, 64},
                                    {DOCA_SHA_ALGORITHM_SHA512, EVP_sha512, 64, 128}};
constexpr std::size_t num_ctxs = 2, num_slots = 10, message_size = 1024, longest_message = 8192, room = 64;
constexpr std::uint8_t log_num_tasks = 2;

struct Ctx : CtxModel {
    doca_sha *sha = nullptr;
};

class ShaModelTest;

struct Slot : TaskModel {
    ShaModelTest *model = nullptr;
    doca_sha_task_hash *whole = nullptr; ///< or
    doca_sha_task_partial_hash *piece = nullptr;
    const Algorithm *algorithm = nullptr, *of_message = nullptr; ///< null before one has begun
    bool is_final = false;
    std::vector<std::byte> message;
    BufHandle src, dst;
    doca_error_t status = DOCA_SUCCESS; ///< that it ends with
    std::vector<std::byte> digest;      ///< that it writes
};

class ShaModelTest : public TasksModel {
protected:
    void SetUp() override
    {
        TasksModel::SetUp();
        for (std::byte &each : memory)
            each = static_cast<std::byte>(random());
        for (Slot &slot : slots)
            slot.model = this;
        for (Ctx &ctx : ctxs) {
            must(doca_sha_create(dev, &ctx.sha));
            must(doca_sha_task_hash_set_conf(ctx.sha, hash_ended<true>, hash_ended<false>, log_num_tasks));
            must(doca_sha_task_partial_hash_set_conf(ctx.sha, piece_ended<true>, piece_ended<false>, log_num_tasks));
            adopt(ctx, doca_sha_as_ctx(ctx.sha));
        }
    }

    template <bool Succeeded>
    static void hash_ended(doca_sha_task_hash *, doca_data data, doca_data)
    {
        auto &slot = *static_cast<Slot *>(data.ptr);
        slot.model->end(slot, Succeeded);
    }
    template <bool Succeeded>
    static void piece_ended(doca_sha_task_partial_hash *, doca_data data, doca_data)
    {
        auto &slot = *static_cast<Slot *>(data.ptr);
        slot.model->end(slot, Succeeded);
    }
    void end(Slot &slot, bool has_succeeded);
    void step();
    void do_ctx(Ctx &ctx);
    void do_slot(Slot &slot);
    void alloc_slot(Slot &slot, Ctx &ctx);
    void submit_slot(Slot &slot);
    void change_piece(Slot &slot);
    void release(Slot &slot);
    void serve();
    void clean_up();

    std::vector<std::byte> memory = std::vector<std::byte>(message_size);
    std::vector<std::byte> digests = std::vector<std::byte>(num_slots * room);
    MmapHandle map = map_of(dev, memory), digest_map = map_of(dev, digests);
    InventoryHandle inventory = inventory_of(2 * num_slots + 2);
    std::array<Ctx, num_ctxs> ctxs;
    std::array<Slot, num_slots> slots;
};

void ShaModelTest::end(Slot &slot, bool has_succeeded)
{
    ended(slot, has_succeeded);
    EXPECT_EQ(doca_error_get_name(doca_task_get_status(slot.task)), std::string(doca_error_get_name(slot.status)))
        << where();
    std::byte *const to = &digests[static_cast<std::size_t>(&slot - slots.data()) * room];
    if (data_len_of(slot.dst) != slot.digest.size() || !std::equal(slot.digest.begin(), slot.digest.end(), to))
        complain("another digest");
    if (slot.piece != nullptr && (doca_sha_task_partial_hash_get_has_result(slot.piece) != 0) != !slot.digest.empty())
        complain("a piece has a result, or none");
}

void ShaModelTest::do_ctx(Ctx &ctx)
{
    switch (below(6)) {
    case 0:
    case 1:
        (void)start(ctx);
        break;
    case 2:
        if (one_in(4))
            stop(ctx);
        break;
    case 3:
        (void)answers("set_conf",
                      doca_sha_task_hash_set_conf(ctx.sha, hash_ended<true>, hash_ended<false>, log_num_tasks),
                      unless(!ctx.is_idle(), DOCA_ERROR_BAD_STATE));
        break;
    case 4:
        if (!ctx.is_idle()) {
            (void)answers("sha_destroy", doca_sha_destroy(ctx.sha), DOCA_ERROR_IN_USE);
        }
        break;
    default:
        check_counts(ctx);
    }
}

void ShaModelTest::alloc_slot(Slot &slot, Ctx &ctx)
{
    const bool is_piece = one_in(2);
    const auto out = static_cast<std::size_t>(std::ranges::count_if(slots, [&](const Slot &one) {
        return one.task != nullptr && one.ctx == &ctx && (one.piece != nullptr) == is_piece;
    }));
    const doca_error_t wanted = alloc(ctx, out == 1U << log_num_tasks);
    const Algorithm &algorithm = algorithms[below(std::size(algorithms))];
    must(doca_buf_inventory_buf_get_by_data(inventory, map, memory.data(), 1, slot.src.out()));
    must(doca_buf_inventory_buf_get_by_addr(
        inventory, digest_map, &digests[static_cast<std::size_t>(&slot - slots.data()) * room], room, slot.dst.out()));
    slot.whole = nullptr;
    slot.piece = nullptr;
    const doca_error_t status = is_piece ? doca_sha_task_partial_hash_alloc_init(ctx.sha, algorithm.value, slot.src,
                                                                                 slot.dst, {.ptr = &slot}, &slot.piece)
                                         : doca_sha_task_hash_alloc_init(ctx.sha, algorithm.value, slot.src, slot.dst,
                                                                         {.ptr = &slot}, &slot.whole);
    if (!answers("alloc_init", status, wanted)) {
        slot.src.reset();
        slot.dst.reset();
        return;
    }
    allocated(slot, ctx,
              is_piece ? doca_sha_task_partial_hash_as_task(slot.piece) : doca_sha_task_hash_as_task(slot.whole));
    slot.algorithm = &algorithm;
    slot.of_message = nullptr;
    slot.is_final = false;
    slot.message.clear();
}

void ShaModelTest::release(Slot &slot)
{
    free(slot);
    slot.src.reset();
    slot.dst.reset();
}

void ShaModelTest::submit_slot(Slot &slot)
{
    const Algorithm &algorithm = *slot.algorithm;
    std::size_t length = one_in(16) ? 0 : 1 + below(message_size);
    if (!one_in(4))
        length -= length % algorithm.block_size;
    if (slot.piece != nullptr && slot.message.size() + length > longest_message)
        return change_piece(slot);
    const std::size_t at = below(message_size - std::max<std::size_t>(length, 1) + 1);
    const bool has_room = !one_in(16);
    must(doca_buf_inventory_buf_get_by_data(inventory, map, &memory[at], length == 0 ? 1 : length, slot.src.out()));
    if (length == 0)
        must(doca_buf_reset_data_len(slot.src));
    must(doca_buf_inventory_buf_get_by_addr(inventory, digest_map,
                                            &digests[static_cast<std::size_t>(&slot - slots.data()) * room],
                                            has_room ? room : algorithm.digest_size - 1, slot.dst.out()));
    if (slot.piece != nullptr) {
        must(doca_sha_task_partial_hash_set_src(slot.piece, slot.src));
        must(doca_sha_task_partial_hash_set_dst(slot.piece, slot.dst));
    } else {
        must(doca_sha_task_hash_set_src(slot.whole, slot.src));
        must(doca_sha_task_hash_set_dst(slot.whole, slot.dst));
    }
    slot.status = unless(
        !has_room || (slot.piece != nullptr && (length == 0 || (!slot.is_final && length % algorithm.block_size != 0))),
        DOCA_ERROR_INVALID_VALUE);
    slot.digest.clear();
    if (!submit(slot) || slot.status != DOCA_SUCCESS)
        return;
    if (slot.piece == nullptr)
        slot.message.clear();
    const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(at);
    slot.message.insert(slot.message.end(), begin, begin + static_cast<std::ptrdiff_t>(length));
    slot.of_message = &algorithm;
    if (slot.piece == nullptr || slot.is_final) {
        slot.digest.resize(algorithm.digest_size);
        unsigned size = 0;
        if (EVP_Digest(slot.message.data(), slot.message.size(), reinterpret_cast<unsigned char *>(slot.digest.data()),
                       &size, algorithm.openssl(), nullptr) != 1)
            complain("OpenSSL makes no digest");
        slot.of_message = nullptr;
        slot.message.clear();
    }
}

/// What pieces alone have. While they are in flight, all of it is refused.
void ShaModelTest::change_piece(Slot &slot)
{
    const auto otherwise = [&](doca_error_t error) { return unless(slot.is_in_flight, DOCA_ERROR_BAD_STATE, error); };
    switch (below(3)) {
    case 0:
        if (answers("set_is_final_buf", doca_sha_task_partial_hash_set_is_final_buf(slot.piece),
                    otherwise(DOCA_SUCCESS)))
            slot.is_final = true;
        break;
    case 1:
        if (answers("reset", doca_sha_task_partial_hash_reset(slot.piece), otherwise(DOCA_SUCCESS))) {
            slot.is_final = false;
            slot.of_message = nullptr;
            slot.message.clear();
        }
        break;
    default: {
        const Algorithm &algorithm = algorithms[below(std::size(algorithms))];
        if (answers("set_algorithm", doca_sha_task_partial_hash_set_algorithm(slot.piece, algorithm.value),
                    otherwise(unless(slot.of_message != nullptr, DOCA_ERROR_BAD_STATE))))
            slot.algorithm = &algorithm;
    }
    }
}

void ShaModelTest::do_slot(Slot &slot)
{
    if (slot.task == nullptr)
        return alloc_slot(slot, ctxs[below(num_ctxs)]);
    if (slot.piece != nullptr && one_in(3))
        return change_piece(slot);
    if (slot.is_in_flight)
        return;
    if (one_in(6) || slot.ctx->state == DOCA_CTX_STATE_STOPPING)
        return release(slot);
    submit_slot(slot);
}

/// Tasks have ended in their submit.
void ShaModelTest::serve()
{
    progress(std::ranges::any_of(ctxs, [](const Ctx &ctx) {
        return ctx.in_flight != 0 || (ctx.state == DOCA_CTX_STATE_STOPPING && ctx.allocated == 0);
    }));
}

void ShaModelTest::step()
{
    const std::size_t what = below(12);
    if (what < 2)
        do_ctx(ctxs[below(num_ctxs)]);
    else if (what < 8)
        do_slot(slots[below(num_slots)]);
    else
        serve();
}

/// In the order that always works.
void ShaModelTest::clean_up()
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
        EXPECT_EQ(doca_sha_destroy(ctx.sha), DOCA_SUCCESS);
    }
}

TEST_P(ShaModelTest, CallsAndResultsMatchTheModel)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    tell(num_ends);
}

std::vector<std::string> hashing_devices()
{
    std::vector<std::string> names;
    const DevinfoList list;
    for (doca_devinfo *info : list) {
        if (doca_sha_cap_task_hash_get_supported(info, DOCA_SHA_ALGORITHM_SHA256) == DOCA_SUCCESS &&
            !(is_soft(ibdev_of(info)) && !names.empty()))
            names.push_back(ibdev_of(info));
    }
    return names;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ShaModelTest);
INSTANTIATE_TEST_SUITE_P(device, ShaModelTest, testing::ValuesIn(hashing_devices()), name_of_device);

} // namespace
