// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What is not built of DOCA 3.0 says so: each such function checks its arguments, and then refuses. See
// docs/not-built.md.
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
    doca_error_t code = DOCA_ERROR_NOT_SUPPORTED;
    doca_error_t code_of_nothing = DOCA_ERROR_INVALID_VALUE;
};

// clang-format off
#define CALL(function, ...) \
    {#function, [] { return run_with_nothing(function); }, [] { return run_with_something(function); } __VA_OPT__(,) __VA_ARGS__}
// clang-format on
const Call calls[] = {
    CALL(doca_dev_accelerate_resource_reclaim),
    CALL(doca_buf_arr_set_target_gpu),
    CALL(doca_buf_arr_set_target_dpa),
    CALL(doca_buf_arr_start, DOCA_ERROR_BAD_STATE),
    CALL(doca_buf_arr_get_gpu_handle, DOCA_ERROR_BAD_STATE),
    CALL(doca_buf_arr_get_dpa_handle, DOCA_ERROR_BAD_STATE),
    CALL(doca_mmap_set_dpa_memrange),
    CALL(doca_mmap_dev_get_dpa_handle),
    CALL(doca_task_batch_submit, DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_NOT_SUPPORTED),
    CALL(doca_task_batch_try_submit, DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_NOT_SUPPORTED),
    CALL(doca_task_batch_get_status, DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_NOT_SUPPORTED),
    CALL(doca_dma_get_gpu_handle, DOCA_ERROR_BAD_STATE),
    CALL(doca_rdma_bridge_prepare_connection),
    CALL(doca_rdma_bridge_accept),
    CALL(doca_rdma_bridge_established),
    CALL(doca_rdma_get_dpa_handle, DOCA_ERROR_BAD_STATE),
    CALL(doca_rdma_get_gpu_handle, DOCA_ERROR_BAD_STATE),
    CALL(doca_rdma_dpa_completion_attach, DOCA_ERROR_BAD_STATE),
    CALL(doca_sync_event_add_publisher_location_dpa),
    CALL(doca_sync_event_add_publisher_location_gpu),
    CALL(doca_sync_event_add_subscriber_location_dpa),
    CALL(doca_sync_event_add_subscriber_location_gpu),
    CALL(doca_sync_event_get_dpa_handle),
    CALL(doca_sync_event_get_gpu_handle),
    CALL(doca_sync_event_remote_net_get_dpa_handle),
    CALL(doca_sync_event_remote_net_get_gpu_handle),
    CALL(doca_sync_event_cap_is_export_to_dpa_supported),
    CALL(doca_sync_event_cap_is_export_to_gpu_supported),
    CALL(doca_sync_event_cap_remote_net_is_export_to_dpa_supported),
    CALL(doca_sync_event_cap_remote_net_is_export_to_gpu_supported),
    CALL(doca_comch_consumer_completion_create),
    CALL(doca_comch_consumer_completion_destroy),
    CALL(doca_comch_consumer_completion_set_dpa_thread),
    CALL(doca_comch_consumer_completion_start),
    CALL(doca_comch_consumer_completion_stop),
    CALL(doca_comch_consumer_completion_get_dpa_handle),
    CALL(doca_comch_consumer_completion_set_max_num_consumers),
    CALL(doca_comch_consumer_completion_get_max_num_consumers),
    CALL(doca_comch_consumer_completion_set_max_num_recv),
    CALL(doca_comch_consumer_completion_get_max_num_recv),
    CALL(doca_comch_consumer_completion_set_imm_data_len),
    CALL(doca_comch_consumer_completion_get_imm_data_len),
    CALL(doca_comch_consumer_set_dev_max_num_recv),
    CALL(doca_comch_consumer_set_completion),
    CALL(doca_comch_consumer_get_dpa_handle),
    CALL(doca_comch_producer_set_dev_max_num_send),
    CALL(doca_comch_producer_dpa_completion_attach),
    CALL(doca_comch_producer_get_dpa_handle),
    CALL(doca_comch_msgq_create),
    CALL(doca_comch_msgq_destroy),
    CALL(doca_comch_msgq_set_dpa_consumer),
    CALL(doca_comch_msgq_set_max_num_consumers),
    CALL(doca_comch_msgq_set_dpa_producer),
    CALL(doca_comch_msgq_set_max_num_producers),
    CALL(doca_comch_msgq_start),
    CALL(doca_comch_msgq_stop),
    CALL(doca_comch_msgq_consumer_create),
    CALL(doca_comch_msgq_producer_create),
    CALL(doca_umem_dpa_create),
    CALL(doca_umem_gpu_create),
    CALL(doca_uar_dpa_create),
    CALL(doca_clock_create),
    CALL(doca_clock_destroy),
    CALL(doca_clock_cap_nic_free_running_is_supported),
    CALL(doca_clock_cap_nic_real_time_is_supported),
    CALL(doca_clock_cap_nic_dpa_timer_is_supported),
    CALL(doca_clock_get_timestamp),
    CALL(doca_clock_get_crosstimestamp),
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
