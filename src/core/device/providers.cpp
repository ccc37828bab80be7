// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../log/log.hpp"
#include "counter.hpp"
#include "device.hpp"
#include "mlx5/provider.hpp"
#include "soft/counter/counter.hpp"
#include "soft/provider.hpp"
#include "verbs/provider.hpp"

OPENDOCA_LOG_SOURCE(DOCA_PROVIDERS);

namespace opendoca {

namespace {

/// Decides whether to list software devices after @p real_ones. By default they are listed only if no real device
/// supports reliable connections, so that a production program does not fall back to software unnoticed.
doca_error_t should_list_soft(const DeviceFunctions &real_ones, bool &is_listed)
{
    const char *const text = std::getenv("DOCA_SOFT");
    const std::string_view value = text != nullptr ? text : "";
    if (value.empty())
        is_listed = std::ranges::none_of(real_ones,
                                         [](const auto &function) { return function->can.rdma.reliable_connection; });
    else if (value == "0" || value == "1")
        is_listed = value == "1";
    else {
        LOG_ERR("DOCA_SOFT is '%s': it can be 1 (list the software devices) or 0 (never)", text);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

} // namespace

bool has_soft_engines() noexcept
{
    const char *const text = std::getenv("DOCA_SOFT_ENGINES");
    return text != nullptr && std::string_view(text) == "1";
}

doca_error_t list_functions(DeviceFunctions &functions)
{
    // Real devices are listed first.
    // mlx5 devices are verbs devices with additions, so one enumeration lists both.
    const verbs::NewFunctions real_ones = verbs::find_functions(mlx5::make_function);
    mlx5::choose_message_ports(real_ones);
    functions.assign(real_ones.begin(), real_ones.end());
    bool soft = false;
    if (const doca_error_t status = should_list_soft(functions, soft); status != DOCA_SUCCESS)
        return status;
    if (soft) {
        if (const doca_error_t status = soft::list_functions(functions); status != DOCA_SUCCESS)
            return status;
    }
    if (functions.empty()) {
        LOG_ERR("this machine has no device that opendoca can use, and %s",
                soft ? "no software device is left by DOCA_SOFT_ROLE, the mode of the card, and removals"
                     : "DOCA_SOFT=0 rules out software devices");
        return DOCA_ERROR_NOT_FOUND;
    }
    return DOCA_SUCCESS;
}

doca_error_t open_from_pd(ibv_pd &pd, std::shared_ptr<const DeviceFunction> &function, std::unique_ptr<Device> &device)
{
    return verbs::open_from_pd(pd, function, device);
}

/// Uses the software device's counter. Other processes can reach such a counter only by an export, which devices of
/// other providers cannot create.
doca_error_t create_local_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter)
{
    auto created = std::make_unique<soft::SoftCounter>();
    const doca_error_t status = created->create(setup);
    if (status == DOCA_SUCCESS)
        counter = std::move(created);
    return status;
}

std::string explain_missing(const std::string &pci_address, bool lists_soft)
{
    return soft::explain_missing(pci_address, lists_soft);
}

} // namespace opendoca
