// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DMA by jobs of DOCA 2.2: what dma_session.hpp leaves to the generation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../dma_session.hpp"

namespace opendoca::tools {

/// A running DMA context and its work queue. Members are destroyed in reverse order, after the destructor has detached
/// and stopped the context. Used by one thread at a time.
class DmaJobs final : public DmaSession {
public:
    DmaJobs(const std::string &ibdev, std::uint32_t depth);
    ~DmaJobs() override;

    [[nodiscard]] doca_workq *workq() const noexcept { return workq_.get(); }
    [[nodiscard]] doca_ctx *ctx() const noexcept { return doca_dma_as_ctx(dma_.get()); }
    [[nodiscard]] std::unique_ptr<Variant> make_loop(JobSide dst, JobSide src, Walk walk, std::uint32_t depth,
                                                     bool resets) override;
    [[nodiscard]] std::unique_ptr<GraphRunner> make_graph(const GraphShape &shape) override;

private:
    Handle<doca_dma, doca_dma_destroy> dma_;
    Handle<doca_workq, doca_workq_destroy> workq_;
};

/// Makes a graph that runs on @p session, which must outlive it.
[[nodiscard]] std::unique_ptr<GraphRunner> make_job_graph(const GraphShape &shape, DmaJobs &session);

} // namespace opendoca::tools
