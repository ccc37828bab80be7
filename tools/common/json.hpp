// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

struct json_object;

namespace opendoca::tools {

/// A JSON value under construction: a scalar, or an object or array to which members are added. Owns one reference to
/// an object of json-c; set() and add() take over the reference of their argument. Move-only, and used by one thread.
class Json {
public:
    Json() noexcept = default; ///< null
    Json(std::same_as<bool> auto value);
    /// The templates keep bool, integers and floating-point numbers apart; otherwise a pointer or an int would convert
    /// to bool. Integers are stored with 64 bits; NaN and infinity become null.
    template <std::integral T>
    requires(!std::same_as<T, bool>) Json(T value) : Json(static_cast<std::int64_t>(value), Number{}) {}
    Json(std::floating_point auto value) : Json(static_cast<double>(value), Number{}) {}
    Json(std::string_view text);
    Json(const std::string &text) : Json(std::string_view(text)) {}
    Json(const char *text) : Json(std::string_view(text)) {}
    /// An empty optional becomes null.
    template <typename T>
    Json(const std::optional<T> &value) : Json(value ? Json(*value) : Json())
    {
    }
    Json(Json &&other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
    Json &operator=(Json &&other) noexcept
    {
        std::swap(value_, other.value_);
        return *this;
    }
    ~Json();

    [[nodiscard]] static Json object();
    [[nodiscard]] static Json array();

    /// Adds a member to an object.
    Json &set(const char *key, Json value);
    /// Adds an element to an array.
    Json &add(Json value);

    /// Returns the indented text, with a line feed at the end.
    [[nodiscard]] std::string text() const;
    /// Returns the array of objects @p key of this object as comma-separated values (RFC 4180): a line of titles, and a
    /// line for each object. A nested value has its path as title, joined by _; elements of arrays are named by their
    /// member "name", or else by their index. Null and missing values are empty.
    [[nodiscard]] std::string csv(const char *key) const;

private:
    struct Number {}; ///< selects the constructors of numbers
    struct Owned {};  ///< selects the constructor that takes over a reference

    Json(std::int64_t value, Number);
    Json(double value, Number);
    Json(json_object *value, Owned) noexcept : value_(value) {}
    [[nodiscard]] static json_object *boolean(bool value);

    json_object *value_ = nullptr;
};

// Defined here, as the template needs a complete class; boolean() hides json-c from users of this header.
Json::Json(std::same_as<bool> auto value) : value_(boolean(value)) {}

} // namespace opendoca::tools
