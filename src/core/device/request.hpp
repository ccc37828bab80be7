// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// An RDMA operation as front ends describe it, TransferCheck validates it, and QueuePair::post() executes it.
#pragma once

#include <cstddef>
#include <cstdint>

struct doca_buf;

namespace opendoca {

class MemoryKey;

/// The RDMA operations. A provider also stores it with each operation in flight. The order is that of tables in
/// providers, which are checked by static_assert.
enum class Opcode : std::uint8_t {
    send,
    send_with_immediate,
    write,
    write_with_immediate,
    read,
    compare_and_swap,
    fetch_and_add,
    receive, ///< posted by QueuePair::receive() or ReceiveQueue::receive(), never by post()
};

[[nodiscard]] constexpr bool is_write(Opcode opcode) noexcept
{
    return opcode == Opcode::write || opcode == Opcode::write_with_immediate;
}
[[nodiscard]] constexpr bool is_atomic(Opcode opcode) noexcept
{
    return opcode == Opcode::compare_and_swap || opcode == Opcode::fetch_and_add;
}
[[nodiscard]] constexpr bool has_immediate(Opcode opcode) noexcept
{
    return opcode == Opcode::send_with_immediate || opcode == Opcode::write_with_immediate;
}

/// Returns the name of @p opcode in log messages.
[[nodiscard]] constexpr const char *name_of(Opcode opcode) noexcept
{
    constexpr const char *names[] = {"send", "send with immediate", "write",         "write with immediate",
                                     "read", "compare and swap",    "fetch and add", "receive"};
    static_assert(sizeof(names) / sizeof(*names) == static_cast<std::size_t>(Opcode::receive) + 1);
    return names[static_cast<std::size_t>(opcode)];
}

/// What TransferCheck has found out about the local side of an operation. Passed in a register.
struct TransferPlan {
    std::uint32_t length; ///< bytes to be moved; of a receive, the most that it takes
    bool is_list;         ///< the local side has more than one buffer
    bool overwrites;      ///< the destination has no tailroom at all and counts as empty

    /// Returns the plan of an operation with one buffer, which it appends to if it writes to it.
    [[nodiscard]] static TransferPlan single_sge(std::size_t bytes) noexcept
    {
        return {static_cast<std::uint32_t>(bytes), false, false};
    }
};

/// One operation of a queue pair's send queue. The front end sets the opcode and its operands; TransferCheck sets
/// `plan` and `remote_key`. Valid during the call only: a queue pair copies what it needs later.
struct Request {
    Opcode opcode;
    TransferPlan plan;       ///< all 0 for an atomic
    std::uint32_t immediate; ///< big endian; not set if the opcode has none
    /// List of the data to send or write, or of what a read writes to; of an atomic, the buffer to whose data section
    /// the old value of the remote word is written. Data that is only read is not const, since this member is the
    /// destination of a read too. May be null if no bytes are moved.
    doca_buf *local;
    doca_buf *remote;      ///< one buffer of the peer's memory; null for a send; not to be used if no bytes are moved
    MemoryKey *remote_key; ///< the key of `remote`; null for a send, may be null if no bytes are moved
    std::uint64_t operand; ///< of an atomic: the value to add or to swap in; not set for other opcodes
    std::uint64_t compare; ///< of a compare and swap: the value to compare with; not set for other opcodes
};

} // namespace opendoca
