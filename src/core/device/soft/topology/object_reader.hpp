// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../../json.hpp"

namespace opendoca::soft {

/// Reads one JSON object key by key, as input that is not trusted. The first mistake is logged; after it every key
/// reads as missing. The object must outlive the reader.
class ObjectReader {
public:
    /// @p where names the object in messages.
    ObjectReader(json_object *object, std::string where);

    /// Empty where the key is missing or its value is wrong, as for the others.
    [[nodiscard]] std::string text(const char *key, std::size_t max_length);
    [[nodiscard]] bool flag(const char *key, bool if_missing);
    /// A whole number from 0 to @p most.
    [[nodiscard]] std::optional<std::uint64_t> number(const char *key, std::uint64_t most);
    [[nodiscard]] std::vector<std::string> texts(const char *key, std::size_t max_count);
    template <typename Enum>
    [[nodiscard]] Enum choice(const char *key, std::initializer_list<std::pair<const char *, Enum>> choices)
    {
        const std::string value = text(key, 16);
        std::string names;
        for (const auto &[name, result] : choices) {
            if (value == name)
                return result;
            names += (names.empty() ? "\"" : ", \"") + std::string(name) + '"';
        }
        complain_of(key, "must be one of " + names);
        return choices.begin()->second;
    }

    /// Complains about a key that was not read.
    void finish();

    void complain(const std::string &what);
    void complain_of(const char *key, const std::string &what);
    [[nodiscard]] bool is_good() const noexcept { return is_good_; }

private:
    /// Whether the key is there; false after a complaint.
    [[nodiscard]] bool find(const char *key, json_object *&value);

    json_object *object_;
    std::string where_;
    std::set<std::string, std::less<>> known_;
    bool is_good_ = true;
};

} // namespace opendoca::soft
