// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include "../../base/memory_range.hpp"
#include "../user_access.hpp"

namespace opendoca::mlx5 {

class Mlx5Device;

/// Create the objects by DEVX: a UMEM by mlx5dv_devx_umem_reg(), a UAR by mlx5dv_devx_alloc_uar(). @p device must
/// outlive them.
[[nodiscard]] doca_error_t create_user_memory(const Mlx5Device &device, const MemoryRange &range, std::uint32_t access,
                                              std::unique_ptr<UserMemory> &memory);
[[nodiscard]] doca_error_t create_doorbell_page(const Mlx5Device &device, DoorbellAccess access,
                                                std::unique_ptr<DoorbellPage> &page);

} // namespace opendoca::mlx5
