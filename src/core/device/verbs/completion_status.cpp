// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "completion_status.hpp"

namespace opendoca::verbs {

doca_error_t to_error(ibv_wc_status status) noexcept
{
    switch (status) {
    case IBV_WC_SUCCESS:
        return DOCA_SUCCESS;
    // A key that is invalid, does not cover the range or lacks a right, on this side or at the peer.
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_MW_BIND_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
    case IBV_WC_REM_ACCESS_ERR:
        return DOCA_ERROR_NOT_PERMITTED;
    // The message is longer than the receive's buffers, or than the device supports.
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
        return DOCA_ERROR_INVALID_VALUE;
    // No packet was acknowledged, or the peer has lost its end of the connection.
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_REM_ABORT_ERR:
        return DOCA_ERROR_CONNECTION_RESET;
    // The peer responds, but has not posted a receive in time.
    case IBV_WC_RNR_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
        return DOCA_ERROR_TIME_OUT;
    // Flushed before it began: another work request has failed, or the connection was ended.
    case IBV_WC_WR_FLUSH_ERR:
        return DOCA_ERROR_SHUTDOWN;
    // The queue pair itself is broken on one side: IBV_WC_LOC_QP_OP_ERR, IBV_WC_REM_OP_ERR, IBV_WC_FATAL_ERR. Or the
    // status belongs to a type of queue pair that opendoca does not use.
    default:
        return DOCA_ERROR_IO_FAILED;
    }
}

} // namespace opendoca::verbs
