// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What tests of both generations compress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace doca_test {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(const std::string &text)
{
    Bytes bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

/// Bytes that compress about as well as text does.
inline Bytes text_of(std::size_t length, std::uint32_t seed = 1)
{
    const char *const words[] = {"buffer ", "the ", "of ",          "DEFLATE ", "queue\n",
                                 "memory ", "0x",   "completion, ", "a "};
    std::string text;
    while (text.size() < length) {
        seed = seed * 1664525 + 1013904223;
        text += (seed >> 28) < 9 ? words[seed >> 28] : std::to_string(seed >> 12);
    }
    text.resize(length);
    return bytes_of(text);
}

inline Bytes noise_of(std::size_t length, std::uint32_t seed = 1)
{
    Bytes bytes(length);
    for (std::byte &byte : bytes)
        byte = static_cast<std::byte>((seed = seed * 1664525 + 1013904223) >> 24);
    return bytes;
}

} // namespace doca_test
