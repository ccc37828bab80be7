// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Queries of the device's capabilities and of its functions.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "devx.hpp"
#include "limits.hpp"

namespace opendoca::card {

namespace {

/// Fills in the general capabilities.
void describe_general(const Card &card, const Function &function, std::span<std::uint8_t> to)
{
    using namespace prm::general_cap;
    const Profile &profile = card.profile;
    prm::set(to, hca_cap_2, 1);
    prm::set(to, vhca_resource_manager, function.profile.kind == FunctionKind::embedded);
    prm::set(to, prm::general_cap::eswitch_manager, function.profile.kind == FunctionKind::embedded);
    prm::set(to, vhca_id, function.profile.vhca_id);
    prm::set(to, log_dma_mmo_max_size, profile.log_max_copy_bytes);
    // Logarithms to base 2.
    prm::set(to, log_max_qp, 17);
    prm::set(to, log_max_cq, 22);
    prm::set(to, log_max_mkey, 20);
    prm::set(to, dma_mmo_sq, profile.dma_by_send_queue);
    prm::set(to, dma_mmo_qp, profile.dma_by_queue_pair);
    prm::set(to, port_type, profile.is_ethernet ? 1 : 0);
    prm::set(to, num_ports, 1);
    prm::set(to, cqe_version, 1);
    prm::set(to, atomic, 1);
    prm::set(to, max_wqe_sz_sq, 1024); // bytes
    prm::set(to, log_max_msg, std::bit_width(max_message_bytes) - 1);
    prm::set(to, log_max_rmp, 16);
    prm::set(to, fixed_buffer_size, 1); // keys may have entries of one length (KSM)
}

/// Fills in the second set of general capabilities: VUID query and alias keys.
void describe_general_2(const Card &card, const Function &function, std::span<std::uint8_t> to)
{
    using namespace prm::general_cap_2;
    prm::set(to, log_reserved_qpn_granularity, 8);
    prm::set(to, query_vuid, function.profile.kind == FunctionKind::embedded);
    if (!card.profile.reports_alias_keys)
        return;
    prm::set(to, cross_vhca_objects, local_to_remote_key);
    prm::set(to, allowed_for_other_vhca, keys);
}

/// Returns whether a function may query others and the e-switch: on a BlueField, only the embedded function may.
bool manages_eswitch(const Function &function)
{
    return function.profile.kind == FunctionKind::embedded;
}

} // namespace

prm::Status prm_query_hca_cap(Mailbox &mailbox)
{
    using namespace prm::query_hca_cap;
    const Card &card = mailbox.card();
    const Function *function = &mailbox.file.function;
    // Only the manager of the e-switch may query another function.
    if (mailbox.get(other_function) != 0) {
        const auto found = std::ranges::find_if(
            card.functions, [&](const Function &other) { return other.profile.vport == mailbox.get(function_id); });
        if (!manages_eswitch(*function) || found == card.functions.end() || !found->is_present)
            return prm::Status::bad_parameter;
        function = &*found;
    }
    std::vector<std::uint8_t> capability(capability_bytes);
    // The capability type; prm.hpp has a namespace for each.
    switch (mailbox.get(prm::modifier) >> 1) {
    case 0:
        describe_general(card, *function, capability);
        break;
    case 3: {
        constexpr std::uint64_t swap_and_add = 3, of_8_bytes = 1 << 3, of_host = 1;
        prm::set(capability, prm::atomic_cap::request_endianness, of_host);
        prm::set(capability, prm::atomic_cap::operations, swap_and_add);
        prm::set(capability, prm::atomic_cap::sizes, of_8_bytes);
        break;
    }
    case 4:
        prm::set(capability, prm::roce_cap::loopback_when_disabled, card.profile.is_ethernet);
        prm::set(capability, prm::roce_cap::loopback_when_enabled, card.profile.is_ethernet);
        break;
    case 0xf:
        prm::set(capability, prm::device_memory_cap::is_supported, 1);
        prm::set(capability, prm::device_memory_cap::log_min_size, log_device_memory_unit);
        prm::set(capability, prm::device_memory_cap::log_max_alignment,
                 log_max_device_memory_alignment - log_device_memory_unit);
        prm::set(capability, prm::device_memory_cap::size, device_memory_bytes);
        prm::set(capability, prm::device_memory_cap::max_size, max_device_memory);
        break;
    case 0x20:
        describe_general_2(card, *function, capability);
        break;
    default:
        break; // types without capabilities on this card: all zeros
    }
    // The program's buffer may be shorter than the capabilities.
    std::copy_n(capability.begin(), std::min(capability.size(), mailbox.out.size() - capability_at),
                mailbox.out.begin() + capability_at);
    return prm::Status::ok;
}

prm::Status prm_query_hca_vport_context(Mailbox &mailbox)
{
    mailbox.set(prm::query_hca_vport_context::lid, mailbox.file.function.profile.lid);
    return prm::Status::ok;
}

prm::Status prm_query_esw_functions(Mailbox &mailbox)
{
    using namespace prm::query_esw_functions;
    if (!manages_eswitch(mailbox.file.function))
        return prm::Status::bad_operation;
    const auto &functions = mailbox.card().functions;
    std::uint64_t virtual_functions = 0;
    for (const Function &function : functions) {
        if (function.profile.side != Side::host || !function.is_present)
            continue;
        if (function.profile.kind == FunctionKind::virtual_function)
            ++virtual_functions;
        if (function.profile.kind != FunctionKind::physical)
            continue;
        // Format: "0000:3b:00.0".
        const std::string &address = function.profile.pci_address;
        mailbox.set(pci_bus, std::stoul(address.substr(5, 2), nullptr, 16));
        mailbox.set(pci_device, std::stoul(address.substr(8, 2), nullptr, 16));
        mailbox.set(pci_function, std::stoul(address.substr(11, 1), nullptr, 16));
        mailbox.set(pf_vhca_id_valid, 1);
        mailbox.set(pf_vhca_id, function.profile.vhca_id);
    }
    mailbox.set(vfs, virtual_functions);
    mailbox.set(total_vfs, 8);
    return prm::Status::ok;
}

prm::Status prm_query_vuid(Mailbox &mailbox)
{
    using namespace prm::query_vuid;
    if (!manages_eswitch(mailbox.file.function))
        return prm::Status::bad_operation;
    const std::uint64_t wanted = mailbox.get(vhca_id);
    const Function *named = mailbox.card().function_of_vhca(static_cast<std::uint32_t>(wanted));
    if (named == nullptr || !named->is_present)
        return prm::Status::bad_parameter;
    std::vector<const Function *> found = {named};
    // With this flag the VUIDs of virtual functions follow that of the named function.
    if (mailbox.get(of_vfs) != 0) {
        for (const Function &function : mailbox.card().functions) {
            if (function.profile.kind == FunctionKind::virtual_function && &function != named && function.is_present)
                found.push_back(&function);
        }
    }
    std::uint64_t count = 0;
    for (const Function *function : found) {
        const std::size_t at = vuid_at + count * vuid_bytes;
        if (at + vuid_bytes > mailbox.out.size())
            break;
        std::memcpy(&mailbox.out[at], function->profile.vuid.data(),
                    std::min(function->profile.vuid.size(), vuid_bytes));
        ++count;
    }
    mailbox.set(entries, count);
    return prm::Status::ok;
}

} // namespace opendoca::card
