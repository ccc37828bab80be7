// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: the receives of a context.
#include <cstdint>

#include <doca_rdma.h>

#include "strict_fixture.hpp"

namespace doca_test {
namespace {

void ended(doca_rdma_task_receive *, doca_data, doca_data) {}

class StrictRdma : public StrictTest {
protected:
    /// Returns what the start of a context with @p num_receives receive tasks answers.
    [[nodiscard]] doca_error_t start(std::uint32_t num_receives) const
    {
        Handle<doca_rdma, doca_rdma_destroy> rdma;
        must(doca_rdma_create(dev, rdma.out()));
        must(doca_rdma_task_receive_set_conf(rdma, ended, ended, num_receives));
        must(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(rdma)));
        const doca_error_t status = doca_ctx_start(doca_rdma_as_ctx(rdma));
        EXPECT_EQ(doca_ctx_stop(doca_rdma_as_ctx(rdma)), DOCA_SUCCESS);
        return status;
    }
};
INSTANTIATE_STRICT(StrictRdma);

TEST_P(StrictRdma, a_context_has_as_many_receives_as_a_shared_receive_queue)
{
    EXPECT_EQ(start(32767), DOCA_SUCCESS);
    EXPECT_FALSE(log.has("strict: ")) << log.text();
    EXPECT_EQ(start(32768), is_strict() ? DOCA_ERROR_DRIVER : DOCA_SUCCESS);
    expect_rule("max-receives");
}

} // namespace
} // namespace doca_test
