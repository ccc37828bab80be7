// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include "../memory/copy_engine.hpp"
#include "fault_plan.hpp"

namespace opendoca::soft {

/// A copy engine with failures by plan. An exporter that has vanished stays so for this engine.
class FaultyCopyEngine final : public SoftCopyEngine {
public:
    FaultyCopyEngine(const SoftDevice &device, CompletionQueue &completions, std::shared_ptr<FaultPlan> plan);

    [[nodiscard]] doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept override;

private:
    [[nodiscard]] bool is_peer_gone(const RemoteMemory *memory) noexcept;

    const std::shared_ptr<FaultPlan> faults_;
    std::vector<std::shared_ptr<ExporterProcess>> vanished_;
};

} // namespace opendoca::soft
