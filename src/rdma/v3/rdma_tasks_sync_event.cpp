// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Tasks on sync events of a remote host: not built. What has no error to return is never called, as there is no such
// task.
#include "../../core/log.hpp"
#include "../../core/v3/call.hpp"
#include "rdma.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_SYNC_EVENTS);

using opendoca::v3::call;

namespace {

doca_error_t not_supported(const void *object)
{
    return call({object}, [] {
        LOG_ERR("tasks on sync events of a remote host are not supported");
        return DOCA_ERROR_NOT_SUPPORTED;
    });
}

} // namespace

doca_error_t doca_rdma_cap_task_remote_net_sync_event_get_is_supported(const struct doca_devinfo *devinfo)
{
    return call({devinfo}, [] { return DOCA_ERROR_NOT_SUPPORTED; });
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_set_conf(struct doca_rdma *rdma,
                                                               doca_rdma_task_remote_net_sync_event_get_completion_cb_t,
                                                               doca_rdma_task_remote_net_sync_event_get_completion_cb_t,
                                                               uint32_t)
{
    return not_supported(rdma);
}

doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(struct doca_rdma *rdma,
                                                                    struct doca_rdma_connection *,
                                                                    const struct doca_sync_event_remote_net *,
                                                                    struct doca_buf *, union doca_data,
                                                                    struct doca_rdma_task_remote_net_sync_event_get **)
{
    return not_supported(rdma);
}

struct doca_task *doca_rdma_task_remote_net_sync_event_get_as_task(struct doca_rdma_task_remote_net_sync_event_get *)
{
    return nullptr;
}

void doca_rdma_task_remote_net_sync_event_get_set_sync_event(struct doca_rdma_task_remote_net_sync_event_get *,
                                                             const struct doca_sync_event_remote_net *)
{
}

const struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_get_get_sync_event(
    const struct doca_rdma_task_remote_net_sync_event_get *)
{
    return nullptr;
}

void doca_rdma_task_remote_net_sync_event_get_set_dst_buf(struct doca_rdma_task_remote_net_sync_event_get *,
                                                          struct doca_buf *)
{
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_get_get_dst_buf(
    const struct doca_rdma_task_remote_net_sync_event_get *)
{
    return nullptr;
}

uint32_t doca_rdma_task_remote_net_sync_event_get_get_result_len(const struct doca_rdma_task_remote_net_sync_event_get *)
{
    return 0;
}

void doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(struct doca_rdma_task_remote_net_sync_event_get *,
                                                                  struct doca_rdma_connection *)
{
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(
    const struct doca_rdma_task_remote_net_sync_event_get *)
{
    return nullptr;
}

doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(const struct doca_devinfo *devinfo)
{
    return call({devinfo}, [] { return DOCA_ERROR_NOT_SUPPORTED; });
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t,
    doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t, uint32_t)
{
    return not_supported(rdma);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
    struct doca_rdma *rdma, struct doca_rdma_connection *, struct doca_sync_event_remote_net *,
    const struct doca_buf *, union doca_data, struct doca_rdma_task_remote_net_sync_event_notify_set **)
{
    return not_supported(rdma);
}

struct doca_task *doca_rdma_task_remote_net_sync_event_notify_set_as_task(
    struct doca_rdma_task_remote_net_sync_event_notify_set *)
{
    return nullptr;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(struct doca_rdma_task_remote_net_sync_event_notify_set *,
                                                                    struct doca_sync_event_remote_net *)
{
}

struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
    const struct doca_rdma_task_remote_net_sync_event_notify_set *)
{
    return nullptr;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
    struct doca_rdma_task_remote_net_sync_event_notify_set *, struct doca_rdma_connection *)
{
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
    const struct doca_rdma_task_remote_net_sync_event_notify_set *)
{
    return nullptr;
}

void doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(struct doca_rdma_task_remote_net_sync_event_notify_set *,
                                                                 const struct doca_buf *)
{
}

const struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(
    const struct doca_rdma_task_remote_net_sync_event_notify_set *)
{
    return nullptr;
}

doca_error_t doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(const struct doca_devinfo *devinfo)
{
    return call({devinfo}, [] { return DOCA_ERROR_NOT_SUPPORTED; });
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t,
    doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t, uint32_t)
{
    return not_supported(rdma);
}

doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
    struct doca_rdma *rdma, struct doca_rdma_connection *, struct doca_sync_event_remote_net *,
    struct doca_buf *, uint64_t, union doca_data, struct doca_rdma_task_remote_net_sync_event_notify_add **)
{
    return not_supported(rdma);
}

struct doca_task *doca_rdma_task_remote_net_sync_event_notify_add_as_task(
    struct doca_rdma_task_remote_net_sync_event_notify_add *)
{
    return nullptr;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(struct doca_rdma_task_remote_net_sync_event_notify_add *,
                                                                    struct doca_sync_event_remote_net *)
{
}

struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *)
{
    return nullptr;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(struct doca_rdma_task_remote_net_sync_event_notify_add *,
                                                                    struct doca_buf *)
{
}

struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *)
{
    return nullptr;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(struct doca_rdma_task_remote_net_sync_event_notify_add *,
                                                                  uint64_t)
{
}

uint64_t doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *)
{
    return 0;
}

void doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
    struct doca_rdma_task_remote_net_sync_event_notify_add *, struct doca_rdma_connection *)
{
}

const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *)
{
    return nullptr;
}
