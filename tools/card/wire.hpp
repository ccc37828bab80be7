// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages between a program (its preloaded library) and the card. One request, one reply. The reply travels
// on a socket that the request itself carried, so any number of threads and processes may share one uverbs
// descriptor.
#pragma once

#include <cstdint>

namespace opendoca::card {

inline constexpr unsigned uverbs_major = 231;
inline constexpr unsigned uverbs_minor = 192;

/// Names the folder of one side of a card: sys/ (a sysfs tree) and dev/uverbsN (a socket for each function).
inline constexpr char side_variable[] = "OPENDOCA_CARD_SIDE";
/// Names the socket that faults are asked for at.
inline constexpr char control_variable[] = "OPENDOCA_CARD_CONTROL";
/// "classic" where devices are to have no extended calls.
inline constexpr char calls_variable[] = "OPENDOCA_CARD_CALLS";

/// A word of the program's memory at this value shows that the card reads the right memory.
inline constexpr std::uint64_t hello_word = 0x6f70656e646f6361;

enum class RequestType : std::uint32_t {
    hello = 1, ///< a: address of a hello_word
    ioctl,     ///< a: address of the ioctl's header
    map, ///< a: address of the mapped pages, b: their length, c: the file offset; may carry a userfaultfd
};

struct Request {
    RequestType type;
    std::uint32_t reserved;
    std::uint64_t a, b, c;
};

/// Where the number of a received descriptor is stored in the program's memory.
struct DescriptorSlot {
    std::uint64_t address;
    std::uint32_t size; ///< 4 or 8 bytes
    std::uint32_t reserved;
};

struct Reply {
    std::int32_t error; ///< an errno, or 0
    std::uint32_t descriptors;
    DescriptorSlot slot[1];
};

} // namespace opendoca::card
