// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "../state/device_state.hpp"
#include "topology.hpp"

namespace opendoca::soft {

/// A function of the software topology, as device lists show it. Immutable; shared by the list and by the devices that
/// were opened from it. Makes devices, and answers which representors are behind a port of the DPU.
class SoftFunction final : public DeviceFunction {
public:
    /// @p acts_for_host: the process uses both sides of the PCIe without distinguishing them, so that a port of the DPU
    /// also acts as the first PF of the host behind it, unless it is strict.
    /// @p states: of @p topology, if the list is made with DOCA_SOFT_CONTROL or DOCA_SOFT_FAULTS; else null.
    SoftFunction(const TopologyFunction &description, const Topology &topology, bool acts_for_host,
                 const DeviceStates *states);

    /// Opens a device; one with deliberate faults if DOCA_SOFT_FAULTS is set, and one that changes while programs run
    /// if DOCA_SOFT_CONTROL is. INVALID_VALUE if a variable is malformed, NOT_CONNECTED if the device was removed.
    [[nodiscard]] doca_error_t open(std::unique_ptr<Device> &device) const override;
    /// Returns the functions behind a port of the DPU: those of the host first, then the DPU's SFs. Empty for others.
    [[nodiscard]] std::vector<RepresentorInfo> representors() const override { return representors_; }
    /// Returns why this function lacks @p ability, as a clause for a log message.
    [[nodiscard]] std::string reason_against(Ability ability) const override;
    /// Returns lines for doca_caps: that the function is strict, and that its card is not in DPU mode.
    [[nodiscard]] std::vector<std::string> remarks() const override;
    [[nodiscard]] const char *strict_suffix(StrictRule rule) const noexcept override;
    [[nodiscard]] std::unique_ptr<CompletionOrder> order_of_late(const char *what) const override;

private:
    /// Sets representors_ of a port of the DPU.
    void find_representors(const Topology &topology);

    const bool is_strict_; ///< see docs/strict.md
    const CardMode mode_;
    const DeviceStates *const states_; ///< null unless devices can change
    const std::size_t index_;          ///< in the topology of states_
    std::vector<RepresentorInfo> representors_;
};

} // namespace opendoca::soft
