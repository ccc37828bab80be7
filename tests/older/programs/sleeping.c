// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The event-driven loop of that time: arm, submit, sleep, clear, retrieve, arm again.
#include <sys/epoll.h>
#include <unistd.h>

#include "bdf.h"
#include "copier.h"

int main(void)
{
    char src[64] = "text", dst[64] = "";
    struct doca_dev *const dev = open_by_address("03:00.0");
    struct doca_mmap *const src_mmap = map_of(dev, src, sizeof(src)), *const dst_mmap = map_of(dev, dst, sizeof(dst));
    struct copier copier;
    struct doca_buf *src_buf, *dst_buf;
    doca_event_handle_t handle = doca_event_invalid_handle;
    struct epoll_event wanted = {.events = EPOLLIN}, got;
    struct doca_event event;
    uint8_t is_possible = 0;
    const int epoll = epoll_create1(0);
    int i;
    set_up(&copier, dev, 8);
    WORKS(doca_ctx_get_event_driven_supported(copier.ctx, &is_possible));
    CHECK(is_possible == 1);
    WORKS(doca_ctx_workq_rm(copier.ctx, copier.workq));
    WORKS(doca_workq_set_event_driven_enable(copier.workq, 1));
    WORKS(doca_workq_get_event_handle(copier.workq, &handle));
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, handle, &wanted) == 0);
    WORKS(doca_ctx_workq_add(copier.ctx, copier.workq));
    src_buf = buf_of(&copier, src_mmap, src, sizeof(src));
    dst_buf = buf_of(&copier, dst_mmap, dst, sizeof(dst));
    WORKS(doca_workq_event_handle_arm(copier.workq));
    for (i = 0; i < 10; i++) {
        src[0] = (char)i;
        WORKS(submit(&copier, dst_buf, src_buf, sizeof(src)));
        CHECK(epoll_wait(epoll, &got, 1, -1) == 1);
        WORKS(doca_workq_event_handle_clear(copier.workq, handle));
        WORKS(doca_workq_progress_retrieve(copier.workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE));
        CHECK(event.result.u64 == DOCA_SUCCESS && dst[0] == (char)i);
        GIVES(doca_workq_progress_retrieve(copier.workq, &event, 0), DOCA_ERROR_AGAIN);
        WORKS(doca_workq_event_handle_arm(copier.workq));
    }
    close(epoll);
    WORKS(doca_buf_refcount_rm(src_buf, NULL));
    WORKS(doca_buf_refcount_rm(dst_buf, NULL));
    tear_down(&copier);
    WORKS(doca_mmap_destroy(src_mmap));
    WORKS(doca_mmap_destroy(dst_mmap));
    WORKS(doca_dev_close(dev));
    return 0;
}
