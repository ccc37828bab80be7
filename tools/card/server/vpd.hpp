// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

#include "profile.hpp"

namespace opendoca::card {

/// Returns a PCI function's vital product data: part number, serial number, and the VUID under the keyword VU.
std::string vital_product_data(const Profile &profile, const std::string &vuid);

} // namespace opendoca::card
