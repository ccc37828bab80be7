// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Erasure coding jobs: what they compute, against known values and a slow reference.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <poll.h>

#include "support/erasure_coding_fixture.hpp"
#include "support/graph_fixture.hpp"

using namespace doca_test;

INSTANTIATE_FOR_DEVICES(EcTest, can_code);

TEST_P(EcTest, KnownValuesOfThreeAndTwoBlocks)
{
    // Byte i of block i is 1 and all others are 0, so byte i of redundancy block j is a(i, j).
    Blocks units(3, Block(64));
    for (std::size_t i = 0; i != 3; ++i)
        units[i][i] = 1;
    const auto coefficients_of = [&](doca_matrix *by) {
        Blocks coefficients = result(DOCA_EC_JOB_CREATE, by, units, 2);
        for (Block &block : coefficients)
            block.resize(4);
        return coefficients;
    };
    const Blocks bytes = {Block(64, 1), Block(64, 2), Block(64, 3)};
    // Cauchy is that of DOCA 3.0, and Vandermonde another one: 2^i and 4^i.
    const MatrixHandle cauchy = matrix(DOCA_CODING_MATRIX_CAUCHY, 3, 2);
    EXPECT_EQ(coefficients_of(cauchy), (Blocks{{0xf4, 0x8e, 0x01, 0}, {0x47, 0xa7, 0x7a, 0}}));
    EXPECT_EQ(result(DOCA_EC_JOB_CREATE, cauchy, bytes, 2), (Blocks{Block(64, 0xf6), Block(64, 0x9a)}));
    const MatrixHandle vandermonde = matrix(DOCA_CODING_MATRIX_VANDERMONDE, 3, 2);
    EXPECT_EQ(coefficients_of(vandermonde), (Blocks{{1, 2, 4, 0}, {1, 4, 16, 0}}));
    EXPECT_EQ(result(DOCA_EC_JOB_CREATE, vandermonde, bytes, 2), (Blocks{Block(64, 9), Block(64, 0x39)}));
}

TEST_P(EcTest, RedundancyEqualsTheReference)
{
    using Shape = std::pair<std::size_t, std::size_t>;
    for (const doca_ec_matrix_types type : matrix_types) {
        for (const auto &[k, m] : {Shape{1, 1},
                                   {2, 1},
                                   {2, 2},
                                   {3, 5},
                                   {4, 2},
                                   {5, 3},
                                   {7, 4},
                                   {8, 8},
                                   {10, 4},
                                   {13, 7},
                                   {16, 8},
                                   {128, 32},
                                   {255, 1},
                                   {1, 255},
                                   {224, 32}}) {
            const Blocks blocks = random_blocks(k, 192);
            EXPECT_EQ(result(DOCA_EC_JOB_CREATE, matrix(type, k, m), blocks, m),
                      reference_blocks(reference_rows(type, k, m), blocks))
                << k << " + " << m << ", type " << type;
        }
    }
}

/// Loses the blocks of each set, and expects them back from the first that are left.
TEST_P(EcTest, EveryLossOfSmallShapesIsRecovered)
{
    for (const doca_ec_matrix_types type : matrix_types) {
        for (std::size_t k = 1; k <= 5; ++k) {
            for (std::size_t m = 1; m <= 3; ++m) {
                const MatrixHandle coding = matrix(type, k, m);
                Blocks all = random_blocks(k, 64);
                const Blocks redundancy = reference_blocks(reference_rows(type, k, m), all);
                all.insert(all.end(), redundancy.begin(), redundancy.end());
                for (const auto &missing : sets_of(k + m, m)) {
                    const MatrixHandle recovery = recover_matrix(coding, missing);
                    ASSERT_NE(recovery.get(), nullptr);
                    Blocks available, lost;
                    for (std::uint32_t i = 0; i != all.size(); ++i) {
                        if (std::ranges::find(missing, i) != missing.end())
                            lost.push_back(all[i]);
                        else if (available.size() != k)
                            available.push_back(all[i]);
                    }
                    EXPECT_EQ(result(DOCA_EC_JOB_RECOVER, recovery, available, missing.size()), lost)
                        << k << " + " << m << ", type " << type << ", the first missing is " << missing[0];
                }
            }
        }
    }
}

TEST_P(EcTest, LossesThatAMatrixCannotRecoverAreRefused)
{
    // Of 1287 losses of 5 blocks of 8 + 5, Vandermonde cannot recover six, and Cauchy recovers all.
    for (const doca_ec_matrix_types type : matrix_types) {
        const MatrixHandle coding = matrix(type, 8, 5);
        int num_losses = 0, num_refused = 0;
        for (const auto &missing : sets_of(13, 5)) {
            if (missing.size() != 5)
                continue;
            ++num_losses;
            num_refused += recover_matrix(coding, missing).get() == nullptr ? 1 : 0;
        }
        EXPECT_EQ(num_losses, 1287);
        EXPECT_EQ(num_refused, type == DOCA_CODING_MATRIX_CAUCHY ? 0 : 6);
    }
}

TEST_P(EcTest, EveryUpdateOfSmallShapesEqualsNewRedundancy)
{
    for (const doca_ec_matrix_types type : matrix_types) {
        for (std::size_t k = 1; k <= 4; ++k) {
            for (std::size_t m = 1; m <= 3; ++m) {
                const MatrixHandle coding = matrix(type, k, m);
                const Rows rows = reference_rows(type, k, m);
                const Blocks before = random_blocks(k, 64);
                for (const auto &changed : sets_of(k, k)) {
                    Blocks after = before, inputs;
                    for (const std::uint32_t index : changed) {
                        after[index] = random_blocks(1, 64)[0];
                        inputs.push_back(before[index]);
                        inputs.push_back(after[index]);
                    }
                    const Blocks redundancy = reference_blocks(rows, before);
                    inputs.insert(inputs.end(), redundancy.begin(), redundancy.end());
                    EXPECT_EQ(result(DOCA_EC_JOB_UPDATE, update_matrix(coding, changed), inputs, m),
                              reference_blocks(rows, after))
                        << k << " + " << m << ", the first changed is " << changed[0];
                }
            }
        }
    }
}

TEST_P(EcTest, RawCoefficientsAreThoseOfTheFirstDataBlockFirst)
{
    constexpr std::size_t k = 5, m = 3;
    const Rows rows = rows_of(k, m, [&](std::size_t, std::size_t) { return static_cast<std::uint8_t>(random()); });
    std::vector<std::uint8_t> raw;
    for (std::size_t i = 0; i != k; ++i) {
        for (std::size_t j = 0; j != m; ++j)
            raw.push_back(rows[j][i]);
    }
    MatrixHandle made;
    must(doca_ec_matrix_from_raw(engine.library(), raw.data(), k, m, made.out()));
    raw.assign(raw.size(), 0); // copied
    const Blocks blocks = random_blocks(k, 128);
    EXPECT_EQ(result(DOCA_EC_JOB_CREATE, made, blocks, m), reference_blocks(rows, blocks));
}

TEST_P(EcTest, EveryTypeOfJobMultipliesByEveryMatrix)
{
    const Blocks blocks = random_blocks(4, 256);
    const MatrixHandle cauchy = matrix(DOCA_CODING_MATRIX_CAUCHY, 4, 3);
    const Blocks expected = reference_blocks(reference_cauchy(4, 3), blocks);
    for (const doca_ec_job_types type : ec_job_types)
        EXPECT_EQ(result(type, cauchy, blocks, 3), expected) << type;
    // The exclusive or of a block and of its difference to another one is the other one.
    std::uint8_t ones[] = {1, 1};
    MatrixHandle exclusive_or;
    must(doca_ec_matrix_from_raw(engine.library(), ones, 2, 1, exclusive_or.out()));
    const Block parity = result(DOCA_EC_JOB_CREATE, exclusive_or, {blocks[0], blocks[1]}, 1)[0];
    for (const doca_ec_job_types type : ec_job_types)
        EXPECT_EQ(result(type, exclusive_or, {blocks[0], parity}, 1), Blocks{blocks[1]}) << type;
    const MatrixHandle first = recover_matrix(exclusive_or, {0}), change = update_matrix(exclusive_or, {0});
    for (const doca_ec_job_types type : ec_job_types) {
        EXPECT_EQ(result(type, first, {blocks[1], parity}, 1), Blocks{blocks[0]}) << type;
        EXPECT_EQ(result(type, change, {blocks[0], blocks[1], parity}, 1), Blocks{Block(256)}) << type;
    }
}

TEST_P(EcTest, RedundancyCanBeUpdatedInPlace)
{
    constexpr std::size_t k = 3, m = 9, block = 1 << 16;
    const Rows rows = reference_cauchy(k, m);
    const Blocks before = random_blocks(k, block);
    Blocks after = before;
    after[1] = random_blocks(1, block)[0];
    BufHandle src = data({before[1], after[1]});
    BufHandle redundancy = data(reference_blocks(rows, before));
    const BufHandle dst = inventory.empty(map, data_of(redundancy), m * block);
    append(src, std::move(redundancy));
    const MatrixHandle coding = matrix(DOCA_CODING_MATRIX_CAUCHY, k, m);
    ASSERT_EQ(engine.run(DOCA_EC_JOB_UPDATE, update_matrix(coding, {1}), src, dst), DOCA_SUCCESS);
    EXPECT_TRUE(blocks_in(dst, block) == reference_blocks(rows, after));
}

TEST_P(EcTest, ListsMayBeSplitAnywhereAndDataGrowsBehindWhatIsThere)
{
    constexpr std::size_t k = 4, m = 3;
    const MatrixHandle coding = matrix(DOCA_CODING_MATRIX_VANDERMONDE, k, m);
    for (const std::size_t block : {64u, 128u, 4096u, 3u * 65536u}) {
        const Blocks blocks = random_blocks(k, block);
        const Blocks expected = reference_blocks(reference_powers_of_two(k, m), blocks);
        for (int sample = 0; sample != 6; ++sample) {
            used = 0;
            const BufHandle whole = data(blocks);
            std::span<const std::byte> rest(data_of(whole), k * block);
            BufHandle src, dst;
            for (int piece = 0; !rest.empty(); ++piece) {
                const std::size_t length =
                    piece == 8 ? rest.size() : std::min<std::size_t>(rest.size(), random() % (rest.size() + 1));
                take(random() % 16);
                BufHandle part = data(length);
                std::memcpy(data_of(part), rest.data(), length);
                append(src, std::move(part));
                rest = rest.subspan(length);
            }
            // Destinations that have some data already, and more room than is needed.
            std::vector<std::size_t> existing;
            for (std::size_t left = m * block; existing.empty() || left != 0;) {
                const std::size_t place = existing.size() == 6 ? left + 1000 : random() % (left + 2);
                existing.push_back(random() % 50);
                BufHandle part = room(existing.back() + place);
                std::memset(data_of(part), 0xee, existing.back());
                must(doca_buf_set_data(part, data_of(part), existing.back()));
                append(dst, std::move(part));
                left -= std::min(left, place);
            }
            ASSERT_EQ(engine.run(DOCA_EC_JOB_CREATE, coding, src, dst), DOCA_SUCCESS);
            // Without the data that was there before.
            Block written;
            std::size_t number = 0;
            for (doca_buf *buf = dst; buf != nullptr; ++number) {
                const auto *const from = reinterpret_cast<const std::uint8_t *>(data_of(buf));
                EXPECT_EQ(Block(from, from + existing[number]), Block(existing[number], 0xee));
                written.insert(written.end(), from + existing[number], from + data_len_of(buf));
                doca_buf *next = nullptr;
                must(doca_buf_list_next(buf, &next));
                buf = next;
            }
            Block wanted;
            for (const Block &each : expected)
                wanted.insert(wanted.end(), each.begin(), each.end());
            ASSERT_TRUE(written == wanted) << "blocks of " << block << ", sample " << sample;
        }
    }
}

// Queues

TEST_P(EcTest, AsManyJobsAsTheQueueIsDeep)
{
    const Blocks blocks = random_blocks(3, 64);
    const MatrixHandle coding = matrix(DOCA_CODING_MATRIX_CAUCHY, 3, 2);
    const BufHandle src = data(blocks);
    std::vector<BufHandle> results;
    for (int i = 0; i < 33; ++i)
        results.push_back(room(2 * 64));
    for (std::size_t i = 0; i < 32; ++i)
        EXPECT_EQ(engine.submit(engine.job(DOCA_EC_JOB_CREATE, coding, src, results[i]).base()), DOCA_SUCCESS);
    EcJob more = engine.job(DOCA_EC_JOB_CREATE, coding, src, results[32]);
    EXPECT_EQ(engine.submit(more.base()), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(data_len_of(results[32]), 0u);
    // A job that fails needs a place in the queue as well.
    const BufHandle short_source = data(64);
    EXPECT_EQ(engine.submit(engine.job(DOCA_EC_JOB_CREATE, coding, short_source, results[32]).base()),
              DOCA_ERROR_NO_MEMORY);
    for (std::size_t i = 0; i < 32; ++i) {
        EXPECT_EQ(engine.result_of(DOCA_EC_JOB_CREATE), DOCA_SUCCESS);
        EXPECT_EQ(blocks_in(results[i], 64), reference_blocks(reference_cauchy(3, 2), blocks));
    }
    EXPECT_EQ(engine.run(more.base()), DOCA_SUCCESS);
}

TEST_P(EcTest, ContextStopsWhenItsJobsInFlightWereRetrieved)
{
    const MatrixHandle coding = matrix(DOCA_CODING_MATRIX_CAUCHY, 3, 2);
    const BufHandle src = data(3 * 64), dst = room(2 * 64), small = room(64);
    EcHandle other;
    must(doca_ec_create(other.out()));
    doca_ctx *const ctx = doca_ec_as_ctx(other);
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_start(ctx));
    must(doca_ctx_workq_add(ctx, engine.workq()));
    for (doca_buf *const to : {dst.get(), small.get()}) {
        EcJob job = engine.job(DOCA_EC_JOB_CREATE, coding, src, to);
        job.base().ctx = ctx;
        ASSERT_EQ(engine.submit(job.base()), DOCA_SUCCESS);
    }
    EXPECT_NE(doca_ctx_stop(ctx), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, engine.workq()), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(engine.result_of(DOCA_EC_JOB_CREATE), DOCA_SUCCESS);
    EXPECT_EQ(engine.result_of(DOCA_EC_JOB_CREATE), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, engine.workq()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST_P(EcTest, NextToDmaOnOneQueue)
{
    const Blocks blocks = random_blocks(3, 64);
    const MatrixHandle coding = matrix(DOCA_CODING_MATRIX_CAUCHY, 3, 2);
    const DmaEngine copies(dev);
    must(doca_ctx_workq_add(engine.ctx(), copies.workq()));
    const BufHandle src = data(blocks), dst = room(2 * 64), copy = room(3 * 64);
    EXPECT_EQ(copies.submit(copy, src), DOCA_SUCCESS);
    EXPECT_EQ(doca_workq_submit(copies.workq(), &engine.job(DOCA_EC_JOB_CREATE, coding, src, dst).base()),
              DOCA_SUCCESS);
    std::set<int> types;
    for (int i = 0; i < 2; ++i) {
        doca_event event = {};
        EXPECT_EQ(wait_for(copies.workq(), event), DOCA_SUCCESS);
        types.insert(event.type);
    }
    EXPECT_EQ(types, (std::set<int>{DOCA_DMA_JOB_MEMCPY, DOCA_EC_JOB_CREATE}));
    EXPECT_EQ(blocks_in(copy, 64), blocks);
    EXPECT_EQ(blocks_in(dst, 64), reference_blocks(reference_cauchy(3, 2), blocks));
    EXPECT_EQ(doca_ctx_workq_rm(engine.ctx(), copies.workq()), DOCA_SUCCESS);
}

TEST_P(EcTest, EventDrivenQueuesAreNotified)
{
    const EcEngine sleeping(dev, 4, true);
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(sleeping.workq(), &handle));
    const auto is_readable = [&] {
        pollfd poll_handle = {.fd = handle, .events = POLLIN, .revents = 0};
        return poll(&poll_handle, 1, 0) == 1;
    };
    const MatrixHandle coding = matrix(DOCA_CODING_MATRIX_CAUCHY, 3, 2);
    const BufHandle src = data(3 * 64);
    // Jobs that succeed and one that fails.
    for (const std::size_t length : {2 * 64, 64}) {
        for (const doca_ec_job_types type : ec_job_types) {
            const BufHandle dst = room(length);
            must(doca_workq_event_handle_arm(sleeping.workq()));
            EXPECT_FALSE(is_readable());
            EXPECT_EQ(sleeping.submit(sleeping.job(type, coding, src, dst).base()), DOCA_SUCCESS);
            EXPECT_TRUE(is_readable());
            must(doca_workq_event_handle_clear(sleeping.workq(), handle));
            EXPECT_EQ(sleeping.result_of(type), length == 64 ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS);
        }
    }
}

// Long jobs, which are processed in slices

constexpr std::size_t long_block = std::size_t{512} << 10; // three of them are more than a slice

TEST_P(EcTest, LongJobsCompleteInPollsAndInOrder)
{
    const Blocks blocks = random_blocks(3, long_block), short_blocks = random_blocks(3, 64);
    MatrixHandle coding = matrix(DOCA_CODING_MATRIX_CAUCHY, 3, 2);
    const BufHandle src = data(blocks), dst = room(2 * long_block), short_src = data(short_blocks),
                    short_dst = room(2 * 64);
    ASSERT_EQ(engine.submit(engine.job(DOCA_EC_JOB_CREATE, coding, src, dst).base()), DOCA_SUCCESS);
    ASSERT_EQ(engine.submit(engine.job(DOCA_EC_JOB_GALOIS_MUL, coding, short_src, short_dst).base()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ec_matrix_destroy(coding), DOCA_ERROR_IN_USE);
    doca_event event = {};
    EXPECT_EQ(doca_workq_progress_retrieve(engine.workq(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE), DOCA_ERROR_AGAIN)
        << "a slice is no completion";
    EXPECT_EQ(data_len_of(dst), 0u);
    EXPECT_EQ(data_len_of(short_dst), 0u) << "it waits for the long one";
    EXPECT_EQ(doca_ec_matrix_destroy(coding), DOCA_ERROR_IN_USE);
    EXPECT_EQ(engine.result_of(DOCA_EC_JOB_CREATE), DOCA_SUCCESS);
    EXPECT_TRUE(blocks_in(dst, long_block) == reference_blocks(reference_cauchy(3, 2), blocks));
    EXPECT_EQ(engine.result_of(DOCA_EC_JOB_GALOIS_MUL), DOCA_SUCCESS);
    EXPECT_EQ(blocks_in(short_dst, 64), reference_blocks(reference_cauchy(3, 2), short_blocks));
    EXPECT_EQ(doca_ec_matrix_destroy(coding.release()), DOCA_SUCCESS);
}

TEST_P(EcTest, LongJobsWakeEventDrivenQueues)
{
    const EcEngine sleeping(dev, 4, true);
    doca_event_handle_t handle = -1;
    must(doca_workq_get_event_handle(sleeping.workq(), &handle));
    const Blocks blocks = random_blocks(3, long_block);
    const MatrixHandle coding = matrix(DOCA_CODING_MATRIX_CAUCHY, 3, 2);
    const BufHandle src = data(blocks), dst = room(2 * long_block);
    ASSERT_EQ(sleeping.submit(sleeping.job(DOCA_EC_JOB_CREATE, coding, src, dst).base()), DOCA_SUCCESS);
    doca_event event = {};
    doca_error_t status = DOCA_ERROR_AGAIN;
    int num_wakes = 0;
    for (; status == DOCA_ERROR_AGAIN; ++num_wakes) {
        must(doca_workq_event_handle_arm(sleeping.workq()));
        pollfd descriptor = {.fd = handle, .events = POLLIN, .revents = 0};
        ASSERT_EQ(poll(&descriptor, 1, 100000), 1) << "the queue sleeps although there is a slice to process";
        must(doca_workq_event_handle_clear(sleeping.workq(), handle));
        status = doca_workq_progress_retrieve(sleeping.workq(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    }
    EXPECT_GE(num_wakes, 2) << "one for each slice";
    EXPECT_EQ(status, DOCA_SUCCESS);
    EXPECT_EQ(event.type, int{DOCA_EC_JOB_CREATE});
    EXPECT_TRUE(blocks_in(dst, long_block) == reference_blocks(reference_cauchy(3, 2), blocks));
}

TEST_P(EcTest, RemovalOfAQueueEndsLongJobs)
{
    MatrixHandle coding = matrix(DOCA_CODING_MATRIX_CAUCHY, 3, 2);
    EcHandle other;
    must(doca_ec_create(other.out()));
    doca_ctx *const ctx = doca_ec_as_ctx(other);
    must(doca_ctx_dev_add(ctx, dev));
    must(doca_ctx_start(ctx));
    must(doca_ctx_workq_add(ctx, engine.workq()));
    const BufHandle src = data(3 * long_block), dst = room(2 * long_block), short_src = data(3 * 64),
                    short_dst = room(2 * 64);
    EcJob jobs[] = {engine.job(DOCA_EC_JOB_CREATE, coding, src, dst),
                    engine.job(DOCA_EC_JOB_CREATE, coding, short_src, short_dst)};
    for (EcJob &job : jobs) {
        job.base().ctx = ctx;
        ASSERT_EQ(engine.submit(job.base()), DOCA_SUCCESS);
    }
    doca_event event = {};
    EXPECT_EQ(doca_workq_progress_retrieve(engine.workq(), &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE), DOCA_ERROR_AGAIN);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, engine.workq()), DOCA_ERROR_NOT_PERMITTED);
    for (const doca_buf *const to : {dst.get(), short_dst.get()}) {
        EXPECT_EQ(engine.result_of(DOCA_EC_JOB_CREATE), DOCA_ERROR_SHUTDOWN);
        EXPECT_EQ(data_len_of(to), 0u);
    }
    EXPECT_EQ(doca_ec_matrix_destroy(coding.release()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_workq_rm(ctx, engine.workq()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

// Graphs

TEST_P(EcTest, JobsOfEachTypeAreNodesOfGraphs)
{
    const MatrixHandle coding = matrix(DOCA_CODING_MATRIX_CAUCHY, 3, 2), recovery = recover_matrix(coding, {0, 1}),
                       change = update_matrix(coding, {2});
    const Blocks blocks = random_blocks(4, 64); // the last one replaces block 2
    // Redundancy is written behind what both of the following jobs read before it.
    const BufHandle src = data({blocks[0], blocks[1], blocks[2]}), redundancy = room(2 * 64);
    BufHandle changes = data({blocks[2], blocks[3]});
    append(changes, inventory.full(map, data_of(redundancy), 2 * 64));
    const BufHandle available = inventory.full(map, data_of(src) + 128, 3 * 64), recovered = room(2 * 64),
                    updated = room(2 * 64), product = room(2 * 64);
    TestGraph graph;
    doca_graph_node *const nodes[] = {
        graph.add_job(DOCA_EC_JOB_CREATE, engine.ctx()), graph.add_job(DOCA_EC_JOB_RECOVER, engine.ctx()),
        graph.add_job(DOCA_EC_JOB_UPDATE, engine.ctx()), graph.add_job(DOCA_EC_JOB_GALOIS_MUL, engine.ctx())};
    for (int i = 1; i != 4; ++i)
        graph.order(nodes[0], nodes[i]);
    graph.start_on(engine.workq());
    const InstanceHandle instance = graph.instance();
    EcJob jobs[] = {engine.job(DOCA_EC_JOB_CREATE, coding, src, redundancy),
                    engine.job(DOCA_EC_JOB_RECOVER, recovery, available, recovered),
                    engine.job(DOCA_EC_JOB_UPDATE, change, changes, updated),
                    engine.job(DOCA_EC_JOB_GALOIS_MUL, coding, src, product)};
    for (int i = 0; i != 4; ++i)
        must(doca_graph_instance_set_ctx_node_data(instance, nodes[i], &jobs[i].base(), nullptr));
    EXPECT_EQ(run_instance(engine.workq(), instance), DOCA_SUCCESS);
    EXPECT_EQ(blocks_in(recovered, 64), (Blocks{blocks[0], blocks[1]}));
    const Rows rows = reference_cauchy(3, 2);
    EXPECT_EQ(blocks_in(updated, 64), reference_blocks(rows, {blocks[0], blocks[1], blocks[3]}));
    EXPECT_EQ(blocks_in(product, 64), reference_blocks(rows, {blocks[0], blocks[1], blocks[2]}));
}

TEST_P(EcTest, NodeThatFailsEndsTheInstance)
{
    const MatrixHandle coding = matrix(DOCA_CODING_MATRIX_CAUCHY, 3, 2);
    const BufHandle src = data(3 * 64), small = room(64), dst = room(2 * 64);
    EcJob too_long = engine.job(DOCA_EC_JOB_CREATE, coding, src, small),
          second = engine.job(DOCA_EC_JOB_CREATE, coding, src, dst);
    expect_failure_to_end_graph(engine.workq(), too_long.base(), second.base());
    EXPECT_EQ(data_len_of(dst), 0u);
}
