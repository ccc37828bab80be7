// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What is not built of DOCA 3.0 says so: each such function checks its arguments, and then refuses. Which ones do is in
// docs/not-built.json, of which docs/not-built.md is made as well.
#include <algorithm>
#include <array>
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

#include "../support/log_capture.hpp"
#include "objects.hpp"

using namespace doca_test;

namespace {

constexpr std::byte pattern{0x5a};

/// What all pointers of a call point to. No function of these looks at it, as none can do anything with an object.
alignas(std::max_align_t) std::array<std::byte, 256> anything;

bool is_untouched()
{
    return std::ranges::all_of(anything, [](std::byte byte) { return byte == pattern; });
}

template <typename T>
T something()
{
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<T>(anything.data());
    else
        return static_cast<T>(1);
}

template <typename... Arguments>
doca_error_t run_with_nothing(doca_error_t (*function)(Arguments...))
{
    return function(Arguments{}...);
}

template <typename... Arguments>
doca_error_t run_with_something(doca_error_t (*function)(Arguments...))
{
    return function(something<Arguments>()...);
}

struct Call {
    const char *name;
    doca_error_t (*with_nothing)();   ///< all arguments are 0 or NULL
    doca_error_t (*with_something)(); ///< all pointers are valid, and numbers are 1
    doca_error_t code;
    doca_error_t code_of_nothing;
};

// clang-format off
#define CALL(function, code, of_nothing) \
    {#function, [] { return run_with_nothing(function); }, [] { return run_with_something(function); }, code, of_nothing}
// clang-format on
const Call calls[] = {
#include "not_built_calls.inc" // of docs/not-built.json
};
#undef CALL

TEST(NotBuiltV3, functions_refuse_and_write_nothing)
{
    anything.fill(pattern);
    for (const Call &call : calls) {
        EXPECT_EQ(call.with_nothing(), call.code_of_nothing) << call.name;
        EXPECT_EQ(call.with_something(), call.code) << call.name;
        EXPECT_TRUE(is_untouched()) << call.name;
        anything.fill(pattern);
    }
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

TEST(NotBuiltV3, a_device_does_not_tell_its_rate_and_numbers)
{
    EXPECT_EQ(run_with_nothing(doca_devinfo_get_active_rate), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(run_with_nothing(doca_devinfo_get_vhca_id), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(run_with_nothing(doca_devinfo_get_sf_index), DOCA_ERROR_INVALID_VALUE);
    const DevinfoList list;
    ASSERT_NE(list.begin(), list.end());
    for (doca_devinfo *info : list) {
        std::uint64_t rate = 7;
        std::uint16_t vhca_id = 7;
        std::uint32_t sf_index = 7;
        EXPECT_EQ(doca_devinfo_get_active_rate(info, &rate), DOCA_ERROR_NOT_SUPPORTED) << ibdev_of(info);
        EXPECT_EQ(doca_devinfo_get_vhca_id(info, &vhca_id), DOCA_ERROR_NOT_SUPPORTED) << ibdev_of(info);
        EXPECT_EQ(doca_devinfo_get_sf_index(info, &sf_index), DOCA_ERROR_NOT_SUPPORTED) << ibdev_of(info);
        EXPECT_EQ(rate + vhca_id + sf_index, 21u) << "nothing is written";
    }
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
