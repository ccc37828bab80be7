// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstdarg>
#include <cstddef>
#include <memory>
#include <string_view>

namespace opendoca {

/// The text of one log line while it is formatted. In the object itself up to 1 KiB, and on the heap beyond. If there
/// is no memory, the text is truncated and ends in "...". Used on the stack of one thread.
class LogText {
public:
    /// Appends formatted text. Returns false if the format is invalid.
    bool vprint(const char *format, va_list arguments) noexcept __attribute__((format(printf, 2, 0)));
    bool print(const char *format, ...) noexcept __attribute__((format(printf, 2, 3)));

    /// Ends the text with exactly one newline.
    void end_line() noexcept;

    [[nodiscard]] std::string_view view() const noexcept { return {data(), size_}; }

private:
    [[nodiscard]] const char *data() const noexcept { return heap_ ? heap_.get() : stack_.data(); }
    [[nodiscard]] char *data() noexcept { return heap_ ? heap_.get() : stack_.data(); }
    bool grow(std::size_t capacity) noexcept;

    std::array<char, 1024> stack_;
    std::unique_ptr<char[]> heap_;         ///< replaces stack_ once it is set
    std::size_t capacity_ = stack_.size(); ///< bytes
    std::size_t size_ = 0;                 ///< bytes; always less than the capacity, which leaves room for the newline
};

} // namespace opendoca
