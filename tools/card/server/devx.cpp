// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "devx.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <vector>

#include <rdma/mlx5_user_ioctl_cmds.h>

#include "command.hpp"
#include "limits.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t header_bytes = 16; // size of the output of most commands

constexpr FieldRule mkey_rules[] = {
    {prm::mkey::mode_high + prm::mkey::at, 0, 0}, // other modes are device memory and keys that cross functions
    {prm::mkey::mode_low + prm::mkey::at, prm::mkey::mode_mtt, prm::mkey::mode_ksm},
};
constexpr FieldRule cq_rules[] = {
    {prm::create_cq::entry_size, 0, 1},
    {prm::create_cq::log_size, 0, 22},
};
constexpr FieldRule qp_rules[] = {
    {prm::qpc::service, prm::qpc::service_rc, prm::qpc::service_rc},
    {prm::qpc::log_receive_stride, 0, 5},
};
constexpr FieldRule rmp_rules[] = {
    {prm::rmp::state, prm::rmp::state_ready, prm::rmp::state_ready},
    {prm::rmp::has_bare_entries, 0, 0}, // entries without the link to the next one
    {prm::rmp::type, prm::rmp::type_list, prm::rmp::type_cyclic},
    {prm::rmp::log_stride, 5, max_receive_log_stride},
    {prm::rmp::log_size, 0, std::bit_width(max_srq_entries) - 1},
};
constexpr FieldRule allow_rules[] = {
    {prm::allow_other_vhca_access::object_type, prm::general_object::type_mkey, prm::general_object::type_mkey},
};

// The opcodes are from the headers that prm.hpp names. Sizes are in bytes; the quotients are of positions in bits.
constexpr CommandLayout commands[] = {
    {0x100, "QUERY_HCA_CAP", Method::general, 16, header_bytes, {}, prm_query_hca_cap},
    {0x740, "QUERY_ESW_FUNCTIONS", Method::general, 16, 80, {}, prm_query_esw_functions},
    {0xb16, "ALLOW_OTHER_VHCA_ACCESS", Method::general, 64, header_bytes, allow_rules, prm_allow_other_vhca_access},
    {0xb22, "QUERY_VUID", Method::general, 16, 64, {}, prm_query_vuid},
    {0x762, "QUERY_HCA_VPORT_CONTEXT", Method::general, 16, 0x3a0 / 8, {}, prm_query_hca_vport_context},
    {0x754, "QUERY_NIC_VPORT_CONTEXT", Method::general, 16, header_bytes, {}, prm_return_zeros},
    {0x805, "ACCESS_REGISTER", Method::general, 16, header_bytes, {}, prm_return_zeros},
    {0x752, "QUERY_ESW_VPORT_CONTEXT", Method::general, 16, header_bytes, {}, prm_return_zeros},
    {0x842, "QUERY_LAG", Method::general, 16, header_bytes, {}, prm_return_zeros},
    {0x200, "CREATE_MKEY", Method::create, 0x880 / 8, header_bytes, mkey_rules, prm_create_mkey},
    {0xa00, "CREATE_GENERAL_OBJECT", Method::create, 16, header_bytes, {}, prm_create_general_object},
    {0x400, "CREATE_CQ", Method::create, 0x880 / 8, header_bytes, cq_rules, prm_create_cq},
    {0x500, "CREATE_QP", Method::create, 0x880 / 8, header_bytes, qp_rules, prm_create_qp},
    {0x90c, "CREATE_RMP", Method::create, prm::rmp::at / 8 + prm::rmp::bytes, header_bytes, rmp_rules, prm_create_rmp},
    {0x90d, "MODIFY_RMP", Method::modify, prm::rmp::at / 8 + prm::rmp::bytes, header_bytes, {}, prm_modify_rmp},
    {0x50b, "QUERY_QP", Method::query, 16, prm::qpc::at / 8 + prm::qpc::bytes, {}, prm_query_qp},
    {0x502, "RST2INIT_QP", Method::modify, 0x7c0 / 8, header_bytes, {}, prm_change_qp_state},
    {0x503, "INIT2RTR_QP", Method::modify, 0x7c0 / 8, header_bytes, {}, prm_change_qp_state},
    {0x504, "RTR2RTS_QP", Method::modify, 0x7c0 / 8, header_bytes, {}, prm_change_qp_state},
    {0x507, "2ERR_QP", Method::modify, 16, header_bytes, {}, prm_change_qp_state},
    {0x50a, "2RST_QP", Method::modify, 16, header_bytes, {}, prm_change_qp_state},
    {0x505, "RTS2RTS_QP", Method::modify, 0x7c0 / 8, header_bytes, {}, prm_change_qp},
    {0x50e, "INIT2INIT_QP", Method::modify, 0x7c0 / 8, header_bytes, {}, prm_change_qp},
};

/// Copies the mailboxes, runs the command and stores its output. Returns an errno, or 0, and the created object in
/// `created`.
int run(Command &command, unsigned in_id, unsigned out_id, Method method, Object **created = nullptr)
{
    constexpr std::size_t min_mailbox = 8; // opcode of the input; status and syndrome of the output
    const std::size_t in_size = command.length(in_id), out_size = command.length(out_id);
    if (in_size < min_mailbox || out_size < min_mailbox)
        return EINVAL;
    std::vector<std::uint8_t> in(in_size), out(out_size);
    if (!command.get(in_id, in.data(), in.size()))
        return EFAULT;
    Mailbox mailbox{command.file, command.process, in, out};
    const bool is_done = run_prm_command(mailbox, method);
    if (mailbox.is_pending)
        return command_pending;
    int error = command.put(out_id, out.data(), out.size());
    if (!is_done)
        return EREMOTEIO; // the output has the status and the syndrome
    // Without the output a program cannot name the object, so nothing would ever free it.
    if (error != 0 && mailbox.created != nullptr)
        command.file.card.objects.destroy(*mailbox.created);
    if (created != nullptr)
        *created = mailbox.created;
    return error;
}

} // namespace

bool run_prm_command(Mailbox &mailbox, Method method)
{
    const auto opcode = static_cast<std::uint16_t>(mailbox.get(prm::opcode));
    // Stores the status, and a syndrome with the opcode in its upper half.
    const auto refuse = [&](prm::Status status, std::uint32_t detail) {
        mailbox.set(prm::status, static_cast<std::uint64_t>(status));
        mailbox.set(prm::syndrome, static_cast<std::uint32_t>(opcode) << 16 | detail);
        if (mailbox.card().is_verbose)
            std::fprintf(stderr, "command %#x refused: status %#x, syndrome %#x\n", opcode,
                         static_cast<unsigned>(status), static_cast<std::uint32_t>(opcode) << 16 | detail);
        return false;
    };
    const auto layout = std::ranges::find(commands, opcode, &CommandLayout::opcode);
    if (layout == std::ranges::end(commands) || layout->method != method)
        return refuse(prm::Status::bad_operation, prm::opcode.bit);
    if (const auto fault = mailbox.card().faults.take_command_fault(layout->name))
        return refuse(static_cast<prm::Status>(*fault), 0xffff);
    if (mailbox.in.size() < layout->min_in)
        return refuse(prm::Status::bad_input_length, static_cast<std::uint32_t>(layout->min_in));
    if (mailbox.out.size() < layout->min_out)
        return refuse(prm::Status::bad_output_length, static_cast<std::uint32_t>(layout->min_out));
    for (const FieldRule &rule : layout->rules) {
        const std::uint64_t value = mailbox.get(rule.field);
        if (value < rule.min || value > rule.max)
            return refuse(prm::Status::bad_parameter, rule.field.bit);
    }
    const prm::Status status = layout->run(mailbox);
    if (mailbox.is_pending)
        return false;
    return status == prm::Status::ok || refuse(status, static_cast<std::uint32_t>(status));
}

bool is_prm_command_name(std::string_view name)
{
    return std::ranges::find(commands, name, &CommandLayout::name) != std::ranges::end(commands);
}

prm::Status prm_return_zeros(Mailbox &)
{
    return prm::Status::ok;
}

int devx_general(Command &command)
{
    return run(command, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, Method::general);
}

int devx_query_eqn(Command &command)
{
    // The number has no effect: the card has no event queues in memory.
    constexpr std::uint32_t event_queue = 8;
    return command.put(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, event_queue);
}

int devx_query_uar(Command &command)
{
    // UAR indices of the user and of the device are the same.
    return command.put(MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, command.number32(MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX));
}

/// Wraps what the command created into an object that DEVX can name by a handle.
int devx_create(Command &command)
{
    Object *created = nullptr;
    if (const int error = run(command, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT,
                              Method::create, &created))
        return error;
    ObjectTable &objects = command.file.card.objects;
    auto *object = objects.create<DevxObject>(command.file);
    if (object == nullptr) {
        objects.destroy(*created);
        return ENOMEM;
    }
    created->is_created_by_devx = true;
    object->created = created;
    const int error = command.put_handle(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, *object);
    if (error != 0)
        objects.destroy(*created);
    return error;
}

int devx_destroy(Command &command)
{
    auto *object = command.object<DevxObject>(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE);
    if (object == nullptr)
        return EINVAL;
    // For example a completion queue that is used by a queue pair.
    if (object->created->users != 0)
        return EBUSY;
    ObjectTable &objects = command.file.card.objects;
    command.file.subscriptions.remove(*object->created);
    objects.destroy(*object->created);
    objects.destroy(*object);
    command.file.card.request_polls();
    return 0;
}

int devx_modify(Command &command)
{
    return run(command, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, Method::modify);
}

int devx_query(Command &command)
{
    return run(command, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, Method::query);
}

} // namespace opendoca::card
