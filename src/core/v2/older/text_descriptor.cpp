// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "text_descriptor.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace opendoca::v2 {

namespace {

constexpr std::string_view descriptor_name = "opendoca_mmap";
constexpr std::string_view digits = "0123456789abcdef";

/// Reads the members of one JSON object from untrusted text. Each function returns nothing, or false, if the text is
/// something else. Refers to the text; used on the stack.
class ObjectReader {
public:
    explicit ObjectReader(std::string_view text) noexcept : left_(text) {}

    /// Skips white space, then the character if it is next.
    [[nodiscard]] bool take(char wanted) noexcept
    {
        left_.remove_prefix(std::min(left_.find_first_not_of(" \t\r\n"), left_.size()));
        if (!left_.starts_with(wanted))
            return false;
        left_.remove_prefix(1);
        return true;
    }

    /// Takes a string without escapes: no name and no value of ours has any.
    [[nodiscard]] std::optional<std::string_view> take_string() noexcept
    {
        return take('"') ? take_before('"') : std::nullopt;
    }

    /// Takes a string or a number, and returns its text.
    [[nodiscard]] std::optional<std::string_view> take_value() noexcept
    {
        if (const auto string = take_string())
            return string;
        const std::string_view number = left_.substr(0, left_.find_first_not_of("+-.0123456789eE"));
        left_.remove_prefix(number.size());
        return number.empty() ? std::nullopt : std::optional(number);
    }

    [[nodiscard]] bool is_at_end() noexcept
    {
        (void)take('\0'); // skips white space
        return left_.empty();
    }

private:
    [[nodiscard]] std::optional<std::string_view> take_before(char end) noexcept
    {
        const std::size_t length = left_.find(end);
        if (length == left_.npos)
            return std::nullopt;
        const std::string_view text = left_.substr(0, length);
        left_.remove_prefix(length + 1);
        return text;
    }

    std::string_view left_;
};

/// Returns the value of the member with the descriptor; nothing if there are none or several.
std::optional<std::string_view> find_descriptor(std::string_view text)
{
    ObjectReader object(text);
    if (!object.take('{'))
        return std::nullopt;
    std::optional<std::string_view> found;
    do {
        const auto name = object.take_string();
        if (!name || !object.take(':'))
            return std::nullopt;
        const auto value = object.take_value();
        if (!value || (found && name == descriptor_name))
            return std::nullopt;
        if (name == descriptor_name)
            found = value;
    } while (object.take(','));
    return object.take('}') && object.is_at_end() ? found : std::nullopt;
}

} // namespace

std::string to_text_descriptor(std::span<const std::byte> descriptor, const MemoryRange &range)
{
    // No white space: programs also read the numbers by scanf(), and all formats match text without it.
    std::string text = "{\"addr\":" + std::to_string(reinterpret_cast<std::uintptr_t>(range.addr)) +
                       ",\"len\":" + std::to_string(range.len) + ",\"";
    text.append(descriptor_name).append("\":\"");
    for (const std::byte byte : descriptor) {
        const auto value = std::to_integer<unsigned>(byte);
        text += digits[value >> 4];
        text += digits[value & 0xf];
    }
    return text.append("\"}");
}

std::vector<std::byte> from_text_descriptor(std::span<const std::byte> bytes)
{
    const std::string_view all(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    const auto text = find_descriptor(all.substr(0, all.find('\0')));
    // Two digits for each byte.
    if (!text || text->size() % 2 != 0)
        return {};
    std::vector<std::byte> descriptor;
    descriptor.reserve(text->size() / 2);
    for (std::size_t i = 0; i < text->size(); i += 2) {
        const std::size_t upper = digits.find((*text)[i]);
        const std::size_t lower = digits.find((*text)[i + 1]);
        if (upper == digits.npos || lower == digits.npos)
            return {};
        descriptor.push_back(static_cast<std::byte>(upper << 4 | lower));
    }
    return descriptor;
}

} // namespace opendoca::v2
