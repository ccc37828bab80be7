// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Layout of the commands of mlx5 devices (Programmer's Reference Manual). Each field that is used has one row: its
// first bit, counted from the most significant bit of the mailbox's first byte, and its width in bits.
// tests/unit/test_mlx5_prm.cpp has the same numbers from other sources, and tests/mutation/ changes each of these.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace opendoca::mlx5::prm {

/// The position of one field in a mailbox or in a structure within it.
struct Field {
    std::uint16_t offset; ///< bits
    std::uint16_t width;  ///< bits

    /// The same field in a structure that begins @p bits further on.
    [[nodiscard]] constexpr Field at(unsigned bits) const noexcept
    {
        return {static_cast<std::uint16_t>(offset + bits), width};
    }
};

/// The bytes of a command or its output, zero at first. Numbers are big endian, as the device requires: the first bit
/// of a field is its most significant one. Fields have up to 64 bits, or are whole bytes.
template <std::size_t bytes>
class Mailbox {
public:
    constexpr void set(Field field, std::uint64_t value) noexcept
    {
        for (unsigned i = field.width; i-- > 0; value >>= 1) {
            const unsigned bit = field.offset + i, shift = 7 - bit % 8;
            bytes_[bit / 8] = static_cast<std::uint8_t>((bytes_[bit / 8] & ~(1u << shift)) | (value & 1) << shift);
        }
    }
    [[nodiscard]] constexpr std::uint64_t get(Field field) const noexcept
    {
        std::uint64_t value = 0;
        for (unsigned bit = field.offset; bit < field.offset + unsigned{field.width}; ++bit)
            value = value << 1 | (bytes_[bit / 8] >> (7 - bit % 8) & 1);
        return value;
    }
    /// Copies @p value to a field of whole bytes. The part of @p value that does not fit is left out.
    constexpr void set_bytes(Field field, std::span<const std::uint8_t> value) noexcept
    {
        std::copy_n(value.begin(), std::min<std::size_t>(value.size(), field.width / 8),
                    bytes_.begin() + field.offset / 8);
    }
    [[nodiscard]] constexpr std::span<const std::uint8_t> get_bytes(Field field) const noexcept
    {
        return std::span(bytes_).subspan(field.offset / 8, field.width / 8);
    }

    [[nodiscard]] constexpr std::uint8_t *data() noexcept { return bytes_.data(); }
    [[nodiscard]] static constexpr std::size_t size() noexcept { return bytes; }

private:
    std::array<std::uint8_t, bytes> bytes_{};
};

/// The commands that opendoca issues.
enum class Opcode : std::uint16_t {
    query_hca_cap = 0x100,
    create_mkey = 0x200, // a memory key
    init2rtr_qp = 0x503, // a transition of a queue pair
    query_esw_functions = 0x740,
    create_general_object = 0xa00,
    allow_other_vhca_access = 0xb16,
    query_vuid = 0xb22,
};

inline constexpr std::uint64_t object_type_mkey = 0xff01;

// Fields of every command, and of every output.
inline constexpr Field opcode{0x00, 16};
inline constexpr Field modifier{0x30, 16};
inline constexpr Field status{0x00, 8};
inline constexpr Field syndrome{0x20, 32};
inline constexpr std::size_t answer_bytes = 16; ///< output size of most commands

// QUERY_HCA_CAP. The modifier is twice the kind of capability, plus 1 for the current values.
inline constexpr Field cap_other_function{0x40, 1};
inline constexpr Field cap_function_id{0x50, 16};
inline constexpr std::size_t query_hca_cap_bytes = 16;
inline constexpr std::size_t query_hca_cap_answer_bytes = 16 + 4096;
inline constexpr unsigned capability = 0x80; ///< first bit of the capabilities in the output

// General capabilities.
inline constexpr unsigned general_kind = 0;
inline constexpr Field general_vhca_resource_manager = Field{0x1f, 1}.at(capability);
inline constexpr Field general_hca_cap_2 = Field{0x20, 1}.at(capability);
inline constexpr Field general_vhca_id = Field{0x30, 16}.at(capability);
inline constexpr Field general_eswitch_manager = Field{0x1a7, 1}.at(capability);

// Capabilities of RoCE: whether packets of a reliable connection can be looped back inside the device, while RoCE of
// the port is disabled or enabled.
inline constexpr unsigned roce_kind = 4;
inline constexpr Field roce_loopback_when_disabled = Field{0x05, 1}.at(capability);
inline constexpr Field roce_loopback_when_enabled = Field{0x06, 1}.at(capability);

// General capabilities, second page. Present if general_hca_cap_2 is set.
inline constexpr unsigned general_2_kind = 0x20;
inline constexpr Field general_2_query_vuid = Field{0x92, 1}.at(capability);
inline constexpr Field general_2_cross_vhca_objects = Field{0xe0, 32}.at(capability);
inline constexpr Field general_2_allowed_for_other_vhca = Field{0x100, 64}.at(capability);
inline constexpr std::uint64_t local_key_to_remote_key = 0x100; ///< a bit of cross_vhca_objects
inline constexpr std::uint64_t keys_may_be_allowed = 0x4;       ///< a bit of allowed_for_other_vhca

// CREATE_MKEY: the fields of the command, then those of the key's context.
inline constexpr Field mkey_umem_valid{0x61, 1};
inline constexpr Field mkey_actual_size{0x300, 32}; ///< size of the translation, in units of 16 bytes
inline constexpr Field mkey_umem_id{0x320, 32};
inline constexpr Field mkey_umem_offset{0x340, 64};
inline constexpr unsigned mkey_context = 0x80;
inline constexpr Field mkey_atomic = Field{0x11, 1}.at(mkey_context);
inline constexpr Field mkey_remote_write = Field{0x12, 1}.at(mkey_context);
inline constexpr Field mkey_remote_read = Field{0x13, 1}.at(mkey_context);
inline constexpr Field mkey_local_write = Field{0x14, 1}.at(mkey_context);
inline constexpr Field mkey_local_read = Field{0x15, 1}.at(mkey_context);
inline constexpr Field mkey_access_mode = Field{0x16, 2}.at(mkey_context);
inline constexpr Field mkey_qpn = Field{0x20, 24}.at(mkey_context);
inline constexpr Field mkey_variant = Field{0x38, 8}.at(mkey_context); ///< the lowest byte of the key
inline constexpr Field mkey_pd = Field{0x68, 24}.at(mkey_context);
inline constexpr Field mkey_start = Field{0x80, 64}.at(mkey_context);
inline constexpr Field mkey_length = Field{0xc0, 64}.at(mkey_context);
inline constexpr Field mkey_translation_size = Field{0x1a0, 32}.at(mkey_context); ///< the same as mkey_actual_size
inline constexpr Field mkey_log_entity_size = Field{0x1db, 5}.at(mkey_context);   ///< log2 of entry or page size
inline constexpr std::size_t create_mkey_bytes = 0x880 / 8;                       ///< the translation follows
inline constexpr std::uint64_t access_mode_direct = 1;
inline constexpr std::uint64_t access_mode_ksm = 3;
inline constexpr std::uint64_t any_qp = 0xffffff;
// One entry of an indirect key's translation.
inline constexpr std::size_t ksm_bytes = 16;
inline constexpr Field ksm_key{0x20, 32};
inline constexpr Field ksm_address{0x40, 64};
// Output.
inline constexpr Field mkey_index{0x48, 24};

// ALLOW_OTHER_VHCA_ACCESS
inline constexpr Field allow_object_type{0x90, 16};
inline constexpr Field allow_object_id{0xa0, 32};
inline constexpr Field allow_access_key{0x100, 256};
inline constexpr std::size_t allow_bytes = 64;

// CREATE_GENERAL_OBJECT of an alias
inline constexpr Field object_type{0x30, 16};
inline constexpr Field object_is_alias{0x60, 1};
inline constexpr Field alias_vhca_id{0x80, 16};
inline constexpr Field alias_object_id{0xa0, 32};
inline constexpr Field alias_access_key{0x100, 256};
inline constexpr Field alias_pd{0x200, 32}; ///< metadata_1
inline constexpr std::size_t alias_bytes = 80;
// Output, which repeats the alias.
inline constexpr Field object_id{0x40, 32};
inline constexpr Field alias_status{0x9d, 3}; ///< 0: the alias is usable
inline constexpr std::size_t alias_answer_bytes = 80;

// INIT2RTR_QP: the queue pair's context, which contains its primary path.
inline constexpr Field rtr_qpn{0x48, 24};
inline constexpr unsigned qp_context = 0xc0;
inline constexpr Field rtr_mtu = Field{0x40, 3}.at(qp_context);
inline constexpr Field rtr_log_max_message = Field{0x43, 5}.at(qp_context);
inline constexpr Field rtr_remote_qpn = Field{0xa8, 24}.at(qp_context);
inline constexpr Field rtr_force_loopback = Field{0xc0, 1}.at(qp_context);
inline constexpr Field rtr_port = Field{0x1e8, 8}.at(qp_context);
inline constexpr Field rtr_receive_timer = Field{0x4a3, 5}.at(qp_context);
inline constexpr Field rtr_receive_packet = Field{0x4a8, 24}.at(qp_context);
inline constexpr std::size_t init2rtr_bytes = 0x880 / 8;

// QUERY_ESW_FUNCTIONS: output.
inline constexpr unsigned host_parameters = 0x80;
inline constexpr Field host_number = Field{0x00, 8}.at(host_parameters);
inline constexpr Field host_pf_vhca_id_valid = Field{0x0e, 1}.at(host_parameters);
inline constexpr Field host_pf_disabled = Field{0x0f, 1}.at(host_parameters);
inline constexpr Field host_pci_bus = Field{0x30, 16}.at(host_parameters);
inline constexpr Field host_pf_vhca_id = Field{0x40, 16}.at(host_parameters);
inline constexpr Field host_pci_device = Field{0x50, 16}.at(host_parameters);
inline constexpr Field host_pci_function = Field{0x70, 16}.at(host_parameters);
inline constexpr std::size_t query_esw_functions_bytes = 16;
inline constexpr std::size_t query_esw_functions_answer_bytes = 0x400 / 8;

// QUERY_VUID
inline constexpr Field vuid_vhca_id{0x70, 16};
inline constexpr std::size_t query_vuid_bytes = 16;
// Output.
inline constexpr Field vuid_count{0x1f0, 16};
inline constexpr Field vuid_first{0x200, 1024}; ///< text; without a terminating NUL if it fills the field
inline constexpr std::size_t query_vuid_answer_bytes = 0x600 / 8;

} // namespace opendoca::mlx5::prm
