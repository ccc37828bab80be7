// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The table of the uverbs commands: the function that implements each, and its name for faults and the log.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "command.hpp"

namespace opendoca::card {

namespace {

/// One command of either interface: an entry of a constant table. Several entries may share a name, and a fault that
/// names it applies to all of them.
struct TableEntry {
    std::uint32_t key; ///< object and method (Command::method_key), or number of a write() command
    const char *name;
    int (*run)(Command &command);
    bool works_on_dead_device; ///< true for commands that free something: they succeed after a device fatal event, too
};

/// Returns the key of a method, as Command::method() does.
constexpr std::uint32_t key(unsigned object, unsigned method)
{
    return Command::method_key(object, method);
}

// Methods of the ioctl interface; objects and methods are numbered by the kernel's headers. Commands that are missing
// here exist on the older interface, or are not modelled.
constexpr TableEntry methods[] = {
    {key(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT), "get_context", get_context, false},
    {key(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT), "query_context", query_context, false},
    {key(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT), "query_port", query_port, false},
    {key(UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT), "query_mlx5_port", query_mlx5_port, false},
    {key(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY), "query_gid_entry", query_gid_entry, false},
    {key(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE), "query_gid_table", query_gid_table, false},
    {key(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC), "create_event_file", create_event_file, false},
    {key(UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY), "dealloc_pd", destroy_pd, true},
    {key(UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY), "query_pd", query_pd, false},
    {key(UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY), "destroy_ah", destroy_ah, true},
    {key(UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY), "close_xrcd", close_xrcd, true},
    {key(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE), "create_cq", create_cq, false},
    {key(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY), "destroy_cq", destroy_cq, true},
    {key(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE), "create_qp", create_qp, false},
    {key(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY), "destroy_qp", destroy_qp, true},
    {key(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE), "create_srq", create_srq, false},
    {key(UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY), "destroy_srq", destroy_srq, true},
    {key(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY), "dereg_mr", dereg_mr, true},
    {key(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR), "query_mr", query_mr, false},
    {key(UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR), "advise_mr", advise_mr, false},
    {key(UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY), "dealloc_mw", dealloc_mw, true},
    {key(UVERBS_OBJECT_MR, UVERBS_METHOD_DM_MR_REG), "reg_dm_mr", reg_dm_mr, false},
    {key(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC), "alloc_dm", alloc_dm, false},
    {key(UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE), "free_dm", free_dm, true},
    {key(UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY), "query_dm", query_dm, false},
    {key(UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_MAP_OP_ADDR), "map_dm_operation", map_dm_operation, false},
    {key(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER), "devx_general", devx_general, false},
    {key(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN), "devx_query_eqn", devx_query_eqn, false},
    {key(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR), "devx_query_uar", devx_query_uar, false},
    {key(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT), "devx_subscribe", subscribe_devx_events, false},
    {key(MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC), "create_devx_channel",
     create_devx_channel, false},
    {key(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE), "devx_create", devx_create, false},
    {key(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY), "devx_destroy", devx_destroy, true},
    {key(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY), "devx_modify", devx_modify, false},
    {key(MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY), "devx_query", devx_query, false},
    {key(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG), "reg_umem", register_user_memory, false},
    {key(MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG), "dereg_umem", deregister_user_memory, true},
    {key(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC), "alloc_uar", alloc_uar, false},
    {key(MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY), "dealloc_uar", destroy_uar, true},
};

constexpr std::uint32_t extended(unsigned command)
{
    return IB_USER_VERBS_CMD_FLAG_EXTENDED | command;
}

// Commands of the older write() interface. libibverbs wraps them into the ioctl UVERBS_METHOD_INVOKE_WRITE.
constexpr TableEntry write_commands[] = {
    {IB_USER_VERBS_CMD_QUERY_DEVICE, "query_device", query_device, false},
    {extended(IB_USER_VERBS_EX_CMD_QUERY_DEVICE), "query_device", query_device_ex, false},
    {IB_USER_VERBS_CMD_ALLOC_PD, "alloc_pd", alloc_pd, false},
    {IB_USER_VERBS_CMD_OPEN_XRCD, "open_xrcd", open_xrcd, false},
    {IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, "create_channel", create_channel, false},
    {IB_USER_VERBS_CMD_REG_MR, "reg_mr", reg_mr, false},
    {IB_USER_VERBS_CMD_REREG_MR, "rereg_mr", rereg_mr, false},
    {IB_USER_VERBS_CMD_ALLOC_MW, "alloc_mw", alloc_mw, false},
    {IB_USER_VERBS_CMD_CREATE_AH, "create_ah", create_ah, false},
    {IB_USER_VERBS_CMD_RESIZE_CQ, "resize_cq", resize_cq, false},
    {IB_USER_VERBS_CMD_MODIFY_QP, "modify_qp", modify_qp, false},
    {extended(IB_USER_VERBS_EX_CMD_MODIFY_QP), "modify_qp", modify_qp_ex, false},
    {IB_USER_VERBS_CMD_QUERY_QP, "query_qp", query_qp, false},
    {IB_USER_VERBS_CMD_MODIFY_SRQ, "modify_srq", modify_srq, false},
    {IB_USER_VERBS_CMD_QUERY_SRQ, "query_srq", query_srq, false},
};

/// Applies what all commands have in common (log, dead device, requested faults), then runs the command.
int run_entry(Command &command, const TableEntry &entry)
{
    if (command.file.card.is_verbose)
        std::fprintf(stderr, "process %d: %s\n", command.process->pid(), entry.name);
    if (command.file.function.is_dead && !entry.works_on_dead_device)
        return EIO;
    if (const auto fault = command.file.card.faults.take_command_fault(entry.name))
        return static_cast<int>(*fault);
    return entry.run(command);
}

} // namespace

int run_command(Command &command)
{
    if (const int error = command.load())
        return error;
    if (command.method() == key(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE)) {
        const auto found = std::ranges::find(write_commands, command.number32(UVERBS_ATTR_WRITE_CMD), &TableEntry::key);
        return found == std::ranges::end(write_commands) ? EOPNOTSUPP : run_entry(command, *found);
    }
    const auto found = std::ranges::find(methods, command.method(), &TableEntry::key);
    if (found != std::ranges::end(methods))
        return run_entry(command, *found);
    // libibverbs falls back to write() upon EPROTONOSUPPORT. This method has no equivalent there, so it gets
    // EOPNOTSUPP.
    return command.method() == key(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR) ? EOPNOTSUPP : EPROTONOSUPPORT;
}

bool is_command_name(std::string_view name)
{
    const auto has_name = [&](const TableEntry &entry) { return entry.name == name; };
    return std::ranges::any_of(methods, has_name) || std::ranges::any_of(write_commands, has_name);
}

} // namespace opendoca::card
