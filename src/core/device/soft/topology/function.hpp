// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "topology.hpp"

namespace opendoca::soft {

/// A function of the software topology, as lists show it.
class SoftFunction final : public DeviceFunction {
public:
    /// @p acts_for_host: the process uses both sides of the PCIe without being aware of them.
    SoftFunction(const TopologyFunction &description, const Topology &topology, bool acts_for_host);

    [[nodiscard]] doca_error_t open(std::unique_ptr<Device> &device) const override;
    [[nodiscard]] std::vector<RepresentorInfo> representors() const override { return representors_; }
    [[nodiscard]] std::string reason_against(Ability ability) const override;

private:
    std::vector<RepresentorInfo> representors_;
};

} // namespace opendoca::soft
