// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What this release does not build says so: DOCA_ERROR_NOT_SUPPORTED, outputs untouched, a line in the log.
#include <doca_buf_array.h>
#include <doca_sync_event.h>

#include "support/dma_fixture.hpp"
#include "support/log_capture.hpp"
#include "support/not_built_calls.hpp"

using namespace doca_test;

namespace {

using namespace not_built;

const Call calls[] = {
#include "not_built_calls.inc" // of docs/not-built.json
};

} // namespace

TEST(NotBuilt, functions_refuse_and_write_nothing)
{
    EXPECT_GE(std::size(calls), 10u);
    expect_refusals(calls);
}

TEST(NotBuilt, data_path_on_a_gpu)
{
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    const LogCapture log;
    EXPECT_EQ(doca_ctx_set_datapath_on_gpu(doca_dma_as_ctx(dma), untouched<doca_gpu>()), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "GPU");
}
