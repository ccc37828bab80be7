// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages between a program (through the preloaded library) and the card's process. Each request gets one reply. A
// request carries one end of a socket pair (SCM_RIGHTS), and the reply is sent to that end, so any number of threads
// and processes may share one uverbs descriptor.
#pragma once

#include <cstdint>

namespace opendoca::card {

/// Device numbers that the card's uverbs devices report, as the kernel assigns them.
inline constexpr unsigned uverbs_major = 231;
inline constexpr unsigned uverbs_minor = 192;

/// Device numbers of rdma_cm, a device of the kernel's class "misc".
inline constexpr unsigned rdma_cm_major = 10;
inline constexpr unsigned rdma_cm_minor = 122;

/// Names the folder of one side of a card: sys/ (a sysfs tree), dev/uverbsN (a socket for each function) and
/// dev/rdma_cm.
inline constexpr char side_variable[] = "OPENDOCA_CARD_SIDE";
/// Names the control socket, which accepts requests for faults.
inline constexpr char control_variable[] = "OPENDOCA_CARD_CONTROL";
/// "classic" if devices must not have the extended calls (ibv_create_cq_ex() and others).
inline constexpr char calls_variable[] = "OPENDOCA_CARD_CALLS";

/// The first request of a program passes the address of a word with this value. The card reads the word to verify that
/// it can read the memory of the right process.
inline constexpr std::uint64_t hello_word = 0x6f70656e646f6361;

/// Types of requests, with the meaning of the operands a, b and c of Request.
enum class RequestType : std::uint32_t {
    hello = 1, ///< a: address of a hello_word, b: number of the descriptor in the program
    ioctl,     ///< a: address of the ioctl's header
    /// a: address of the mapped pages, b: their length, c: the file offset; may carry a userfaultfd. If the reply has a
    /// descriptor, which is stored at `a`, this file must be mapped in place of the pages.
    map,
    rdma_cm, ///< a: address of a command of rdma_cm, b: the length that the program wrote
};

/// Sent by the preloaded library, as one message, with the sender's credentials attached by the kernel. Addresses are
/// in the sender's memory; the card uses them only through that process, so a wrong one cannot reach the card's own
/// memory. The members leave no padding, so that no uninitialised byte is sent.
struct Request {
    RequestType type;
    std::uint32_t reserved;
    std::uint64_t a, b, c;
};

/// Address in the program's memory where the preloaded library stores the number of a descriptor that came with a
/// reply. The card cannot store it: the kernel assigns the number when the program receives the message.
struct DescriptorSlot {
    std::uint64_t address;
    std::uint32_t size; ///< 4 or 8 bytes
    std::uint32_t reserved;
};

/// Sent by the card to the socket that came with the request, one for each well-formed request, with at most
/// one descriptor attached.
struct Reply {
    std::int32_t error;        ///< an errno, or 0
    std::uint32_t descriptors; ///< number of attached descriptors: 0 or 1
    DescriptorSlot slot[1];
    /// rdma_cm: while events wait, the card keeps one byte, the mark, in the program's socket, so that the descriptor
    /// is readable. If this is 1, no event is left and the preloaded library removes the mark.
    std::uint32_t takes_mark;
    std::int32_t mark_descriptor; ///< the descriptor to remove the mark from; -1: that of the request
    /// With EAGAIN: the program's descriptor that the request refers to, which the preloaded library has to attach to
    /// it and to send it again.
    std::int32_t wanted_descriptor;
    std::int32_t reserved;
};

} // namespace opendoca::card
