// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "counter.hpp"

#include "../soft/counter/counter.hpp"

namespace opendoca {

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

} // namespace opendoca
