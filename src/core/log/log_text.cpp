// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "log_text.hpp"

#include <cstdio>
#include <cstring>
#include <new>

namespace opendoca {

bool LogText::vprint(const char *format, va_list arguments) noexcept
{
    // The first attempt shows the length. If the text does not fit, it is formatted again in a larger buffer.
    va_list again;
    va_copy(again, arguments);
    int length = std::vsnprintf(data() + size_, capacity_ - size_, format, arguments);
    if (length >= 0 && size_ + static_cast<std::size_t>(length) >= capacity_) {
        if (grow(size_ + static_cast<std::size_t>(length) + 1)) {
            length = std::vsnprintf(data() + size_, capacity_ - size_, format, again);
        } else {
            // Truncated: the end of the text, before the NUL, shows it.
            std::memcpy(data() + capacity_ - 4, "...", 3);
            length = static_cast<int>(capacity_ - size_ - 1);
        }
    }
    va_end(again);
    if (length < 0)
        return false;
    size_ += static_cast<std::size_t>(length);
    return true;
}

bool LogText::print(const char *format, ...) noexcept
{
    va_list arguments;
    va_start(arguments, format);
    const bool is_printed = vprint(format, arguments);
    va_end(arguments);
    return is_printed;
}

void LogText::end_line() noexcept
{
    // Programs often end their messages with newlines.
    while (size_ > 0 && data()[size_ - 1] == '\n')
        size_--;
    data()[size_++] = '\n';
}

bool LogText::grow(std::size_t capacity) noexcept
{
    std::unique_ptr<char[]> larger{new (std::nothrow) char[capacity]};
    if (!larger)
        return false;
    // The old heap memory, if any, is freed by the assignment, after the copy.
    std::memcpy(larger.get(), data(), size_);
    heap_ = std::move(larger);
    capacity_ = capacity;
    return true;
}

} // namespace opendoca
