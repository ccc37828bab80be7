// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors

// Functions that the library exports, because programs are linked with BIND_NOW, but that this release does
// not build. Each says so in the log and answers DOCA_ERROR_NOT_SUPPORTED; outputs are not touched.

#include <doca_error.h>
#include <doca_log.h>
#include <doca_rdma_bridge.h>

DOCA_LOG_REGISTER(DOCA_NOT_BUILT);

namespace {

doca_error_t not_built(const char *function, const char *what) noexcept
{
    (void)doca_log(DOCA_LOG_LEVEL_ERROR, log_source, __LINE__, "%s: %s not built in this release of opendoca",
                   function, what);
    return DOCA_ERROR_NOT_SUPPORTED;
}

constexpr const char *rdma_bridge = "the RDMA bridge is";

} // namespace

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
