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

#include "../../../base/json.hpp"

namespace opendoca::soft {

/// Reads one JSON object key by key, as untrusted input. The first mistake is logged; afterwards every key reads as
/// missing, so callers check is_good() once at the end. Used on the stack by one thread; the JSON object must outlive
/// the reader.
class ObjectReader {
public:
    /// @p where names the object in messages.
    ObjectReader(json_object *object, std::string where);

    /// Returns the text, or an empty string if the key is missing or its value is wrong; the functions below behave
    /// alike.
    [[nodiscard]] std::string text(const char *key, std::size_t max_length);
    [[nodiscard]] bool flag(const char *key, bool if_missing);
    /// Returns a whole number from 0 to @p most.
    [[nodiscard]] std::optional<std::uint64_t> number(const char *key, std::uint64_t most);
    [[nodiscard]] std::vector<std::string> texts(const char *key, std::size_t max_count);
    /// Returns the value that belongs to the text of @p key. The key is required: a missing or other text is a mistake.
    template <typename Enum>
    [[nodiscard]] Enum choice(const char *key, std::initializer_list<std::pair<const char *, Enum>> choices)
    {
        return choose(key, text(key, 16), choices);
    }
    /// Does the same for an optional key.
    template <typename Enum>
    [[nodiscard]] Enum choice(const char *key, std::initializer_list<std::pair<const char *, Enum>> choices,
                              Enum if_missing)
    {
        const std::string value = text(key, 16);
        return value.empty() ? if_missing : choose(key, value, choices);
    }

    /// Logs a key of the object that no call has read, such as a misspelled one.
    void finish();

    /// Log a mistake, unless one was logged before.
    void report_error(const std::string &what);
    void report_key_error(const char *key, const std::string &what);
    [[nodiscard]] bool is_good() const noexcept { return is_good_; }

private:
    template <typename Enum>
    [[nodiscard]] Enum choose(const char *key, const std::string &value,
                              std::initializer_list<std::pair<const char *, Enum>> choices)
    {
        std::string names;
        for (const auto &[name, result] : choices) {
            if (value == name)
                return result;
            names += (names.empty() ? "\"" : ", \"") + std::string(name) + '"';
        }
        report_key_error(key, "must be one of " + names);
        return choices.begin()->second;
    }

    /// Returns whether the key exists; false after a mistake. Records the key as known, for finish().
    [[nodiscard]] bool find(const char *key, json_object *&value);

    json_object *object_;
    std::string where_;                        ///< names the object in log messages
    std::set<std::string, std::less<>> known_; ///< keys that were read
    bool is_good_ = true;                      ///< no mistake was found
};

} // namespace opendoca::soft
