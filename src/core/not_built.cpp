// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors

// Functions that the library exports, because programs are linked with BIND_NOW, but that this release does
// not build. Each says so in the log and answers DOCA_ERROR_NOT_SUPPORTED; outputs are not touched.

#include <doca_error.h>
#include <doca_log.h>
#include <doca_rdma_bridge.h>
#include <doca_sync_event.h>

DOCA_LOG_REGISTER(DOCA_NOT_BUILT);

namespace {

doca_error_t not_built(const char *function, const char *what) noexcept
{
    (void)doca_log(DOCA_LOG_LEVEL_ERROR, log_source, __LINE__, "%s: %s not built in this release of opendoca",
                   function, what);
    return DOCA_ERROR_NOT_SUPPORTED;
}

constexpr const char *sync_event = "sync events are";
constexpr const char *rdma_bridge = "the RDMA bridge is";

} // namespace

// doca_sync_event.h

doca_error_t doca_sync_event_create(doca_sync_event **)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_create_from_export(doca_dev *, const uint8_t *, size_t, doca_sync_event **)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_get_create_from_export_supported(const doca_devinfo *)
{
    return DOCA_ERROR_NOT_SUPPORTED; // a plain no to a question
}

doca_error_t doca_sync_event_destroy(doca_sync_event *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_publisher_add_location_cpu(doca_sync_event *, doca_dev *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_publisher_add_location_dpa(doca_sync_event *, doca_dpa *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_publisher_add_location_gpu(doca_sync_event *, doca_gpu *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_publisher_add_location_dpu(doca_sync_event *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_subscriber_add_location_cpu(doca_sync_event *, doca_dev *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_subscriber_add_location_dpa(doca_sync_event *, doca_dpa *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_subscriber_add_location_gpu(doca_sync_event *, doca_gpu *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_subscriber_add_location_dpu(doca_sync_event *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_set_addr(doca_sync_event *, uint64_t *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_start(doca_sync_event *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_stop(doca_sync_event *)
{
    return not_built(__func__, sync_event);
}

doca_ctx *doca_sync_event_as_ctx(doca_sync_event *)
{
    (void)not_built(__func__, sync_event);
    return nullptr;
}

doca_error_t doca_sync_event_job_get_supported(doca_devinfo *, doca_sync_event_job_types)
{
    return DOCA_ERROR_NOT_SUPPORTED; // a plain no to a question
}

doca_error_t doca_sync_event_export_to_dpu(doca_sync_event *, doca_dev *, const uint8_t **, size_t *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_get_export_to_dpu_supported(const doca_devinfo *)
{
    return DOCA_ERROR_NOT_SUPPORTED; // a plain no to a question
}

doca_error_t doca_sync_event_export_to_dpa(doca_sync_event *, doca_dpa *, doca_dpa_dev_sync_event_t *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_get_export_to_dpa_supported(const doca_devinfo *)
{
    return DOCA_ERROR_NOT_SUPPORTED; // a plain no to a question
}

doca_error_t doca_sync_event_export_to_gpu(doca_sync_event *, doca_gpu *, doca_gpu_dev_sync_event_t **)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_get_export_to_gpu_supported(const doca_devinfo *)
{
    return DOCA_ERROR_NOT_SUPPORTED; // a plain no to a question
}

doca_error_t doca_sync_event_export_remote(doca_sync_event *, doca_sync_event_remote_t *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_get(doca_sync_event *, uint64_t *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_update_add(doca_sync_event *, uint64_t, uint64_t *)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_update_set(doca_sync_event *, uint64_t)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_wait_gt(doca_sync_event *, uint64_t, uint64_t)
{
    return not_built(__func__, sync_event);
}

doca_error_t doca_sync_event_wait_gt_yield(doca_sync_event *, uint64_t, uint64_t)
{
    return not_built(__func__, sync_event);
}

// doca_rdma_bridge.h

doca_error_t doca_dev_get_pd(const doca_dev *, ibv_pd **)
{
    return not_built(__func__, rdma_bridge);
}

doca_error_t doca_dev_open_from_pd(ibv_pd *, doca_dev **)
{
    return not_built(__func__, rdma_bridge);
}

doca_error_t doca_buf_get_mkey(const doca_buf *, doca_dev *, uint32_t *)
{
    return not_built(__func__, rdma_bridge);
}
