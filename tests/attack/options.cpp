// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <system_error>

namespace attack {

Option number_option(const std::string &name, std::uint64_t &number)
{
    return {name, "N", [&number](const std::string &text) {
                const char *const end = text.data() + text.size();
                const auto [stop, error] = std::from_chars(text.data(), end, number);
                return error == std::errc() && stop == end;
            }};
}

Option choice_option(const std::string &name, const std::string &first, const std::string &second, bool &is_first)
{
    return {name, first + "|" + second, [=, &is_first](const std::string &text) {
                is_first = text == first;
                return is_first || text == second;
            }};
}

bool read_options(std::span<char *const> words, std::span<const Option> options)
{
    const auto complain = [&](const std::string &what) {
        std::fprintf(stderr, "%s\nusage: %s", what.c_str(), words.front());
        for (const Option &option : options)
            std::fprintf(stderr, " [%s%s%s]", option.name.c_str(), option.value.empty() ? "" : " ",
                         option.value.c_str());
        std::fputc('\n', stderr);
        return false;
    };
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string word = words[i];
        const auto option = std::ranges::find(options, word, &Option::name);
        if (option == options.end())
            return complain("'" + word + "' is no option");
        if (!option->value.empty() && ++i == words.size())
            return complain(word + " needs a value");
        if (!option->take(words[i]))
            return complain("'" + std::string(words[i]) + "' is no value of " + word);
    }
    return true;
}

} // namespace attack
