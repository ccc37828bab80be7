// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <infiniband/mlx5dv.h>

namespace opendoca::mlx5 {

/// The functions of libmlx5 that are used. The library is loaded when the first device is found that may be an mlx5
/// device; libibverbs has loaded it by then. No program is therefore linked to it, and everything else works without
/// it. All members are set, or the library counts as not available.
struct Library {
    decltype(&mlx5dv_is_supported) is_supported;
    decltype(&mlx5dv_query_device) query_device;
    decltype(&mlx5dv_create_qp) create_qp;
    decltype(&mlx5dv_qp_ex_from_ibv_qp_ex) qp_ex_from_ibv_qp_ex;
    decltype(&mlx5dv_init_obj) init_obj;
    decltype(&mlx5dv_get_clock_info) get_clock_info;
    decltype(&mlx5dv_devx_general_cmd) general_command;
    decltype(&mlx5dv_devx_obj_create) create_object;
    decltype(&mlx5dv_devx_obj_destroy) destroy_object;
    decltype(&mlx5dv_devx_qp_modify) modify_qp;
    decltype(&mlx5dv_devx_umem_reg) register_umem;
    decltype(&mlx5dv_devx_umem_dereg) deregister_umem;
    decltype(&mlx5dv_devx_alloc_uar) alloc_uar;
    decltype(&mlx5dv_devx_free_uar) free_uar;
};

/// Loads the library on the first call. Returns null, with the reason logged once, if it cannot be loaded. Thread-safe.
[[nodiscard]] const Library *load_library() noexcept;

} // namespace opendoca::mlx5
