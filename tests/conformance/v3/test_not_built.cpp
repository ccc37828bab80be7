// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What is not built of DOCA 3.0 says so: each such function checks its arguments, and then refuses. Which ones do is in
// docs/not-built.json, of which docs/not-built.md is made as well.
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include <doca_buf_array.h>
#include <doca_clock.h>
#include <doca_comch_consumer.h>
#include <doca_comch_msgq.h>
#include <doca_comch_producer.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>
#include <doca_uar.h>
#include <doca_umem.h>

#include "../support/environment.hpp"
#include "../support/log_capture.hpp"
#include "../support/not_built_calls.hpp"
#include "../support/topology_file.hpp"
#include "objects.hpp"

using namespace doca_test;

namespace {

using namespace not_built;

const Call calls[] = {
#include "not_built_calls.inc" // of docs/not-built.json
};

TEST(NotBuiltV3, functions_refuse_and_write_nothing)
{
    expect_refusals(calls);
}

TEST(NotBuiltV3, a_batch_of_tasks_has_nothing)
{
    doca_task_batch_free(nullptr);
    doca_task_batch_set_user_data(nullptr, {.u64 = 1});
    EXPECT_EQ(doca_task_batch_get_user_data(nullptr).u64, 0u);
    EXPECT_EQ(doca_task_batch_get_ctx(nullptr), nullptr);
    EXPECT_EQ(doca_task_batch_get_ctx_user_data(nullptr).u64, 0u);
    EXPECT_EQ(doca_task_batch_get_tasks_num(nullptr), 0);
}

// These look at their object.

TEST(NotBuiltV3, a_data_path_is_on_the_cpu)
{
    EXPECT_EQ(run_with_nothing(doca_ctx_set_datapath_on_gpu), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(run_with_nothing(doca_ctx_set_datapath_on_dpa), DOCA_ERROR_INVALID_VALUE);
    const DevHandle dev = open_device("soft_p0");
    PeHandle pe;
    must(doca_pe_create(pe.out()));
    DmaHandle dma;
    must(doca_dma_create(dev, dma.out()));
    doca_ctx *const ctx = doca_dma_as_ctx(dma);
    EXPECT_EQ(doca_ctx_set_datapath_on_gpu(ctx, something<doca_gpu *>()), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_ctx_set_datapath_on_dpa(ctx, something<doca_dpa *>()), DOCA_ERROR_NOT_SUPPORTED);
    must(doca_pe_connect_ctx(pe, ctx));
    ASSERT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS) << "no type of task is configured, which is no mistake";
    EXPECT_EQ(doca_ctx_set_datapath_on_gpu(ctx, something<doca_gpu *>()), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_ctx_set_datapath_on_dpa(ctx, something<doca_dpa *>()), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
}

TEST(NotBuiltV3, a_device_without_rate_and_numbers_returns_none)
{
    EXPECT_EQ(run_with_nothing(doca_devinfo_get_active_rate), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(run_with_nothing(doca_devinfo_get_vhca_id), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(run_with_nothing(doca_devinfo_get_sf_index), DOCA_ERROR_INVALID_VALUE);
    const TopologyFile file(
        R"({"functions": [{"name": "p0", "side": "dpu", "type": "pf", "pci": "03:00.0", "active_rate": 0}]})");
    const Environment topology("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    const Environment software("DOCA_SOFT", "1");
    const DevinfoList list;
    const auto port = std::ranges::find(list, "soft_p0", ibdev_of);
    ASSERT_NE(port, list.end());
    std::uint64_t rate = 7;
    std::uint32_t sf_index = 7;
    EXPECT_EQ(doca_devinfo_get_active_rate(*port, &rate), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_devinfo_get_sf_index(*port, &sf_index), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(rate + sf_index, 14u) << "nothing is written";
}

TEST(NotBuiltV3, a_buffer_array_without_a_target_never_starts)
{
    EXPECT_EQ(run_with_nothing(doca_buf_arr_create), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(run_with_nothing(doca_buf_arr_set_params), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(run_with_nothing(doca_buf_arr_stop), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(run_with_nothing(doca_buf_arr_destroy), DOCA_ERROR_INVALID_VALUE);
    Handle<doca_buf_arr, doca_buf_arr_destroy> array;
    const LogCapture log;
    EXPECT_EQ(doca_buf_arr_create(0, array.out()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "doca_buf_arr_create: num_elem is 0");
    ASSERT_EQ(doca_buf_arr_create(8, array.out()), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_arr_set_params(array, something<doca_mmap *>(), 0, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "doca_buf_arr_set_params: elem_size is 0");
    EXPECT_EQ(doca_buf_arr_set_target_gpu(array, something<doca_gpu *>()), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_buf_arr_start(array), DOCA_ERROR_BAD_STATE);
    EXPECT_LOGGED(log, "the buffer array has no target");
    EXPECT_EQ(doca_buf_arr_get_gpu_handle(array, something<doca_gpu_buf_arr **>()), DOCA_ERROR_BAD_STATE);
    EXPECT_LOGGED(log, "the buffer array is not started");
}

} // namespace
