// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// DMA by tasks of DOCA 3.0: what dma_session.hpp leaves to the generation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "../dma_session.hpp"
#include "task_engine.hpp"

namespace opendoca::tools {

/// A running DMA context on a progress engine of its own. Used by one thread at a time. Loops free their tasks before
/// the destructor stops the context.
class DmaTasks final : public DmaSession {
public:
    DmaTasks(const std::string &ibdev, std::uint32_t depth);
    ~DmaTasks() override;

    [[nodiscard]] std::unique_ptr<Variant> make_loop(JobSide dst, JobSide src, Walk walk, std::uint32_t depth,
                                                     bool resets) override;
    [[nodiscard]] std::unique_ptr<GraphRunner> make_graph(const GraphShape &shape) override;

    [[nodiscard]] doca_dma *dma() const noexcept { return dma_.get(); }
    [[nodiscard]] TaskEngine &engine() noexcept { return engine_; }
    [[nodiscard]] const TaskEngine &engine() const noexcept { return engine_; }

private:
    TaskEngine engine_;
    Handle<doca_dma, doca_dma_destroy> dma_; // destroyed before the engine on which it runs
};

/// Makes a graph that runs on @p session, which must outlive it.
[[nodiscard]] std::unique_ptr<GraphRunner> make_task_graph(const GraphShape &shape, DmaTasks &session);

} // namespace opendoca::tools
