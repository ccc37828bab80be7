// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Commands about the device (attributes, port, GIDs), and about the objects that consist of a handle only.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <unistd.h>

#include "big_endian.hpp"
#include "command.hpp"
#include "limits.hpp"

namespace opendoca::card {

namespace {

/// Returns the limits and features that libmlx5 gets when it opens the device.
mlx5_ib_alloc_ucontext_resp user_context()
{
    mlx5_ib_alloc_ucontext_resp context{};
    context.qp_tab_size = 1 << 17;
    context.bf_reg_size = 512; // bytes of a BlueFlame register; 0 would put all queues on one UAR
    context.tot_bfregs = 0;    // UARs are allocated as objects instead
    context.cache_line_size = 64;
    context.max_sq_desc_sz = 1024; // bytes of the longest work request
    context.max_rq_desc_sz = 1u << max_receive_log_stride;
    context.max_send_wqebb = max_send_slots;
    context.max_recv_wr = max_receive_entries;
    context.max_srq_recv_wr = max_srq_entries - 1;
    context.num_ports = 1;
    context.response_length = sizeof(context);
    context.cqe_version = 1; // completions carry the user index of their queue pair
    // Without CREATE_AH, libmlx5 would resolve MAC addresses by netlink, at the kernel's interfaces.
    context.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
    context.eth_min_inline = MLX5_USER_INLINE_MODE_NONE; // packet headers need not be inline
    context.clock_info_versions = 1 << MLX5_IB_CLOCK_INFO_V1;
    context.log_uar_size = 12; // 4 KiB, on machines with larger pages as well
    context.num_uars_per_page = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE)) >> context.log_uar_size;
    context.num_dyn_bfregs = 512;
    return context;
}

/// Fills in the attributes of the device.
void describe(const OpenFile &file, ib_uverbs_query_device_resp &device)
{
    const Profile &profile = file.card.profile;
    device = {};
    device.fw_ver = static_cast<std::uint64_t>(profile.firmware_major) << 32 |
                    static_cast<std::uint64_t>(profile.firmware_minor) << 16 | profile.firmware_patch;
    device.node_guid = swap_on_little_endian(file.card.guid_of(file.function.profile));
    device.sys_image_guid = swap_on_little_endian(file.card.guid);
    device.max_mr_size = ~0ull;
    device.page_size_cap = 0xfffffffffffff000;
    device.vendor_id = 0x02c9; // IEEE company id, not the PCI vendor
    device.vendor_part_id = profile.pci_device;
    device.max_qp = 1 << 17;
    device.max_qp_wr = max_send_slots;
    // The limits are those of a real card; one file may have OpenFile::max_objects objects of all types together.
    device.device_cap_flags = device_capability_flags;
    device.max_sge = 30;
    device.max_sge_rd = 30;
    device.max_cq = 1 << 20;
    device.max_cqe = max_completions - 1;
    device.max_mr = 1 << 20;
    device.max_pd = 1 << 20;
    device.max_qp_rd_atom = max_reads_in_flight;
    device.max_res_rd_atom = device.max_qp * device.max_qp_rd_atom;
    device.max_qp_init_rd_atom = max_reads_in_flight;
    device.atomic_cap = 1; // IBV_ATOMIC_HCA: atomic among the card's own accesses
    device.max_mw = 1 << 20;
    device.max_ah = 2147483647;
    device.max_srq = 1 << 16;
    device.max_srq_wr = max_srq_entries - 1;
    device.max_srq_sge = max_srq_sges;
    device.max_pkeys = 128;
    device.local_ca_ack_delay = 16; // code: 4.096 us << 16
    device.phys_port_cnt = 1;
}

/// Builds an entry of the GID table.
ib_uverbs_gid_entry entry_of(const Function &function, std::size_t index)
{
    const Gid &gid = function.profile.gids[index];
    ib_uverbs_gid_entry entry{};
    std::memcpy(entry.gid, gid.raw.data(), gid.raw.size());
    entry.gid_index = static_cast<std::uint32_t>(index);
    entry.port_num = port_number;
    entry.gid_type = gid.type;
    entry.netdev_ifindex = gid.type == 0 ? 0 : 1; // the loopback interface
    return entry;
}

/// Destroys an object that has no state on the card, unless another object uses it. Returns an errno, or 0.
template <typename T>
int destroy_plain(Command &command, unsigned id)
{
    T *object = command.object<T>(id);
    if (object == nullptr)
        return EINVAL;
    if (object->users != 0)
        return EBUSY;
    command.file.card.objects.destroy(*object);
    return 0;
}

} // namespace

int get_context(Command &command)
{
    command.put(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, completion_vectors);
    command.put(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, std::uint64_t{IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS});
    return command.put(UVERBS_ATTR_UHW_OUT, user_context());
}

/// As get_context(), for a file that the program has imported: it exists already.
int query_context(Command &command)
{
    command.put(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, completion_vectors);
    command.put(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, std::uint64_t{IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS});
    return command.put(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, user_context());
}

int query_port(Command &command)
{
    // Values of ibv_port_state, of the physical port state of the InfiniBand specification, and of ibv_mtu.
    constexpr std::uint8_t mtu_4096 = 5, infiniband = 1, ethernet = 2;
    if (command.number(UVERBS_ATTR_QUERY_PORT_PORT_NUM) != port_number)
        return EINVAL;
    const Function &function = command.file.function;
    const Profile &profile = command.file.card.profile;
    ib_uverbs_query_port_resp_ex port{};
    const PortState state = port_state(function.is_port_up);
    port.legacy_resp.port_cap_flags = port_capability_flags(profile.is_ethernet);
    port.legacy_resp.max_msg_sz = max_message_bytes;
    port.legacy_resp.gid_tbl_len = static_cast<std::int32_t>(function.profile.gids.size());
    port.legacy_resp.pkey_tbl_len = profile.pkeys();
    port.legacy_resp.lid = function.profile.lid;
    port.legacy_resp.sm_lid = profile.is_ethernet ? 0 : 1;
    port.legacy_resp.state = state.logical;
    port.legacy_resp.max_mtu = mtu_4096;
    port.legacy_resp.active_mtu = function.profile.active_mtu;
    port.legacy_resp.max_vl_num = 1;
    port.legacy_resp.active_width = profile.active_width;
    port.legacy_resp.active_speed = profile.active_speed;
    port.legacy_resp.phys_state = state.physical;
    port.legacy_resp.link_layer = profile.is_ethernet ? ethernet : infiniband;
    port.legacy_resp.flags = profile.is_ethernet ? 1 : 0; // a GRH is required
    return command.put(UVERBS_ATTR_QUERY_PORT_RESP, port);
}

int query_mlx5_port(Command &command)
{
    if (command.number(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM) != port_number)
        return EINVAL;
    const FunctionProfile &function = command.file.function.profile;
    mlx5_ib_uapi_query_port port{};
    port.flags = MLX5_IB_UAPI_QUERY_PORT_VPORT | MLX5_IB_UAPI_QUERY_PORT_VPORT_VHCA_ID;
    port.vport = function.vport;
    port.vport_vhca_id = function.vhca_id;
    // On the DPU's side all functions belong to the e-switch of the embedded function.
    for (const Function &other : command.file.card.functions) {
        if (other.profile.kind == FunctionKind::embedded && function.side == Side::dpu) {
            port.flags |= MLX5_IB_UAPI_QUERY_PORT_ESW_OWNER_VHCA_ID;
            port.esw_owner_vhca_id = other.profile.vhca_id;
        }
    }
    return command.put(MLX5_IB_ATTR_QUERY_PORT, port);
}

int query_gid_entry(Command &command)
{
    const Function &function = command.file.function;
    const std::uint64_t index = command.number32(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX);
    if (command.number32(UVERBS_ATTR_QUERY_GID_ENTRY_PORT) != port_number || index >= function.profile.gids.size())
        return EINVAL;
    // As the kernel reports an unset entry of the table.
    if (!function.profile.gids[index].is_set())
        return ENODATA;
    return command.put(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, entry_of(function, index));
}

int query_gid_table(Command &command)
{
    const Function &function = command.file.function;
    const std::uint64_t size = command.number(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
    if (size == 0 || !command.has(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES))
        return EINVAL;
    // The program gives the size of its entries, which may differ from the card's. Unset GIDs are left out.
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < function.profile.gids.size(); ++i) {
        if (!function.profile.gids[i].is_set())
            continue;
        const ib_uverbs_gid_entry entry = entry_of(function, i);
        if (size > command.length(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES))
            return EINVAL;
        if (const int error = command.put_part(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, count * size, &entry,
                                               std::min<std::size_t>(size, sizeof(entry))))
            return error;
        ++count;
    }
    return command.put_number(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, count);
}

int query_device(Command &command)
{
    // libibverbs sends an empty request to find out whether this interface exists.
    if (!command.has(UVERBS_ATTR_CORE_IN))
        return ENOSPC;
    ib_uverbs_query_device_resp device;
    describe(command.file, device);
    return command.put(UVERBS_ATTR_CORE_OUT, device);
}

int query_device_ex(Command &command)
{
    ib_uverbs_ex_query_device_resp device{};
    describe(command.file, device.base);
    device.response_length = static_cast<std::uint32_t>(std::min(command.length(UVERBS_ATTR_CORE_OUT), sizeof(device)));
    device.timestamp_mask = timestamp_mask;
    device.hca_core_clock = 1'000'000; // in kHz: one tick of now_ns() is a nanosecond
    device.device_cap_flags_ex = device.base.device_cap_flags;
    // On-demand paging, as in ibv_odp_general_caps and ibv_odp_transport_cap_bits.
    constexpr std::uint64_t of_ranges = 1, of_the_whole_space = 2;
    constexpr std::uint32_t send = 1, receive = 2, write = 4, read = 8, atomic = 16, shared_receive = 32;
    device.odp_caps.general_caps =
        of_ranges | (command.file.card.profile.has_implicit_regions ? of_the_whole_space : 0);
    device.odp_caps.per_transport_caps.rc_odp_caps = send | receive | write | read | atomic | shared_receive;
    device.odp_caps.per_transport_caps.uc_odp_caps = send | receive | write;
    device.odp_caps.per_transport_caps.ud_odp_caps = send | receive | shared_receive;
    device.max_dm_size = max_device_memory;
    device.xrc_odp_caps = send | receive | write | read | atomic | shared_receive;
    // The driver's part reports no further features: libmlx5 takes zeros as "not supported".
    mlx5_ib_query_device_resp more{};
    more.response_length = sizeof(more);
    command.put(UVERBS_ATTR_UHW_OUT, more);
    return command.put(UVERBS_ATTR_CORE_OUT, device);
}

int create_event_file(Command &command)
{
    UniqueFd program_end;
    std::shared_ptr<EventPipe> events = EventPipe::create(program_end);
    if (events == nullptr)
        return EMFILE;
    const int error = command.put_descriptor(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, std::move(program_end));
    if (error == 0)
        command.file.events = std::move(events);
    return error;
}

int create_channel(Command &command)
{
    // Drops the channels that neither the program nor a completion queue holds any more.
    std::erase_if(command.file.channels,
                  [](const auto &channel) { return channel.use_count() == 1 && channel->is_closed_by_program(); });
    UniqueFd program_end;
    std::shared_ptr<EventPipe> channel =
        command.file.channels.size() < OpenFile::max_pipes ? EventPipe::create(program_end) : nullptr;
    if (channel == nullptr)
        return EMFILE;
    const int error = command.put_descriptor_indirect(UVERBS_ATTR_CORE_OUT, std::move(program_end));
    if (error == 0)
        command.file.channels.push_back(std::move(channel));
    return error;
}

int alloc_pd(Command &command)
{
    auto *pd = command.file.card.objects.create<ProtectionDomain>(command.file);
    if (pd == nullptr)
        return ENOMEM;
    ib_uverbs_alloc_pd_resp response{};
    response.pd_handle = pd->handle;
    const mlx5_ib_alloc_pd_resp more{pd->number()}; // for DEVX commands, which name the domain by its number
    command.put(UVERBS_ATTR_UHW_OUT, more);
    const int error = command.put(UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    if (error != 0)
        command.file.card.objects.destroy(*pd);
    return error;
}

int query_pd(Command &command)
{
    const auto *pd = command.object<ProtectionDomain>(MLX5_IB_ATTR_QUERY_PD_HANDLE);
    return pd == nullptr ? EINVAL : command.put(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, pd->number());
}

int destroy_pd(Command &command)
{
    return destroy_plain<ProtectionDomain>(command, UVERBS_ATTR_DESTROY_PD_HANDLE);
}

int create_ah(Command &command)
{
    ib_uverbs_create_ah request;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)))
        return EINVAL;
    auto *pd = command.object_of<ProtectionDomain>(request.pd_handle);
    const Function &function = command.file.function;
    if (pd == nullptr || request.attr.port_num != port_number ||
        (command.file.card.profile.is_ethernet && request.attr.is_global == 0))
        return EINVAL;
    // The address itself is not checked: libmlx5 writes it into requests, and a wrong one reaches no port.
    if (request.attr.is_global != 0) {
        if (request.attr.grh.sgid_index >= function.profile.gids.size())
            return EINVAL;
        if (!function.profile.gids[request.attr.grh.sgid_index].is_set())
            return ENODATA;
    }
    auto *handle = command.file.card.objects.create<AddressHandle>(command.file);
    if (handle == nullptr)
        return ENOMEM;
    handle->pd = Use(pd);
    ib_uverbs_create_ah_resp response{};
    response.ah_handle = handle->handle;
    mlx5_ib_create_ah_resp more{};
    more.response_length = sizeof(more);
    // A locally administered address, which libmlx5 copies to requests and the card ignores.
    more.dmac[0] = 2;
    command.put(UVERBS_ATTR_UHW_OUT, more);
    const int error = command.put(UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
    if (error != 0)
        command.file.card.objects.destroy(*handle);
    return error;
}

int destroy_ah(Command &command)
{
    return destroy_plain<AddressHandle>(command, UVERBS_ATTR_DESTROY_AH_HANDLE);
}

int alloc_uar(Command &command)
{
    const std::uint64_t type = command.number(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
    if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
        return EOPNOTSUPP;
    // Both types behave alike: a store to the page wakes the card, whatever the value.
    auto *uar = command.file.card.objects.create<Uar>(command.file);
    if (uar == nullptr)
        return ENOMEM;
    command.put_number(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, uar_offset(uar->handle));
    command.put_number(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
    command.put_number(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, uar->handle);
    return command.put_handle(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, *uar);
}

int destroy_uar(Command &command)
{
    return destroy_plain<Uar>(command, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE);
}

} // namespace opendoca::card
