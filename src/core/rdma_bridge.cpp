// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Exported because programs are linked with BIND_NOW; this release does not build what they do.
#include <doca_error.h>
#include <doca_log.h>
#include <doca_rdma_bridge.h>

DOCA_LOG_REGISTER(DOCA_RDMA_BRIDGE);

namespace {

doca_error_t not_built(const char *function) noexcept
{
    DOCA_LOG_ERR("%s: the RDMA bridge is not built in this release of opendoca", function);
    return DOCA_ERROR_NOT_SUPPORTED;
}

} // namespace

doca_error_t doca_dev_get_pd(const doca_dev *, ibv_pd **)
{
    return not_built(__func__);
}

doca_error_t doca_dev_open_from_pd(ibv_pd *, doca_dev **)
{
    return not_built(__func__);
}

doca_error_t doca_buf_get_mkey(const doca_buf *, doca_dev *, uint32_t *)
{
    return not_built(__func__);
}
