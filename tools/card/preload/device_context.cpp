// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Changes the calls of a device that a program opens. With --calls classic its extended calls (ibv_create_cq_ex(),
// ibv_create_qp_ex(), and with them ibv_start_poll() and ibv_wr_start()) are hidden, which several drivers of rdma-core
// do not have. And the clock of a card's device is read here: a real card maps a register that counts, which no page of
// memory can do.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <time.h>

#include "../wire.hpp"
#include "card_file.hpp"
#include "next.hpp"

using namespace opendoca::card;

namespace {

/// Returns whether the extended calls must be hidden.
bool are_calls_classic()
{
    const char *value = std::getenv(calls_variable);
    return value != nullptr && std::strcmp(value, "classic") == 0;
}

/// Returns the function @p name of @p library, which may have been loaded by dlopen() without RTLD_GLOBAL: the caller
/// found this library's function by other means then. Null if the library is not loaded.
template <typename Function, int Tag>
Function *real_function(const char *library, const char *name)
{
    if (Function *found = next<Function, Tag>(name))
        return found;
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    return handle == nullptr ? nullptr : reinterpret_cast<Function *>(dlsym(handle, name));
}

/// Implements ibv_query_rt_values_ex() as libmlx5 does: the count is the second member of the time. It is the clock by
/// which the card stamps completions.
int read_clock(ibv_context *, ibv_values_ex *values)
{
    constexpr std::uint32_t supported = IBV_VALUES_MASK_RAW_CLOCK;
    if ((values->comp_mask & ~supported) != 0)
        return EOPNOTSUPP;
    if ((values->comp_mask & supported) != 0) {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        values->raw_clock = {0, now.tv_sec * 1'000'000'000 + now.tv_nsec};
    }
    return 0;
}

/// Adapts the calls of a device that was opened. Returns @p context, which may be null.
ibv_context *adapt(ibv_context *context)
{
    verbs_context *const extended = context == nullptr ? nullptr : verbs_get_ctx(context);
    if (extended == nullptr)
        return context;
    if (are_calls_classic()) {
        extended->create_cq_ex = nullptr;
        extended->create_qp_ex = nullptr;
    }
    if (extended->query_rt_values != nullptr && is_uverbs(context->cmd_fd))
        extended->query_rt_values = read_clock;
    return context;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

// The two ways to open a device. Each calls the library's function of the same name.
ibv_context *ibv_open_device(ibv_device *device)
{
    const auto open = real_function<decltype(ibv_open_device), 33>("libibverbs.so.1", "ibv_open_device");
    return open == nullptr ? nullptr : adapt(open(device));
}

ibv_context *mlx5dv_open_device(ibv_device *device, mlx5dv_context_attr *attributes)
{
    const auto open = real_function<decltype(mlx5dv_open_device), 35>("libmlx5.so.1", "mlx5dv_open_device");
    return open == nullptr ? nullptr : adapt(open(device, attributes));
}

} // extern "C"
#pragma GCC visibility pop
