// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "commands.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include <unistd.h>

#include "prm.hpp"

namespace opendoca::mlx5 {

namespace {

constexpr std::uint8_t key_variant = 0x0d; ///< variant byte of all keys that opendoca creates; its value is arbitrary

template <std::size_t size>
prm::Mailbox<size> command_of(prm::Opcode opcode) noexcept
{
    prm::Mailbox<size> command;
    command.set(prm::opcode, static_cast<std::uint16_t>(opcode));
    return command;
}

/// Combines @p error, the result of a library call, with the status that the device has returned in @p answer. A
/// non-zero status gives the actual reason; @p error then only shows that the command failed.
template <typename Answer>
Outcome outcome_of(int error, const Answer &answer) noexcept
{
    Outcome outcome{error, static_cast<std::uint8_t>(answer.get(prm::status)),
                    static_cast<std::uint32_t>(answer.get(prm::syndrome))};
    // The kernel has delivered the command, but the device has rejected it.
    if (error == 0 && outcome.status != 0)
        outcome.error = EREMOTEIO;
    return outcome;
}

/// Returns a CREATE_MKEY command with the fields that all kinds of keys share.
prm::Mailbox<prm::create_mkey_bytes> create_key_command(const MemoryRange &range, std::uint32_t pd, std::uint64_t mode,
                                                        bool is_writable) noexcept
{
    auto command = command_of<prm::create_mkey_bytes>(prm::Opcode::create_mkey);
    command.set(prm::mkey_access_mode, mode);
    // Reading is always allowed. The device checks remote rights for accesses by other functions as well.
    command.set(prm::mkey_local_read, 1);
    command.set(prm::mkey_remote_read, 1);
    command.set(prm::mkey_local_write, is_writable);
    command.set(prm::mkey_remote_write, is_writable);
    command.set(prm::mkey_atomic, is_writable);
    command.set(prm::mkey_qpn, prm::any_qp);
    command.set(prm::mkey_variant, key_variant);
    command.set(prm::mkey_pd, pd);
    command.set(prm::mkey_start, reinterpret_cast<std::uintptr_t>(range.addr));
    command.set(prm::mkey_length, range.len);
    return command;
}

} // namespace

/// Prefers the device's status, which is more specific than errno.
std::string Outcome::to_text() const
{
    if (status == 0)
        return std::strerror(error);
    char text[80];
    std::snprintf(text, sizeof(text), "the device rejects the command: status 0x%x, syndrome 0x%x", status, syndrome);
    return text;
}

/// Issues a command that creates no object, by mlx5dv_devx_general_cmd().
template <typename Command, typename Answer>
Outcome Commands::run(Command &command, Answer &answer) const
{
    const int error = library_.general_command(&context_, command.data(), command.size(), answer.data(), answer.size());
    return outcome_of(error, answer);
}

/// Queries the current values of one kind of capability, of the own function or of the one at @p vport.
template <typename Answer>
Outcome Commands::query_capability(unsigned kind, Answer &answer, std::optional<std::uint16_t> vport) const
{
    auto command = command_of<prm::query_hca_cap_bytes>(prm::Opcode::query_hca_cap);
    command.set(prm::modifier, kind << 1 | 1);
    // Only the function that manages the e-switch may query others.
    if (vport) {
        command.set(prm::cap_other_function, 1);
        command.set(prm::cap_function_id, *vport);
    }
    return run(command, answer);
}

Outcome Commands::query_capabilities(DeviceCapabilities &capabilities) const
{
    prm::Mailbox<prm::query_hca_cap_answer_bytes> general, more, roce;
    if (const Outcome outcome = query_capability(prm::general_kind, general); !outcome.is_good())
        return outcome;
    capabilities.vhca_id = static_cast<std::uint16_t>(general.get(prm::general_vhca_id));
    capabilities.manages_eswitch = general.get(prm::general_eswitch_manager) != 0;
    // Devices without a kind of capability leave its members unset.
    if (general.get(prm::general_hca_cap_2) != 0 && query_capability(prm::general_2_kind, more).is_good()) {
        capabilities.has_query_vuid =
            more.get(prm::general_2_query_vuid) != 0 && general.get(prm::general_vhca_resource_manager) != 0;
        capabilities.reports_shared_keys =
            (more.get(prm::general_2_cross_vhca_objects) & prm::local_key_to_remote_key) != 0 &&
            (more.get(prm::general_2_allowed_for_other_vhca) & prm::keys_may_be_allowed) != 0;
    }
    if (query_capability(prm::roce_kind, roce).is_good())
        // Both bits are required, since RoCE of the port may be enabled or disabled, for example without an address.
        capabilities.forces_loopback =
            roce.get(prm::roce_loopback_when_enabled) != 0 && roce.get(prm::roce_loopback_when_disabled) != 0;
    return {};
}

Outcome Commands::query_vhca_id(std::uint16_t vport, std::uint16_t &vhca_id) const
{
    prm::Mailbox<prm::query_hca_cap_answer_bytes> general;
    const Outcome outcome = query_capability(prm::general_kind, general, vport);
    if (outcome.is_good())
        vhca_id = static_cast<std::uint16_t>(general.get(prm::general_vhca_id));
    return outcome;
}

/// Returns the device's number for a protection domain, which commands take in place of the object.
Outcome Commands::number_of(ibv_pd &pd, std::uint32_t &number) const
{
    // Only libmlx5 has the number: verbs objects do not contain it.
    mlx5dv_pd described{};
    mlx5dv_obj object{};
    object.pd.in = &pd;
    object.pd.out = &described;
    const int error = library_.init_obj(&object, MLX5DV_OBJ_PD);
    number = described.pdn;
    return {error};
}

/// Executes a command that creates an object. The object is destroyed with @p object.
Outcome Commands::create(std::span<std::uint8_t> command, Owned<mlx5dv_devx_obj> &object,
                         std::span<std::uint8_t> answer) const
{
    object = {library_.create_object(&context_, command.data(), command.size(), answer.data(), answer.size()),
              Release{&library_}};
    // On failure the output contains the status and the syndrome, if the device has executed the command at all. errno
    // is 0 if libmlx5 has not set it.
    if (object != nullptr)
        return {};
    prm::Mailbox<prm::answer_bytes> reason;
    const int error = errno != 0 ? errno : EIO;
    std::ranges::copy(answer.first(prm::answer_bytes), reason.data());
    return outcome_of(error, reason);
}

Outcome Commands::create_indirect_key(ibv_pd &pd, const ibv_mr &region, const MemoryRange &range, bool is_writable,
                                      DeviceKey &key) const
{
    // The layout that DPDK and UCX use: entries of 2 GiB, and a multiple of four of them.
    constexpr unsigned log_entry_length = 31, entries_aligned_to = 4;
    std::uint32_t number = 0;
    if (const Outcome outcome = number_of(pd, number); !outcome.is_good())
        return outcome;
    auto command = create_key_command(range, number, prm::access_mode_ksm, is_writable);
    // Entries behind the end of the range stay zero.
    const std::uint64_t used = ((range.len - 1) >> log_entry_length) + 1;
    const std::uint64_t entries = (used + entries_aligned_to - 1) / entries_aligned_to * entries_aligned_to;
    command.set(prm::mkey_translation_size, entries);
    command.set(prm::mkey_actual_size, entries);
    command.set(prm::mkey_log_entity_size, log_entry_length);
    std::vector<std::uint8_t> bytes(command.data(), command.data() + command.size());
    for (std::uint64_t i = 0; i < entries; ++i) {
        prm::Mailbox<prm::ksm_bytes> entry;
        if (i < used) {
            entry.set(prm::ksm_key, region.lkey);
            entry.set(prm::ksm_address, reinterpret_cast<std::uintptr_t>(range.addr) + (i << log_entry_length));
        }
        bytes.insert(bytes.end(), entry.data(), entry.data() + entry.size());
    }
    prm::Mailbox<prm::answer_bytes> answer;
    const Outcome outcome = create(bytes, key.object, {answer.data(), answer.size()});
    // The device assigns the index, and the creator chooses the variant. Together they form the key.
    key.key = static_cast<std::uint32_t>(answer.get(prm::mkey_index)) << 8 | key_variant;
    return outcome;
}

Outcome Commands::create_direct_key(ibv_pd &pd, const MemoryRange &range, bool is_writable, DeviceKey &key) const
{
    std::uint32_t number = 0;
    if (const Outcome outcome = number_of(pd, number); !outcome.is_good())
        return outcome;
    const unsigned rights =
        IBV_ACCESS_REMOTE_READ | (is_writable ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE : 0);
    key.memory = {library_.register_umem(&context_, range.addr, range.len, rights), Release{&library_}};
    // errno: ENOMEM if the limit of locked memory is too low, EFAULT for an invalid range.
    if (key.memory == nullptr)
        return {errno != 0 ? errno : EIO};
    // The translation has one address per page, two of them in each unit of 16 bytes.
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const std::uint64_t first = reinterpret_cast<std::uintptr_t>(range.addr) / page;
    const std::uint64_t last = (reinterpret_cast<std::uintptr_t>(range.addr) + range.len - 1) / page;
    const std::uint64_t size = (last - first + 2) / 2;
    auto command = create_key_command(range, number, prm::access_mode_direct, is_writable);
    command.set(prm::mkey_translation_size, size);
    command.set(prm::mkey_actual_size, size);
    command.set(prm::mkey_log_entity_size, static_cast<unsigned>(std::countr_zero(page)));
    command.set(prm::mkey_umem_valid, 1);
    command.set(prm::mkey_umem_id, key.memory->umem_id);
    // The translation is that of the UMEM: the device finds the pages by its number.
    command.set(prm::mkey_umem_offset, 0);
    prm::Mailbox<prm::answer_bytes> answer;
    const Outcome outcome = create({command.data(), command.size()}, key.object, {answer.data(), answer.size()});
    key.key = static_cast<std::uint32_t>(answer.get(prm::mkey_index)) << 8 | key_variant;
    return outcome;
}

Outcome Commands::allow_access(const DeviceKey &key, const AccessKey &access_key) const
{
    auto command = command_of<prm::allow_bytes>(prm::Opcode::allow_other_vhca_access);
    command.set(prm::allow_object_type, prm::object_type_mkey);
    command.set(prm::allow_object_id, key.index());
    command.set_bytes(prm::allow_access_key, access_key);
    prm::Mailbox<prm::answer_bytes> answer;
    return run(command, answer);
}

Outcome Commands::create_alias(ibv_pd &pd, std::uint16_t vhca_id, std::uint32_t index, const AccessKey &access_key,
                               DeviceKey &key) const
{
    std::uint32_t number = 0;
    if (const Outcome outcome = number_of(pd, number); !outcome.is_good())
        return outcome;
    auto command = command_of<prm::alias_bytes>(prm::Opcode::create_general_object);
    command.set(prm::object_type, prm::object_type_mkey);
    command.set(prm::object_is_alias, 1);
    command.set(prm::alias_vhca_id, vhca_id);
    command.set(prm::alias_object_id, index);
    command.set_bytes(prm::alias_access_key, access_key);
    command.set(prm::alias_pd, number);
    prm::Mailbox<prm::alias_answer_bytes> answer;
    const Outcome outcome = create({command.data(), command.size()}, key.object, {answer.data(), answer.size()});
    if (outcome.is_good() && answer.get(prm::alias_status) != 0)
        return {EACCES};
    // Aliases have the variant 0.
    key.key = static_cast<std::uint32_t>(answer.get(prm::object_id)) << 8;
    return outcome;
}

Outcome Commands::loop_back(ibv_qp &qp, std::uint8_t port, ibv_mtu mtu, std::uint32_t first_packet) const
{
    // Address vector, packet sequence number of the sender and retries are not set here: the first is not needed, and
    // ReliableConnection::start_sending() sets the others.
    constexpr unsigned largest_message = 30; // log2 of bytes
    constexpr unsigned receive_timer = 12;   // 0.64 ms
    auto command = command_of<prm::init2rtr_bytes>(prm::Opcode::init2rtr_qp);
    command.set(prm::rtr_qpn, qp.qp_num);
    command.set(prm::rtr_mtu, mtu);
    command.set(prm::rtr_log_max_message, largest_message);
    command.set(prm::rtr_remote_qpn, qp.qp_num);
    command.set(prm::rtr_force_loopback, 1);
    command.set(prm::rtr_port, port);
    command.set(prm::rtr_receive_timer, receive_timer);
    command.set(prm::rtr_receive_packet, first_packet);
    prm::Mailbox<prm::answer_bytes> answer;
    return outcome_of(library_.modify_qp(&qp, command.data(), command.size(), answer.data(), answer.size()), answer);
}

Outcome Commands::query_host(HostFunction &host) const
{
    auto command = command_of<prm::query_esw_functions_bytes>(prm::Opcode::query_esw_functions);
    prm::Mailbox<prm::query_esw_functions_answer_bytes> answer;
    const Outcome outcome = run(command, answer);
    if (!outcome.is_good())
        return outcome;
    if (answer.get(prm::host_pf_disabled) != 0)
        return {ENODEV};
    const auto number = [&](prm::Field field) { return static_cast<std::uint16_t>(answer.get(field)); };
    host.host = static_cast<std::uint8_t>(answer.get(prm::host_number));
    host.bus = number(prm::host_pci_bus);
    host.device = number(prm::host_pci_device);
    host.function = number(prm::host_pci_function);
    if (answer.get(prm::host_pf_vhca_id_valid) != 0)
        host.vhca_id = number(prm::host_pf_vhca_id);
    return outcome;
}

Outcome Commands::query_vuid(std::uint16_t vhca_id, std::string &vuid) const
{
    auto command = command_of<prm::query_vuid_bytes>(prm::Opcode::query_vuid);
    command.set(prm::vuid_vhca_id, vhca_id);
    prm::Mailbox<prm::query_vuid_answer_bytes> answer;
    const Outcome outcome = run(command, answer);
    if (!outcome.is_good())
        return outcome;
    if (answer.get(prm::vuid_count) == 0)
        return {ENOENT};
    // The device can report the VUIDs of several functions; the first is that of the function itself.
    const auto text = answer.get_bytes(prm::vuid_first);
    vuid.assign(text.begin(), std::ranges::find(text, std::uint8_t{0}));
    return outcome;
}

} // namespace opendoca::mlx5
