// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <span>

#include "../benchmark.hpp"

namespace opendoca::tools {

std::span<const Benchmark> benchmarks()
{
    static constexpr Benchmark all[] = {
        {"dma", "DMA memcpy tasks, within a process and between two, next to plain copies", run_dma_benchmark},
        {"rdma", "RDMA tasks between two processes or machines, next to UCX or perftest", run_rdma_benchmark},
        {"sha", "SHA tasks, next to OpenSSL", run_sha_benchmark},
#ifdef OPENDOCA_HAS_CODECS
        {"compress", "DEFLATE and LZ4 tasks, next to the codecs alone", run_compress_benchmark},
#endif
        {"ec", "tasks of erasure coding, next to ISA-L", run_ec_benchmark},
        {"aes_gcm", "AES-GCM tasks, next to OpenSSL", run_aes_gcm_benchmark},
        {"graph", "nodes of graphs: callbacks and small copies, next to other executors", run_graph_benchmark},
        {"comch", "Comch between two processes: messages, and data from producer to consumer, next to others",
         run_comch_benchmark},
        {"contexts", "what many contexts and connections on one progress engine cost", run_contexts_benchmark},
        {"sync_event", "sync events from update to woken waiter between two processes", run_sync_event_benchmark},
    };
    return all;
}

} // namespace opendoca::tools
