// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The parts that the C functions of all types of tasks share. @p type is the member of doca_rdma for the type of tasks.
#pragma once

#include <cstdint>
#include <functional>

#include "../../core/v3/call.hpp"
#include "rdma.hpp"

namespace opendoca::v3 {

inline constexpr std::uint32_t max_num_tasks = 65536; ///< of one type

/// Implements doca_rdma_task_X_set_conf(): sets the callbacks and the number of tasks while the context is idle.
template <typename Type, typename Callback>
doca_error_t set_conf(doca_rdma *rdma, Type doca_rdma::*type, Callback succeeded, Callback failed,
                      std::uint32_t num_tasks)
{
    return call({rdma}, [&] {
        return (rdma->*type).configure(succeeded, failed, num_tasks, max_num_tasks, DOCA_ERROR_BAD_STATE);
    });
}

/// Implements doca_rdma_task_X_allocate_init(): takes a task from the pool of its type and calls @p fill, which sets
/// the fields that the task has. Buffers and connection are not checked here: a submit reports them.
template <typename Type, typename Task, typename Fill>
doca_error_t allocate(doca_rdma *rdma, Type doca_rdma::*type, doca_data user_data, Task **task, Fill fill)
{
    return call({rdma, task}, [&] {
        const doca_error_t status = (rdma->*type).alloc(user_data, *task);
        if (status == DOCA_SUCCESS)
            fill(**task);
        return status;
    });
}

/// Implements doca_rdma_cap_task_X_is_supported(). @p capability is a bool member of RdmaCapabilities, or a function
/// of it.
template <typename Capability>
doca_error_t is_supported(const doca_devinfo *devinfo, Capability capability)
{
    return call({devinfo}, [&] {
        return std::invoke(capability, devinfo->function->can.rdma) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
    });
}

} // namespace opendoca::v3
