// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The command lines of the attacks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace attack {

struct Option {
    std::string name;                              ///< with its dashes
    std::string value;                             ///< what the usage calls it; empty for an option that has none
    std::function<bool(const std::string &)> take; ///< false for what is no value of this option
};

/// An option whose value is any number from 0.
[[nodiscard]] Option number_option(const std::string &name, std::uint64_t &number);
/// One whose value is a word: @p first, which sets @p is_first, or @p second.
[[nodiscard]] Option choice_option(const std::string &name, const std::string &first, const std::string &second,
                                   bool &is_first);

/// Reads the words after the program's name. False, with the usage on stderr, when one is no option or no value of one:
/// the program ends with 2.
[[nodiscard]] bool read_options(std::span<char *const> words, std::span<const Option> options);

} // namespace attack
