// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstdarg>
#include <cstddef>
#include <memory>
#include <string_view>

namespace opendoca {

/// A line of a log: on the stack up to 1 KiB, and on the heap beyond. When there is no memory it is cut and
/// ends in "...".
class LogText {
public:
    /// False when the format cannot be carried out.
    bool vprint(const char *format, va_list arguments) noexcept __attribute__((format(printf, 2, 0)));
    bool print(const char *format, ...) noexcept __attribute__((format(printf, 2, 3)));

    /// One newline at the end, however many there were.
    void end_line() noexcept;

    [[nodiscard]] std::string_view view() const noexcept { return {data(), size_}; }

private:
    [[nodiscard]] const char *data() const noexcept { return heap_ ? heap_.get() : stack_.data(); }
    [[nodiscard]] char *data() noexcept { return heap_ ? heap_.get() : stack_.data(); }
    bool grow(std::size_t capacity) noexcept;

    std::array<char, 1024> stack_;
    std::unique_ptr<char[]> heap_;
    std::size_t capacity_ = stack_.size();
    std::size_t size_ = 0; // always less than the capacity, which leaves room for the newline
};

} // namespace opendoca
