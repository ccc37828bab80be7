// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include "../memory/copy_engine.hpp"
#include "device_life.hpp"
#include "fault_plan.hpp"

namespace opendoca::soft {

/// A copy engine with planned faults, which a reset of its device ends. An exporter that has seemed to end stays so for
/// this engine. Used by the thread of its completion queue. Has no fast path, so that every copy consults the plan.
class FaultyCopyEngine final : public SoftCopyEngine {
public:
    FaultyCopyEngine(const SoftDevice &device, CompletionQueue &completions, FunctionState &function,
                     std::shared_ptr<FaultPlan> plan);

    [[nodiscard]] doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept override;
    void progress() noexcept override;

private:
    /// Returns whether the process of @p memory seems to have ended. Null stands for memory of this process.
    [[nodiscard]] bool has_peer_ended(const RemoteMemory *memory) noexcept;

    const std::shared_ptr<FaultPlan> faults_;
    DeviceLife life_;
    /// Exporters that seem to have ended; has a fixed capacity, so that copies allocate nothing.
    std::vector<std::shared_ptr<ExporterProcess>> ended_exporters_;
};

} // namespace opendoca::soft
