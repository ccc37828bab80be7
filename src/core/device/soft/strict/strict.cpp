// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "strict.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "../../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_STRICT_MODE);

namespace opendoca::soft {

namespace {

constexpr std::uint32_t max_list_length = 64;         ///< the most segments that logs of cards print
constexpr std::uint32_t max_shared_receives = 32'767; ///< max_srq_wr of ConnectX cards

} // namespace

doca_error_t read_strict_mode(bool &is_strict)
{
    const char *const text = std::getenv("DOCA_SOFT_STRICT");
    const std::string_view value = text != nullptr && *text != '\0' ? text : "0";
    if (value != "0" && value != "1") {
        LOG_ERR("DOCA_SOFT_STRICT is '%s': it can be 0 or 1", text);
        return DOCA_ERROR_INVALID_VALUE;
    }
    is_strict = value == "1";
    return DOCA_SUCCESS;
}

doca_error_t read_strict_seed(std::uint64_t &seed)
{
    const char *const text = std::getenv("DOCA_SOFT_STRICT_SEED");
    const std::string_view value = text != nullptr && *text != '\0' ? text : "1";
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size()) {
        LOG_ERR("DOCA_SOFT_STRICT_SEED is '%s': it is a number of up to 64 bits", text);
        return DOCA_ERROR_INVALID_VALUE;
    }
    seed = number;
    return DOCA_SUCCESS;
}

/// Lists of RDMA are not mentioned: the software device takes no longer ones than a card.
void apply_strict_limits(Capabilities &can) noexcept
{
    can.dma_max_list_elements = std::min(can.dma_max_list_elements, max_list_length);
    can.sha_max_list_elements = std::min(can.sha_max_list_elements, max_list_length);
}

doca_error_t check_strict_receives(std::uint32_t size, const DeviceFunction &function)
{
    if (size <= max_shared_receives)
        return DOCA_SUCCESS;
    LOG_ERR("creating a queue of %u shared receives on device %s: at most %u are possible (strict: max-receives)", size,
            function.description().c_str(), max_shared_receives);
    return DOCA_ERROR_DRIVER;
}

const char *suffix_of(StrictRule rule) noexcept
{
    switch (rule) {
    case StrictRule::max_list_length:
        return " (strict: max-list-length)";
    case StrictRule::dpu_port_is_no_host:
        return " (strict: dpu-port-is-no-host)";
    case StrictRule::late_destination:
        return " (strict: late-destination)";
    case StrictRule::ended_process:
        return " (strict: ended-process)";
    }
    return "";
}

} // namespace opendoca::soft
