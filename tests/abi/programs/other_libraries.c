// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/* Jobs and calls of the libraries around DMA, as their users write them. Compiled, not linked. */
#include <doca_comm_channel.h>
#include <doca_compress.h>
#include <doca_erasure_coding.h>
#include <doca_graph.h>
#include <doca_rdma.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

struct doca_sha_job sha_job(struct doca_ctx *ctx, struct doca_buf *text, struct doca_buf *digest);
struct doca_compress_deflate_job inflate(struct doca_ctx *ctx, const struct doca_buf *stream, struct doca_buf *text);
struct doca_ec_job_create redundancy(struct doca_ctx *ctx, struct doca_ec *ec, const struct doca_buf *data);
struct doca_rdma_job_send rdma_send(struct doca_ctx *ctx, const struct doca_buf *text);
struct doca_sync_event_job_wait wait_for_one(struct doca_ctx *ctx);
doca_error_t greet(const char *device_name, struct doca_comm_channel_ep_t *ep);
doca_error_t add_user_node(struct doca_graph *graph, struct doca_graph_node **node);

struct doca_sha_job sha_job(struct doca_ctx *ctx, struct doca_buf *text, struct doca_buf *digest)
{
    struct doca_sha_job job = {
        .base = {.type = DOCA_SHA_JOB_SHA256, .flags = DOCA_JOB_FLAGS_NONE, .ctx = ctx},
        .resp_buf = digest,
        .req_buf = text,
        .flags = DOCA_SHA_JOB_FLAGS_NONE,
    };
    return job;
}

struct doca_compress_deflate_job inflate(struct doca_ctx *ctx, const struct doca_buf *stream, struct doca_buf *text)
{
    struct doca_compress_deflate_job job = {
        .base = {.type = DOCA_DECOMPRESS_DEFLATE_JOB, .flags = DOCA_JOB_FLAGS_NONE, .ctx = ctx},
        .dst_buff = text,
        .src_buff = stream,
        .output_chksum = NULL,
    };
    return job;
}

struct doca_ec_job_create redundancy(struct doca_ctx *ctx, struct doca_ec *ec, const struct doca_buf *data)
{
    struct doca_ec_job_create job = {
        .base = {.type = DOCA_EC_JOB_CREATE, .flags = DOCA_JOB_FLAGS_NONE, .ctx = ctx},
        .src_original_data_buff = data,
    };
    (void)doca_ec_matrix_create(ec, DOCA_CODING_MATRIX_CAUCHY, 4, 2, &job.create_matrix);
    return job;
}

struct doca_rdma_job_send rdma_send(struct doca_ctx *ctx, const struct doca_buf *text)
{
    struct doca_rdma_job_send job = {
        .base.type = DOCA_RDMA_JOB_SEND,
        .base.ctx = ctx,
        .src_buff = text,
    };
    return job;
}

struct doca_sync_event_job_wait wait_for_one(struct doca_ctx *ctx)
{
    struct doca_sync_event_job_wait job = {
        .base = {.type = DOCA_SYNC_EVENT_JOB_WAIT_GT, .flags = DOCA_JOB_FLAGS_NONE, .ctx = ctx},
        .value = 0,
        .mask = UINT64_MAX,
    };
    return job;
}

doca_error_t greet(const char *device_name, struct doca_comm_channel_ep_t *ep)
{
    struct doca_comm_channel_addr_t *peer = NULL;
    char pci[DOCA_DEVINFO_PCI_ADDR_SIZE] = {0};
    doca_error_t status = doca_comm_channel_ep_connect(ep, device_name, &peer);

    strncpy(pci, device_name, sizeof(pci) - 1);
    while (status == DOCA_SUCCESS &&
           (status = doca_comm_channel_peer_addr_update_info(peer)) == DOCA_ERROR_CONNECTION_INPROGRESS)
        ;
    if (status == DOCA_SUCCESS)
        status = doca_comm_channel_ep_sendto(ep, pci, strlen(pci), DOCA_CC_MSG_FLAG_NONE, peer);
    return status;
}

static doca_error_t user_node(void *cookie, struct doca_event *event)
{
    (void)cookie;
    return (doca_error_t)event->result.u64;
}

doca_error_t add_user_node(struct doca_graph *graph, struct doca_graph_node **node)
{
    return doca_graph_user_node_create(graph, user_node, node);
}
