// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Layout of the device's commands (Programmer's Reference Manual). The position of a field in its mailbox counts in
// bits, from the most significant bit of the first byte. The numbers are those of public headers: rdma-core's
// providers/mlx5/mlx5_ifc.h and DPDK's mlx5_prm.h, for sharing and aliases of keys also UCX's ib_mlx5_ifc.h, for
// QUERY_VUID Linux's mlx5_ifc.h. This file does not share src/core/device/mlx5/prm.hpp: a wrong number in one of the
// two makes tests on the card fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "access.hpp"

namespace opendoca::card::prm {

/// The position of a field in a mailbox, or in a structure within it. A field may cross bytes. Only constants of this
/// type exist.
struct Field {
    std::uint16_t bit;  ///< number of the most significant bit
    std::uint8_t width; ///< in bits, at most 64

    /// Returns the same field of a structure that begins `bits` further.
    constexpr Field operator+(unsigned bits) const { return {static_cast<std::uint16_t>(bit + bits), width}; }
    /// Returns the number of bytes that a mailbox must have to contain the field.
    [[nodiscard]] constexpr std::size_t end_byte() const { return (bit + width + 7u) / 8u; }
};

/// Returns the value of a field; 0 if the mailbox is too short to contain it.
constexpr std::uint64_t get(std::span<const std::uint8_t> mailbox, Field field)
{
    std::uint64_t value = 0;
    if (field.end_byte() > mailbox.size())
        return 0;
    for (unsigned bit = field.bit; bit < field.bit + unsigned{field.width}; ++bit)
        value = value << 1 | (mailbox[bit / 8] >> (7 - bit % 8) & 1);
    return value;
}

/// Stores a field; no effect if the mailbox is too short to contain it.
constexpr void set(std::span<std::uint8_t> mailbox, Field field, std::uint64_t value)
{
    if (field.end_byte() > mailbox.size())
        return;
    for (unsigned i = field.width; i-- > 0; value >>= 1) {
        const unsigned bit = field.bit + i, shift = 7 - bit % 8;
        mailbox[bit / 8] =
            static_cast<std::uint8_t>((mailbox[bit / 8] & ~(1u << shift)) | static_cast<unsigned>(value & 1) << shift);
    }
}

/// Status codes of commands: the first byte of an output.
enum class Status : std::uint8_t {
    ok = 0,
    bad_operation = 2,
    bad_parameter = 3,
    bad_resource = 5,
    exceeds_limit = 8,
    bad_resource_state = 9,
    no_resources = 0xf,
    bad_queue_pair_state = 0x10,
    bad_input_length = 0x50,
    bad_output_length = 0x51,
};

// Fields of every command: of its input, then of its output.
inline constexpr Field opcode{0x00, 16}, modifier{0x30, 16};
inline constexpr Field status{0x00, 8}, syndrome{0x20, 32};

/// QUERY_HCA_CAP. The modifier holds the capability type, shifted left by one bit; bit 0 selects current or maximum
/// values, which are the same on this card.
namespace query_hca_cap {
inline constexpr Field other_function{0x40, 1}, function_id{0x50, 16};
inline constexpr std::size_t capability_at = 16; ///< bytes of the output
inline constexpr std::size_t capability_bytes = 4096;
} // namespace query_hca_cap

namespace general_cap { // capability type 0
inline constexpr Field vhca_resource_manager{0x1f, 1}, hca_cap_2{0x20, 1}, vhca_id{0x30, 16};
inline constexpr Field log_dma_mmo_max_size{0x6b, 5}, log_max_qp{0x9b, 5}, log_max_cq{0xdb, 5}, log_max_mkey{0xea, 6};
inline constexpr Field dma_mmo_sq{0x153, 1}, port_type{0x1b6, 2}, num_ports{0x1b8, 8}, cqe_version{0x1fc, 4};
inline constexpr Field atomic{0x21e, 1}, max_wqe_sz_sq{0x290, 16}, dma_mmo_qp{0x748, 1};
inline constexpr Field fixed_buffer_size{0x108, 1}, log_max_msg{0x1c3, 5}, log_max_rmp{0x383, 5};
inline constexpr Field eswitch_manager{0x1a7, 1};
} // namespace general_cap

namespace device_memory_cap { // capability type 15
inline constexpr Field is_supported{0x00, 1}, log_min_size{0x2b, 5};
inline constexpr Field log_max_alignment{0x38, 8};         ///< beyond the least alignment, as a logarithm to base 2
inline constexpr Field size{0x80, 32}, max_size{0xa0, 32}; ///< in bytes: of the function, of one allocation
} // namespace device_memory_cap

namespace general_cap_2 { // capability type 0x20
inline constexpr Field query_vuid{0x92, 1}, log_reserved_qpn_granularity{0x93, 5};
inline constexpr Field cross_vhca_objects{0xe0, 32}, allowed_for_other_vhca{0x100, 64};
inline constexpr std::uint64_t local_to_remote_key = 0x100, keys = 0x4;
} // namespace general_cap_2

namespace atomic_cap { // capability type 3
inline constexpr Field request_endianness{0x40, 2}, operations{0x90, 16}, sizes{0xb0, 16};
} // namespace atomic_cap

namespace roce_cap { // capability type 4
inline constexpr Field loopback_when_disabled{0x05, 1}, loopback_when_enabled{0x06, 1};
} // namespace roce_cap

/// Memory key context.
namespace mkey {
inline constexpr unsigned at = 0x80; ///< position of the context in CREATE_MKEY
inline constexpr Field free{0x01, 1}, mode_high{0x03, 3}, atomic{0x11, 1}, remote_write{0x12, 1}, remote_read{0x13, 1},
    local_write{0x14, 1}, local_read{0x15, 1}, mode_low{0x16, 2}, qpn{0x20, 24}, variant{0x38, 8}, length64{0x60, 1},
    pd{0x68, 24}, start{0x80, 64}, length{0xc0, 64}, log_entity_size{0x1db, 5};
inline constexpr unsigned mode_mtt = 1, mode_klm = 2, mode_ksm = 3;
} // namespace mkey

/// Returns the rights that a memory key context grants.
constexpr std::uint32_t access_of(std::span<const std::uint8_t> context)
{
    return (get(context, mkey::local_write) != 0 ? right::local_write : 0) |
           (get(context, mkey::remote_write) != 0 ? right::remote_write : 0) |
           (get(context, mkey::remote_read) != 0 ? right::remote_read : 0) |
           (get(context, mkey::atomic) != 0 ? right::remote_atomic : 0);
}

/// CREATE_MKEY. The translation entries (KLM or KSM) follow the key context; `actual_size` counts them.
namespace create_mkey {
inline constexpr Field actual_size{0x300, 32}, umem_id{0x320, 32}, umem_offset{0x340, 64};
inline constexpr std::size_t entries_at = 0x880 / 8, entry_bytes = 16;
inline constexpr Field index{0x48, 24}; // of the output
} // namespace create_mkey

/// ALLOW_OTHER_VHCA_ACCESS. The object id of a memory key is its index, without the variant.
namespace allow_other_vhca_access {
inline constexpr Field object_type{0x90, 16}, object_id{0xa0, 32};
inline constexpr std::size_t access_key_at = 0x100 / 8;
} // namespace allow_other_vhca_access

/// The header of CREATE_GENERAL_OBJECT, and the id in its output. `type_mkey` is the type of a memory key's alias.
namespace general_object {
inline constexpr Field type{0x30, 16}, id{0x40, 32}, is_alias{0x60, 1};
inline constexpr std::uint64_t type_mkey = 0xff01;
} // namespace general_object

/// The context of CREATE_GENERAL_OBJECT for an alias.
namespace alias {
inline constexpr unsigned at = 0x80; ///< position of the context
inline constexpr Field vhca_id{at + 0x00, 16}, status{at + 0x1d, 3}, object_id{at + 0x20, 32},
    pd{at + 0x180, 32}; // metadata_1
inline constexpr std::size_t access_key_at = 0x100 / 8, access_key_bytes = 32;
} // namespace alias

// The bits by which a command states that an id of a user memory is valid are not here: the kernel sets them, since
// programs cannot name physical addresses.

/// CREATE_CQ. Ring and doorbell record are in user memories, named by id and by an offset in bytes.
namespace create_cq {
inline constexpr unsigned at = 0x80; ///< position of the context
inline constexpr Field entry_size{at + 0x08, 3}, ignore_overrun{at + 0x0e, 1}, record_umem_id{at + 0x20, 32},
    log_size{at + 0x63, 5}, uar_page{at + 0x68, 24}, record_offset{at + 0x1c0, 64};
inline constexpr Field umem_offset{0x280, 64}, umem_id{0x2c0, 32};
inline constexpr Field number{0x48, 24}; // of the output
} // namespace create_cq

/// The queue pair context, at the same position in all commands about queue pairs.
namespace qpc {
inline constexpr unsigned at = 0xc0;
inline constexpr std::size_t bytes = 0x740 / 8;
inline constexpr Field state{at + 0x00, 4}, service{at + 0x08, 8}, pd{at + 0x28, 24}, mtu{at + 0x40, 3},
    log_receive_size{at + 0x49, 4}, log_receive_stride{at + 0x4d, 3}, no_send_queue{at + 0x50, 1},
    log_send_size{at + 0x51, 4}, uar_page{at + 0x68, 24}, user_index{at + 0x88, 24}, remote_qpn{at + 0xa8, 24},
    log_reads{at + 0x388, 3}, retry_count{at + 0x38d, 3}, rnr_retry{at + 0x390, 3}, send_cq{at + 0x3e8, 24},
    log_reads_of_peer{at + 0x488, 3}, remote_read{at + 0x490, 1}, remote_write{at + 0x491, 1},
    remote_atomic{at + 0x492, 1}, rnr_timer{at + 0x4a3, 5}, next_send_psn{at + 0x3c8, 24},
    next_receive_psn{at + 0x4a8, 24}, receive_cq{at + 0x4e8, 24}, record_offset{at + 0x500, 64},
    receive_type{at + 0x565, 3}, receive_queue{at + 0x568, 24}, record_umem_id{at + 0x720, 32};
// The primary path of the context.
inline constexpr unsigned path = at + 0xc0;
inline constexpr Field path_loopback{path + 0x00, 1}, path_grh{path + 0x28, 1}, path_lid{path + 0x30, 16},
    path_timeout{path + 0x40, 5}, path_gid_index{path + 0x48, 8}, path_hop_limit{path + 0x58, 8},
    path_port{path + 0x128, 8};
inline constexpr std::size_t path_gid_at = (path + 0x80) / 8;
inline constexpr unsigned service_rc = 0, receive_type_own = 0, receive_type_shared = 1, receive_type_none = 3;
} // namespace qpc

/// CREATE_QP: the fields beyond the context, which name the user memory of the rings.
namespace create_qp {
inline constexpr Field umem_offset{0x800, 64}, umem_id{0x840, 32};
inline constexpr Field number{0x48, 24}; // of the output
} // namespace create_qp

/// The commands that change the state or the attributes of a queue pair.
namespace modify_qp {
inline constexpr Field number{0x48, 24};
// Which attributes of INIT2RTR_QP and RTR2RTS_QP are set beyond those that are required.
inline constexpr Field optional{0x80, 32};
inline constexpr std::uint64_t optional_read = 1 << 1, optional_atomic = 1 << 2, optional_write = 1 << 3;
// INIT2INIT_QP: the extended context, which enables DMA.
inline constexpr Field has_extension{0x40, 1}, extension_mask{0x840, 64}, mmo{0x882, 1};
inline constexpr std::uint64_t mask_mmo = 1 << 3;
} // namespace modify_qp

/// The context of a pool of receive memory (RMP), at the same position in all commands about it, and its work queue.
namespace rmp {
inline constexpr unsigned at = 0x100;
inline constexpr std::size_t bytes = 0x780 / 8;
inline constexpr Field state{at + 0x08, 4}, has_bare_entries{at + 0x20, 1};
inline constexpr unsigned queue = at + 0x180;
inline constexpr Field type{queue + 0x00, 4}, limit{queue + 0x30, 16}, pd{queue + 0x48, 24},
    record_offset{queue + 0x80, 64}, log_stride{queue + 0x10c, 4}, log_size{queue + 0x11b, 5},
    record_umem_id{queue + 0x140, 32}, umem_id{queue + 0x160, 32}, umem_offset{queue + 0x180, 64};
inline constexpr unsigned state_ready = 1, type_list = 0, type_cyclic = 1;
inline constexpr Field number{0x48, 24};    // of the output of CREATE_RMP, of the input of MODIFY_RMP
inline constexpr Field sets_limit{0xbf, 1}; // of MODIFY_RMP
} // namespace rmp

namespace query_hca_vport_context {
inline constexpr Field lid{0x380, 16}; // of the output
} // namespace query_hca_vport_context

/// QUERY_ESW_FUNCTIONS: the host's parameters, with the PCI address of its physical function.
namespace query_esw_functions {
inline constexpr unsigned at = 0x80; ///< position of the host's parameters in the output
inline constexpr Field host_number{at + 0x00, 8}, pf_vhca_id_valid{at + 0x0e, 1}, pf_disabled{at + 0x0f, 1},
    vfs{at + 0x10, 16}, total_vfs{at + 0x20, 16}, pci_bus{at + 0x30, 16}, pf_vhca_id{at + 0x40, 16},
    pci_device{at + 0x50, 16}, pci_function{at + 0x70, 16};
} // namespace query_esw_functions

/// QUERY_VUID. Each VUID takes 128 bytes of the output, padded with zeros.
namespace query_vuid {
inline constexpr Field of_vfs{0x60, 1}, vhca_id{0x70, 16};
inline constexpr Field entries{0x1f0, 16}; // of the output
inline constexpr std::size_t vuid_at = 0x200 / 8, vuid_bytes = 128;
} // namespace query_vuid

} // namespace opendoca::card::prm
