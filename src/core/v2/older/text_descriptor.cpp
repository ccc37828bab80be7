// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "text_descriptor.hpp"

#include <string_view>

namespace opendoca::v2 {

namespace {

constexpr std::string_view begin = R"({"opendoca_mmap":")";
constexpr std::string_view end = R"("})";
constexpr std::string_view digits = "0123456789abcdef";

} // namespace

std::string to_text_descriptor(std::span<const std::byte> descriptor)
{
    std::string text(begin);
    for (const std::byte byte : descriptor) {
        const auto value = std::to_integer<unsigned>(byte);
        text += digits[value >> 4];
        text += digits[value & 0xf];
    }
    return text.append(end);
}

std::vector<std::byte> from_text_descriptor(std::span<const std::byte> bytes)
{
    std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    text = text.substr(0, text.find('\0'));
    if (!text.starts_with(begin) || !text.ends_with(end) || text.size() < begin.size() + end.size())
        return {};
    text.remove_prefix(begin.size());
    text.remove_suffix(end.size());
    std::vector<std::byte> descriptor;
    descriptor.reserve(text.size() / 2);
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        const std::size_t upper = digits.find(text[i]);
        const std::size_t lower = digits.find(text[i + 1]);
        if (upper == digits.npos || lower == digits.npos)
            return {};
        descriptor.push_back(static_cast<std::byte>(upper << 4 | lower));
    }
    return text.size() % 2 == 0 ? descriptor : std::vector<std::byte>{};
}

} // namespace opendoca::v2
