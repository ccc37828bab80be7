// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA on a device without atomics.
#include <cstddef>
#include <memory>

#include <gtest/gtest.h>

#include <doca_rdma.h>

#include "../../src/core/objects/dev.hpp"
#include "../conformance/support/device.hpp"
#include "../conformance/support/log_capture.hpp"

using namespace doca_test;

namespace {

/// The first software function, which has lost its atomics.
class PlainFunction final : public opendoca::DeviceFunction {
public:
    explicit PlainFunction(std::shared_ptr<const opendoca::DeviceFunction> whole) : whole_(std::move(whole))
    {
        provider = "plain";
        name = whole_->name;
        can = whole_->can;
        can.rdma.atomics = false;
    }
    [[nodiscard]] doca_error_t open(std::unique_ptr<opendoca::Device> &device) const override
    {
        return whole_->open(device);
    }

private:
    std::shared_ptr<const opendoca::DeviceFunction> whole_;
};

std::shared_ptr<const opendoca::DeviceFunction> soft_function()
{
    const DevinfoList list;
    for (const doca_devinfo *const info : list) {
        if (info->function->provider == "soft")
            return info->function;
    }
    return nullptr;
}

/// A started instance with a work queue.
struct Instance {
    explicit Instance(doca_dev *dev)
    {
        must(doca_rdma_create(rdma.out()));
        ctx = doca_rdma_as_ctx(rdma);
        must(doca_ctx_dev_add(ctx, dev));
        must(doca_ctx_start(ctx));
        must(doca_workq_create(8, workq.out()));
        must(doca_ctx_workq_add(ctx, workq));
    }
    ~Instance()
    {
        EXPECT_EQ(doca_ctx_workq_rm(ctx, workq), DOCA_SUCCESS);
        EXPECT_EQ(doca_ctx_stop(ctx), DOCA_SUCCESS);
    }
    void connect_to(Instance &peer)
    {
        const void *details = nullptr;
        std::size_t size = 0;
        must(doca_rdma_export(peer.rdma, &details, &size));
        must(doca_rdma_connect(rdma, details, size));
    }

    Handle<doca_rdma, doca_rdma_destroy> rdma;
    WorkqHandle workq;
    doca_ctx *ctx = nullptr;
};

} // namespace

TEST(RdmaDevice, RefusesAtomicsThatItCannotDo)
{
    const auto whole = soft_function();
    if (whole == nullptr)
        GTEST_SKIP() << "there is no software device here";
    doca_devinfo info{std::make_shared<PlainFunction>(whole)};
    EXPECT_EQ(doca_rdma_job_get_supported(&info, DOCA_RDMA_JOB_ATOMIC_CMP_SWP), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_rdma_job_get_supported(&info, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_rdma_job_get_supported(&info, DOCA_RDMA_JOB_READ), DOCA_SUCCESS);
    DevHandle dev;
    must(doca_dev_open(&info, dev.out()));
    Instance one(dev), other(dev);
    one.connect_to(other);
    other.connect_to(one);
    for (const doca_rdma_job_types type : {DOCA_RDMA_JOB_ATOMIC_CMP_SWP, DOCA_RDMA_JOB_ATOMIC_FETCH_ADD}) {
        doca_rdma_job_atomic job = {};
        job.base.type = type;
        job.base.ctx = one.ctx;
        const LogCapture log;
        EXPECT_EQ(doca_workq_submit(one.workq, &job.base), DOCA_ERROR_NOT_SUPPORTED);
        EXPECT_LOGGED(log, "cannot do atomics");
    }
    // It is refused, and the connection is as good as before.
    doca_rdma_state state = DOCA_RDMA_STATE_RESET;
    must(doca_rdma_get_state(one.rdma, &state));
    EXPECT_EQ(state, DOCA_RDMA_STATE_CONNECTED);
}
