// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "library.hpp"

#include <optional>
#include <type_traits>

#include <dlfcn.h>

#include "../../log/log.hpp"
#include "../../process/fork.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MLX5_LIBRARY);

namespace opendoca::mlx5 {

namespace {

constexpr const char *file_name = "libmlx5.so.1";

std::optional<Library> load() noexcept
{
    // Never closed: devices may still be open when exit handlers run.
    void *const handle = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        LOG_INFO("mlx5 devices are used as plain RDMA devices: %s", dlerror());
        return {};
    }
    Library library{};
    const char *missing = nullptr;
    // Finds one symbol. An older library may lack some: the name of one is kept for the log message.
    const auto find = [&](auto &function, const char *name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
        if (function == nullptr)
            missing = name;
    };
    find(library.is_supported, "mlx5dv_is_supported");
    find(library.query_device, "mlx5dv_query_device");
    find(library.create_qp, "mlx5dv_create_qp");
    find(library.qp_ex_from_ibv_qp_ex, "mlx5dv_qp_ex_from_ibv_qp_ex");
    find(library.init_obj, "mlx5dv_init_obj");
    find(library.get_clock_info, "mlx5dv_get_clock_info");
    find(library.general_command, "mlx5dv_devx_general_cmd");
    find(library.create_object, "mlx5dv_devx_obj_create");
    find(library.destroy_object, "mlx5dv_devx_obj_destroy");
    find(library.modify_qp, "mlx5dv_devx_qp_modify");
    find(library.register_umem, "mlx5dv_devx_umem_reg");
    find(library.deregister_umem, "mlx5dv_devx_umem_dereg");
    find(library.alloc_uar, "mlx5dv_devx_alloc_uar");
    find(library.free_uar, "mlx5dv_devx_free_uar");
    if (missing != nullptr) {
        LOG_WARN("mlx5 devices are used as plain RDMA devices: %s has no %s", file_name, missing);
        return {};
    }
    return library;
}

constinit ForkSafeMutex loading;
const ForkRegistration loading_registration(loading, LockRank::libraries);
constinit MadeOnce<std::optional<Library>> loaded; // result of the only attempt; empty if it has failed

} // namespace

const Library *load_library() noexcept
{
    const std::optional<Library> &library = loaded.get(loading, load);
    return library ? &*library : nullptr;
}

} // namespace opendoca::mlx5
