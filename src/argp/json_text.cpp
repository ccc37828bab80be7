// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "json_text.hpp"

#include <algorithm>

namespace opendoca::argp {
namespace {

/// Limits the memory of the parsed document: json-c takes up to about 1 KiB for a value, however short.
constexpr std::size_t max_values = 262144;

/// One pass over a text that overwrites what JSON does not allow. Distinguishes strings, comments and other characters;
/// it does not validate, which json-c does afterwards. Used on the stack, for one call.
class StrictJson {
public:
    explicit StrictJson(std::string &text) : text_(text) {}

    [[nodiscard]] std::optional<JsonTextError> run();

private:
    [[nodiscard]] bool is_at(std::string_view what) const
    {
        return std::string_view(text_).substr(at_).starts_with(what);
    }
    /// Processes one comment, string or character. Returns an error if there is one.
    [[nodiscard]] std::optional<JsonTextError> step();
    [[nodiscard]] bool skip_comment();
    void skip_string();
    /// Overwrites [@p begin, @p end), except line ends, with blanks.
    void blank(std::size_t begin, std::size_t end);

    std::string &text_;
    std::size_t at_ = 0;       ///< position of the next character
    std::size_t values_ = 1;   ///< values so far: one more than commas and opening brackets
    char last_ = '[';          ///< the last character outside of blanks and comments; '"' for a string
    char before_comma_ = '[';  ///< the value of last_ before the last comma
    std::size_t comma_at_ = 0; ///< position of the last comma
};

std::optional<JsonTextError> StrictJson::run()
{
    if (is_at("\xef\xbb\xbf"))
        blank(0, 3);
    if (const std::size_t nul = text_.find('\0'); nul != text_.npos)
        return JsonTextError{line_of(text_, nul), "a NUL byte"};
    while (at_ < text_.size()) {
        if (std::optional<JsonTextError> error = step())
            return error;
    }
    // Removes blanks at the end, which are text behind the document to json-c.
    text_.erase(text_.find_last_not_of(" \t\r\n") + 1);
    return std::nullopt;
}

std::optional<JsonTextError> StrictJson::step()
{
    const std::size_t begin = at_;
    const char c = text_[at_];
    if (is_at("//") || is_at("/*")) {
        if (!skip_comment())
            return JsonTextError{line_of(text_, begin), "a comment without an end"};
        return std::nullopt;
    }
    if (c == '"')
        skip_string();
    else
        ++at_;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
        return std::nullopt;

    if (c == ',') {
        before_comma_ = last_;
        comma_at_ = begin;
    }
    // A comma before a closing bracket is removed only if a value precedes it: [,] stays an error.
    const bool is_closing = c == ']' || c == '}';
    const bool had_value = before_comma_ != '[' && before_comma_ != '{' && before_comma_ != ',';
    if (is_closing && last_ == ',' && had_value)
        blank(comma_at_, comma_at_ + 1);
    if ((c == ',' || c == '[' || c == '{') && ++values_ > max_values)
        return JsonTextError{line_of(text_, begin), "more than " + std::to_string(max_values) + " values"};
    last_ = c;
    return std::nullopt;
}

/// Skips a comment. Returns false if the text ends before the comment does.
bool StrictJson::skip_comment()
{
    const std::size_t begin = at_;
    const bool is_line = is_at("//");
    const std::size_t end = text_.find(is_line ? "\n" : "*/", begin + 2);
    if (end == text_.npos && !is_line)
        return false;
    at_ = end == text_.npos ? text_.size() : end + (is_line ? 0 : 2);
    blank(begin, at_);
    return true;
}

void StrictJson::skip_string()
{
    // A backslash escapes the next character, which may be a quote.
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\')
            ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
}

void StrictJson::blank(std::size_t begin, std::size_t end)
{
    const auto first = text_.begin();
    std::replace_if(
        first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end),
        [](char c) { return c != '\n'; }, ' ');
}

} // namespace

std::optional<JsonTextError> make_strict_json(std::string &text)
{
    return StrictJson(text).run();
}

std::size_t line_of(std::string_view text, std::size_t offset)
{
    const std::string_view before = text.substr(0, offset);
    return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

} // namespace opendoca::argp
