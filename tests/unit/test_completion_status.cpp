// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Every status that a work request can end with has a result that a program can branch on.
#include <map>

#include <gtest/gtest.h>

#include "../../src/core/device/verbs/completion_status.hpp"

namespace {

TEST(CompletionStatus, MapsEachToAResult)
{
    const std::map<ibv_wc_status, doca_error_t> special = {
        {IBV_WC_SUCCESS, DOCA_SUCCESS},
        {IBV_WC_LOC_PROT_ERR, DOCA_ERROR_NOT_PERMITTED},
        {IBV_WC_MW_BIND_ERR, DOCA_ERROR_NOT_PERMITTED},
        {IBV_WC_LOC_ACCESS_ERR, DOCA_ERROR_NOT_PERMITTED},
        {IBV_WC_REM_ACCESS_ERR, DOCA_ERROR_NOT_PERMITTED},
        {IBV_WC_LOC_LEN_ERR, DOCA_ERROR_INVALID_VALUE},
        {IBV_WC_REM_INV_REQ_ERR, DOCA_ERROR_INVALID_VALUE},
        {IBV_WC_RETRY_EXC_ERR, DOCA_ERROR_CONNECTION_RESET},
        {IBV_WC_REM_ABORT_ERR, DOCA_ERROR_CONNECTION_RESET},
        {IBV_WC_RNR_RETRY_EXC_ERR, DOCA_ERROR_TIME_OUT},
        {IBV_WC_RESP_TIMEOUT_ERR, DOCA_ERROR_TIME_OUT},
        {IBV_WC_WR_FLUSH_ERR, DOCA_ERROR_SHUTDOWN},
    };
    for (int value = IBV_WC_SUCCESS; value <= IBV_WC_TM_RNDV_INCOMPLETE + 1; ++value) {
        const auto status = static_cast<ibv_wc_status>(value);
        const auto found = special.find(status);
        const doca_error_t expected = found != special.end() ? found->second : DOCA_ERROR_IO_FAILED;
        EXPECT_EQ(opendoca::verbs::to_error(status), expected) << value;
    }
}

} // namespace
