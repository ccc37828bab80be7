// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The rows of src/core/device/mlx5/prm.hpp against offsets that were written down from the layouts of others
// (rdma-core, UCX, DPDK, Linux): counted from the beginning of the mailbox, where prm.hpp adds up structures. The
// compiler compares them, so that tests/mutation/ need only compile this file.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

#include "../../src/core/device/mlx5/prm.hpp"

namespace {

using namespace opendoca::mlx5;

struct Row {
    prm::Field field;
    unsigned offset, width;
};

constexpr Row rows[] = {
    {prm::opcode, 0, 16},
    {prm::modifier, 48, 16},
    {prm::status, 0, 8},
    {prm::syndrome, 32, 32},
    {prm::cap_other_function, 64, 1},
    {prm::cap_function_id, 80, 16},
    {prm::general_vhca_resource_manager, 128 + 31, 1},
    {prm::general_hca_cap_2, 128 + 32, 1},
    {prm::general_vhca_id, 128 + 48, 16},
    {prm::general_eswitch_manager, 128 + 423, 1},
    {prm::roce_loopback_when_disabled, 128 + 5, 1},
    {prm::roce_loopback_when_enabled, 128 + 6, 1},
    {prm::general_2_query_vuid, 128 + 146, 1},
    {prm::general_2_cross_vhca_objects, 128 + 224, 32},
    {prm::general_2_allowed_for_other_vhca, 128 + 256, 64},
    {prm::mkey_umem_valid, 97, 1},
    {prm::mkey_actual_size, 768, 32},
    {prm::mkey_umem_id, 800, 32},
    {prm::mkey_umem_offset, 832, 64},
    {prm::mkey_atomic, 145, 1},
    {prm::mkey_remote_write, 146, 1},
    {prm::mkey_remote_read, 147, 1},
    {prm::mkey_local_write, 148, 1},
    {prm::mkey_local_read, 149, 1},
    {prm::mkey_access_mode, 150, 2},
    {prm::mkey_qpn, 160, 24},
    {prm::mkey_variant, 184, 8},
    {prm::mkey_pd, 232, 24},
    {prm::mkey_start, 256, 64},
    {prm::mkey_length, 320, 64},
    {prm::mkey_translation_size, 544, 32},
    {prm::mkey_log_entity_size, 603, 5},
    {prm::ksm_key, 32, 32},
    {prm::ksm_address, 64, 64},
    {prm::mkey_index, 72, 24},
    {prm::allow_object_type, 144, 16},
    {prm::allow_object_id, 160, 32},
    {prm::allow_access_key, 256, 256},
    {prm::object_type, 48, 16},
    {prm::object_is_alias, 96, 1},
    {prm::alias_vhca_id, 128, 16},
    {prm::alias_object_id, 160, 32},
    {prm::alias_access_key, 256, 256},
    {prm::alias_pd, 512, 32},
    {prm::object_id, 64, 32},
    {prm::alias_status, 157, 3},
    {prm::rtr_qpn, 72, 24},
    {prm::rtr_mtu, 192 + 64, 3},
    {prm::rtr_log_max_message, 192 + 67, 5},
    {prm::rtr_remote_qpn, 192 + 168, 24},
    {prm::rtr_force_loopback, 192 + 192, 1},
    {prm::rtr_port, 192 + 192 + 296, 8},
    {prm::rtr_receive_timer, 192 + 1187, 5},
    {prm::rtr_receive_packet, 192 + 1192, 24},
    {prm::host_number, 128, 8},
    {prm::host_pf_vhca_id_valid, 142, 1},
    {prm::host_pf_disabled, 143, 1},
    {prm::host_pci_bus, 176, 16},
    {prm::host_pf_vhca_id, 192, 16},
    {prm::host_pci_device, 208, 16},
    {prm::host_pci_function, 240, 16},
    {prm::vuid_vhca_id, 112, 16},
    {prm::vuid_count, 496, 16},
    {prm::vuid_first, 512, 1024},
};

constexpr bool is_as_written_down(const Row &row)
{
    return row.field.offset == row.offset && row.field.width == row.width;
}

// Each by itself, so that the compiler names all that are not.
template <std::size_t number>
struct CheckedRow {
    static_assert(is_as_written_down(rows[number]));
};
template <std::size_t... numbers>
constexpr std::size_t num_checked(std::index_sequence<numbers...>)
{
    return (sizeof(CheckedRow<numbers>) + ...);
}
static_assert(num_checked(std::make_index_sequence<std::size(rows)>()) == std::size(rows));

static_assert(prm::Opcode{0x100} == prm::Opcode::query_hca_cap && prm::Opcode{0x200} == prm::Opcode::create_mkey &&
              prm::Opcode{0x503} == prm::Opcode::init2rtr_qp &&
              prm::Opcode{0x740} == prm::Opcode::query_esw_functions &&
              prm::Opcode{0xa00} == prm::Opcode::create_general_object &&
              prm::Opcode{0xb16} == prm::Opcode::allow_other_vhca_access &&
              prm::Opcode{0xb22} == prm::Opcode::query_vuid);

} // namespace
