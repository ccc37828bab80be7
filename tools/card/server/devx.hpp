// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The device's command interface (PRM commands), which programs use through DEVX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "card.hpp"
#include "prm.hpp"

namespace opendoca::card {

/// One command while it is carried out, on the stack of the event loop. The mailboxes are the card's own copies, so
/// `in` stays unchanged while the command runs, and `out` reaches the program only when it has ended.
struct Mailbox {
    OpenFile &file;
    std::shared_ptr<Process> process;
    std::span<const std::uint8_t> in;
    std::span<std::uint8_t> out;
    Object *created = nullptr; ///< object that a create command has created
    bool is_pending = false;   ///< the other side of the card has to reply first: the command must be run again

    [[nodiscard]] std::uint64_t get(prm::Field field) const { return prm::get(in, field); }
    [[nodiscard]] std::uint32_t get32(prm::Field field) const { return static_cast<std::uint32_t>(get(field)); }
    void set(prm::Field field, std::uint64_t value) const { prm::set(out, field, value); }
    [[nodiscard]] Card &card() const { return file.card; }

    /// Returns an object of the file by its number, or null.
    template <typename T>
    [[nodiscard]] T *own(prm::Field number) const
    {
        T *found = card().objects.by_number<T>(get32(number));
        return found != nullptr && &found->file == &file ? found : nullptr;
    }
    /// Returns the user memory of the file that covers `bytes` at an offset. Returns null if there is none.
    [[nodiscard]] UserMemory *memory_at(prm::Field id, prm::Field offset, std::uint64_t bytes) const
    {
        auto *memory = card().objects.find<UserMemory>(get32(id), file);
        const std::uint64_t at = get(offset);
        return memory != nullptr && at <= memory->length && bytes <= memory->length - at ? memory : nullptr;
    }
    /// Returns whether the file owns the UAR with this number.
    [[nodiscard]] bool has_page(prm::Field number) const
    {
        return card().objects.find<Uar>(get32(number), file) != nullptr;
    }
};

constexpr std::uint64_t queue_record_bytes = 8; ///< doorbell record of any queue

/// The uverbs method by which a command must arrive. The kernel's driver sorts commands in the same way; a command that
/// arrives by another method is refused.
enum class Method : std::uint8_t { general, create, modify, query };

/// The valid range of a field, both ends included. Part of a CommandLayout.
struct FieldRule {
    prm::Field field;
    std::uint64_t min, max;
};

/// Description of one command, an entry of a constant table. The limits are checked before `run` is called, so that
/// `run` may read every field of an input of `min_in` bytes and set every field of an output of `min_out` bytes.
struct CommandLayout {
    std::uint16_t opcode;
    std::string_view name;
    Method method;
    std::size_t min_in, min_out; ///< minimum sizes of the mailboxes, in bytes
    std::span<const FieldRule> rules;
    prm::Status (*run)(Mailbox &mailbox);
};

/// Checks a command, carries it out, and stores status and syndrome. Returns false if it was refused. The syndrome of a
/// field out of range consists of the opcode and the number of the field's first bit.
bool run_prm_command(Mailbox &mailbox, Method method);
/// Returns whether a PRM command has this name, as used by the fault `refuse`.
bool is_prm_command_name(std::string_view name);

// Implementations of the commands. A create command that does not return `ok` leaves no object behind.
prm::Status prm_query_hca_cap(Mailbox &mailbox);
prm::Status prm_query_hca_vport_context(Mailbox &mailbox);
prm::Status prm_query_esw_functions(Mailbox &mailbox);
prm::Status prm_query_vuid(Mailbox &mailbox);
prm::Status prm_create_mkey(Mailbox &mailbox);
prm::Status prm_allow_other_vhca_access(Mailbox &mailbox);
prm::Status prm_create_general_object(Mailbox &mailbox);
prm::Status prm_create_cq(Mailbox &mailbox);
prm::Status prm_create_qp(Mailbox &mailbox);
prm::Status prm_query_qp(Mailbox &mailbox);
prm::Status prm_create_rmp(Mailbox &mailbox);
prm::Status prm_modify_rmp(Mailbox &mailbox);
prm::Status prm_change_qp_state(Mailbox &mailbox);
prm::Status prm_change_qp(Mailbox &mailbox);
/// Returns all zeros: for queries with results that no program in our tests depends on.
prm::Status prm_return_zeros(Mailbox &mailbox);

} // namespace opendoca::card
