// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace opendoca {

/// Returns the normal form "dddd:bb:dd.f", in lower case, of a PCI address in its long or short ("bb:dd.f") form;
/// nothing if @p text is neither. Throws std::bad_alloc.
[[nodiscard]] std::optional<std::string> normalize_pci_address(std::string_view text);

} // namespace opendoca
