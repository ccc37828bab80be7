// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <span>

#include "../benchmark.hpp"

namespace opendoca::tools {

std::span<const Benchmark> benchmarks()
{
    static constexpr Benchmark all[] = {
        {"dma", "DMA memcpy jobs, within a process and between two, next to plain copies", run_dma_benchmark},
        {"rdma", "RDMA jobs between two processes or machines, next to UCX or perftest", run_rdma_benchmark},
        {"connections", "what many RDMA connections on one work queue cost", run_connections_benchmark},
        {"sha", "SHA jobs, next to OpenSSL", run_sha_benchmark},
#ifdef OPENDOCA_HAS_CODECS
        {"compress", "DEFLATE and LZ4 jobs, next to the codecs alone", run_compress_benchmark},
#endif
        {"ec", "jobs of erasure coding, next to ISA-L", run_ec_benchmark},
        {"graph", "nodes of graphs: callbacks and small copies, next to other executors", run_graph_benchmark},
        {"cc", "Comm Channel round trips between two processes, next to bare socket pairs", run_cc_benchmark},
        {"sync_event", "sync events from update to woken waiter between two processes", run_sync_event_benchmark},
    };
    return all;
}

} // namespace opendoca::tools
