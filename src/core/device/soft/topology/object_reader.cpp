// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "object_reader.hpp"

#include "../../../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_TOPOLOGY);

namespace opendoca::soft {

namespace {

constexpr std::size_t max_shown = 40; ///< characters of a wrong value in a log message

} // namespace

ObjectReader::ObjectReader(json_object *object, std::string where) : object_(object), where_(std::move(where))
{
    if (!json_object_is_type(object, json_type_object))
        report_error("must be an object");
}

std::string ObjectReader::text(const char *key, std::size_t max_length)
{
    json_object *value = nullptr;
    if (!find(key, value))
        return {};
    if (!json_object_is_type(value, json_type_string)) {
        report_key_error(key, "must be a string");
        return {};
    }
    // The length is taken from the library, so that a NUL inside of the text is found.
    std::string result(json_object_get_string(value), static_cast<std::size_t>(json_object_get_string_len(value)));
    if (result.empty() || result.size() > max_length || result.find('\0') != std::string::npos) {
        report_key_error(key, "must have 1 to " + std::to_string(max_length) + " characters");
        return {};
    }
    return result;
}

bool ObjectReader::flag(const char *key, bool if_missing)
{
    json_object *value = nullptr;
    if (!find(key, value))
        return if_missing;
    if (!json_object_is_type(value, json_type_boolean))
        report_key_error(key, "must be true or false");
    return json_object_get_boolean(value) != 0;
}

std::optional<std::uint64_t> ObjectReader::number(const char *key, std::uint64_t most)
{
    json_object *value = nullptr;
    if (!find(key, value))
        return std::nullopt;
    const bool is_integer = json_object_is_type(value, json_type_int);
    const std::int64_t number = is_integer ? json_object_get_int64(value) : -1;
    if (number < 0 || static_cast<std::uint64_t>(number) > most) {
        report_key_error(key, "must be a whole number from 0 to " + std::to_string(most) + ", and is " +
                                  std::string(json_object_to_json_string(value)).substr(0, max_shown));
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(number);
}

std::vector<std::string> ObjectReader::texts(const char *key, std::size_t max_count)
{
    json_object *value = nullptr;
    if (!find(key, value))
        return {};
    std::vector<std::string> result;
    bool is_good = json_object_is_type(value, json_type_array) && json_object_array_length(value) <= max_count;
    for (std::size_t i = 0; is_good && i < json_object_array_length(value); ++i) {
        json_object *const element = json_object_array_get_idx(value, i);
        is_good = json_object_is_type(element, json_type_string);
        if (is_good)
            result.emplace_back(json_object_get_string(element));
    }
    if (!is_good)
        report_key_error(key, "must be an array of at most " + std::to_string(max_count) + " strings");
    return result;
}

void ObjectReader::finish()
{
    if (!is_good_)
        return;
    json_object_object_foreach(object_, key, value)
    {
        (void)value;
        if (!known_.contains(key))
            report_key_error(key, "is not known");
    }
}

void ObjectReader::report_error(const std::string &what)
{
    if (is_good_)
        LOG_ERR("%s: %s", where_.c_str(), what.c_str());
    is_good_ = false;
}

void ObjectReader::report_key_error(const char *key, const std::string &what)
{
    if (is_good_)
        LOG_ERR("%s: \"%s\" %s", where_.c_str(), key, what.c_str());
    is_good_ = false;
}

bool ObjectReader::find(const char *key, json_object *&value)
{
    known_.insert(key);
    return is_good_ && json_object_object_get_ex(object_, key, &value);
}

} // namespace opendoca::soft
