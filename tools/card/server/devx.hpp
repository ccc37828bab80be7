// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The device's own command interface, as programs reach it by DEVX.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "card.hpp"
#include "prm.hpp"

namespace opendoca::card {

/// One command: its mailboxes are the card's own copies.
struct Mailbox {
    OpenFile &file;
    std::shared_ptr<Process> process;
    std::span<const std::uint8_t> in;
    std::span<std::uint8_t> out;
    Object *made = nullptr; ///< what a create command made

    [[nodiscard]] std::uint64_t get(prm::Field field) const { return prm::get(in, field); }
    [[nodiscard]] std::uint32_t get32(prm::Field field) const
    {
        return static_cast<std::uint32_t>(get(field));
    }
    void set(prm::Field field, std::uint64_t value) const { prm::set(out, field, value); }
    [[nodiscard]] Card &card() const { return file.card; }
};

/// By which of the uverbs methods a command may come.
enum class Method : std::uint8_t { general, create, modify, query };

/// A field that has to be within limits.
struct FieldRule {
    prm::Field field;
    std::uint64_t least, most;
};

struct CommandLayout {
    std::uint16_t opcode;
    std::string_view name;
    Method method;
    std::size_t least_in, least_out; ///< bytes
    std::span<const FieldRule> rules;
    prm::Status (*run)(Mailbox &mailbox);
};

/// Checks and carries out a command, and writes status and syndrome. False where it was refused.
/// The syndrome of a field that is out of its limits is the opcode and the field's first bit.
bool run_prm_command(Mailbox &mailbox, Method method);
/// Is there a command of that name, as faults are asked for by?
bool is_prm_command_name(std::string_view name);

// The commands.
prm::Status prm_query_hca_cap(Mailbox &mailbox);
prm::Status prm_query_hca_vport_context(Mailbox &mailbox);
prm::Status prm_query_esw_functions(Mailbox &mailbox);
prm::Status prm_query_vuid(Mailbox &mailbox);
prm::Status prm_create_mkey(Mailbox &mailbox);
prm::Status prm_allow_other_vhca_access(Mailbox &mailbox);
prm::Status prm_create_general_object(Mailbox &mailbox);
prm::Status prm_create_cq(Mailbox &mailbox);
prm::Status prm_create_qp(Mailbox &mailbox);
prm::Status prm_change_qp_state(Mailbox &mailbox);
prm::Status prm_change_qp(Mailbox &mailbox);
/// Answers with zeros: queries whose answers no program here has been seen to need.
prm::Status prm_answer_nothing(Mailbox &mailbox);

} // namespace opendoca::card
