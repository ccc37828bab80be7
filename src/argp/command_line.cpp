// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "command_line.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "report.hpp"

namespace opendoca::argp {
namespace {

/// The parser of one command line: reads the words in order and fills in a request. Used on the stack, for one call.
class CommandLine {
public:
    CommandLine(const FlagSet &flags, std::span<char *const> words, Request &request)
        : flags_(flags),
          words_(words),
          request_(request)
    {
    }

    [[nodiscard]] doca_error_t parse();

private:
    // Parse one word; the next one as well if it is a flag's value.
    [[nodiscard]] doca_error_t parse_flag(std::string_view word);
    [[nodiscard]] FoundFlag find_long(std::string_view word);
    [[nodiscard]] doca_error_t take_command(std::string_view word);
    /// Logs that the word is neither a flag nor a command. Returns NOT_SUPPORTED.
    [[nodiscard]] static doca_error_t not_a_flag(std::string_view word);
    // Store the flag's value in the request. Each flag is accepted once, unless it may be repeated.
    [[nodiscard]] doca_error_t take_param(const doca_argp_param &param);
    [[nodiscard]] doca_error_t take_general(GeneralFlag flag);
    [[nodiscard]] doca_error_t take_log_level(std::optional<int> &out);
    [[nodiscard]] doca_error_t take_once(std::optional<std::string> &out);
    [[nodiscard]] doca_error_t take_value(std::string_view &out);
    [[nodiscard]] doca_error_t take_no_value() const;
    [[nodiscard]] doca_error_t given_twice() const;

    const FlagSet &flags_;
    std::span<char *const> words_; ///< all words of the command line
    Request &request_;
    std::size_t next_ = 0;                     ///< index of the next word
    std::string flag_;                         ///< the current flag with its dashes, for messages
    std::optional<std::string_view> attached_; ///< the text after its '='
};

doca_error_t CommandLine::parse()
{
    // Help and version end the parsing: what follows may be incomplete.
    while (next_ < words_.size() && request_.action == Request::Action::run) {
        const std::string_view word = words_[next_++];
        if (word == "--") // the end of the flags
            return next_ == words_.size() ? DOCA_SUCCESS : not_a_flag(words_[next_]);
        // A single dash is an ordinary word, by convention the standard input.
        const bool is_flag = word.starts_with('-') && word != "-";
        if (const doca_error_t result = is_flag ? parse_flag(word) : take_command(word); result != DOCA_SUCCESS)
            return result;
    }
    return DOCA_SUCCESS;
}

doca_error_t CommandLine::parse_flag(std::string_view word)
{
    attached_.reset();
    const FoundFlag found = word.starts_with("--") ? find_long(word) : flags_.find_short(request_.path, word.substr(1));
    flag_ = word;
    if (attached_)
        // For "name=value" messages show the name alone.
        flag_.resize(word.size() - attached_->size() - 1);
    if (found.param != nullptr)
        return take_param(*found.param);
    if (found.general != nullptr)
        return take_general(found.general->flag);
    return fail(DOCA_ERROR_NOT_SUPPORTED, "flag " + quoted(flag_) + " is not known");
}

/// Splits "name=value". Names may contain '=': the value follows the first '=' before which a registered name ends.
FoundFlag CommandLine::find_long(std::string_view word)
{
    FoundFlag found = flags_.find_long(request_.path, word.substr(2));
    for (std::size_t equals = word.find('='); !found.is_found() && equals != word.npos;
         equals = word.find('=', equals + 1)) {
        found = flags_.find_long(request_.path, word.substr(2, equals - 2));
        if (found.is_found())
            attached_ = word.substr(equals + 1);
    }
    return found;
}

doca_error_t CommandLine::take_command(std::string_view word)
{
    const Level &level = flags_.level(request_.path, request_.path.size());
    if (level.commands().empty())
        return not_a_flag(word);
    const doca_argp_cmd *const command = level.find_command(word);
    if (command == nullptr)
        return fail(DOCA_ERROR_NOT_SUPPORTED, "command " + quoted(word) + " is not known");
    request_.path.push_back(command);
    // The position among the values decides when the command's callback is called.
    request_.commands.push_back({command, request_.values.size()});
    return DOCA_SUCCESS;
}

doca_error_t CommandLine::not_a_flag(std::string_view word)
{
    return fail(DOCA_ERROR_NOT_SUPPORTED, "argument " + quoted(word) + " is not a flag");
}

doca_error_t CommandLine::take_param(const doca_argp_param &param)
{
    if (param.type == Type::json)
        return fail(DOCA_ERROR_INVALID_VALUE, "flag " + flag_ + " can be given in a JSON file only");
    if (!param.has_multiplicity && request_.mentions(&param))
        return given_twice();
    // A flag without a value is true; false cannot be given on the command line.
    if (param.type == Type::boolean) {
        if (const doca_error_t result = take_no_value(); result != DOCA_SUCCESS)
            return result;
        request_.values.push_back({&param, true});
        return DOCA_SUCCESS;
    }
    std::string_view text;
    if (const doca_error_t result = take_value(text); result != DOCA_SUCCESS)
        return result;
    if (param.type == Type::string) {
        request_.values.push_back({&param, std::string(text)});
        return DOCA_SUCCESS;
    }
    const std::optional<int> number = parse_int(text);
    if (!number)
        return fail(DOCA_ERROR_INVALID_VALUE,
                    "flag " + flag_ + ": " + quoted(text) + " is not a whole number in the range of int");
    request_.values.push_back({&param, *number});
    return DOCA_SUCCESS;
}

doca_error_t CommandLine::take_general(GeneralFlag flag)
{
    switch (flag) {
    case GeneralFlag::help:
    case GeneralFlag::version:
        request_.action = flag == GeneralFlag::help ? Request::Action::help : Request::Action::version;
        return take_no_value();
    case GeneralFlag::log_level:
        return take_log_level(request_.log_level);
    case GeneralFlag::sdk_log_level:
        return take_log_level(request_.sdk_log_level);
    case GeneralFlag::json:
        return take_once(request_.json_path);
    case GeneralFlag::grpc_address:
        return take_once(request_.grpc_address);
    }
    return DOCA_ERROR_UNEXPECTED;
}

doca_error_t CommandLine::take_log_level(std::optional<int> &out)
{
    if (out)
        return given_twice();
    std::string_view text;
    if (const doca_error_t result = take_value(text); result != DOCA_SUCCESS)
        return result;
    const std::optional<int> number = parse_int(text);
    const std::optional<int> level = number ? to_log_level(flags_.generation(), *number) : std::nullopt;
    if (!level)
        return fail(DOCA_ERROR_INVALID_VALUE,
                    "flag " + flag_ + ": " + quoted(text) + " is not one of " + log_level_numbers(flags_.generation()));
    out = level;
    return DOCA_SUCCESS;
}

doca_error_t CommandLine::take_once(std::optional<std::string> &out)
{
    if (out)
        return given_twice();
    std::string_view text;
    if (const doca_error_t result = take_value(text); result != DOCA_SUCCESS)
        return result;
    out = text;
    return DOCA_SUCCESS;
}

/// The text after '=', or else the next word, whatever it looks like: it may be a negative number.
doca_error_t CommandLine::take_value(std::string_view &out)
{
    if (!attached_ && next_ == words_.size())
        return fail(DOCA_ERROR_INVALID_VALUE, "flag " + flag_ + " needs a value");
    out = attached_ ? *attached_ : std::string_view(words_[next_++]);
    return DOCA_SUCCESS;
}

doca_error_t CommandLine::take_no_value() const
{
    if (attached_)
        return fail(DOCA_ERROR_INVALID_VALUE, "flag " + flag_ + " takes no value, but has " + quoted(*attached_));
    return DOCA_SUCCESS;
}

doca_error_t CommandLine::given_twice() const
{
    return fail(DOCA_ERROR_INVALID_VALUE, "flag " + flag_ + " is given more than once");
}

} // namespace

doca_error_t parse_command_line(const FlagSet &flags, std::span<char *const> words, Request &request)
{
    return CommandLine(flags, words, request).parse();
}

} // namespace opendoca::argp
