// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// All headers of the time in C++, and a copy.
#include <doca_aes_gcm.h>
#include <doca_argp.h>
#include <doca_buf_array.h>
#include <doca_buf_pool.h>
#if DOCA_API < 20700
#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>
#else
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#endif
#include <doca_comm_channel.h>
#include <doca_compress.h>
#include <doca_erasure_coding.h>
#include <doca_graph.h>
#include <doca_log.h>
#include <doca_rdma.h>
#include <doca_rdma_bridge.h>
#include <doca_sha.h>
#include <doca_sync_event.h>
#include <doca_types.h>

#include "dma.h"

int main()
{
    doca_dev *const dev = open_device(doca_dma_cap_task_memcpy_is_supported, nullptr);
    memory own;
    make_memory(&own, dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    doca_buf *const src = buffer(&own, 0, 1024, "a text");
    doca_buf *const dst = buffer(&own, 1024, 1024, nullptr);
    copy(dev, src, dst);
    CHECK(strcmp(own.bytes + 1024, "a text") == 0);
    WORKS(doca_buf_dec_refcount(src, nullptr));
    WORKS(doca_buf_dec_refcount(dst, nullptr));
    drop_memory(&own);
    WORKS(doca_dev_close(dev));
}
