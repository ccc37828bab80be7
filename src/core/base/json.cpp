// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "json.hpp"

#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace opendoca {

namespace {

constexpr std::size_t max_depth = 32; ///< of arrays and objects

/// Builds objects of json-c from the parser's events. The function names are prescribed by nlohmann-json. A handler
/// that returns false ends the parsing. Invariant: open_ and keys_ have one element for each array or object that was
/// started and not ended. Each value is owned by its parent as soon as it is added.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
public:
    Builder(JsonPtr &root, JsonError &error) noexcept : root_(root), error_(error) {}

    bool null() override
    {
        add(JsonPtr());
        return true;
    }
    bool boolean(bool value) override { return add_made(json_object_new_boolean(value)); }
    bool number_integer(std::int64_t value) override { return add_made(json_object_new_int64(value)); }
    bool number_unsigned(std::uint64_t value) override { return add_made(json_object_new_uint64(value)); }
    bool number_float(double value, const std::string &) override { return add_made(json_object_new_double(value)); }
    bool string(std::string &value) override
    {
        return add_made(json_object_new_string_len(value.data(), static_cast<int>(value.size())));
    }
    bool binary(nlohmann::json::binary_t &) override { return false; } // does not occur in text

    bool start_object(std::size_t) override { return open(json_object_new_object()); }
    bool key(std::string &value) override
    {
        keys_.back() = std::move(value);
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(json_object_new_array()); }
    bool end_array() override { return close(); }

    bool parse_error(std::size_t position, const std::string &, const nlohmann::json::exception &exception) override
    {
        // "[kind] parse error at line 1, column 2: reason": only the reason is used.
        const std::string_view what = exception.what();
        const std::size_t begin = what.find(what.find(": ") != what.npos ? ": " : "] ");
        return fail(position, std::string(begin == what.npos ? what : what.substr(begin + 2)));
    }

    [[nodiscard]] bool is_too_deep() const noexcept { return is_too_deep_; }

private:
    bool fail(std::size_t offset, std::string what)
    {
        error_ = {offset, std::move(what)};
        return false;
    }
    /// Adds a value that json-c has created; null if it had no memory.
    bool add_made(json_object *made)
    {
        if (made == nullptr)
            throw std::bad_alloc();
        add(JsonPtr(made));
        return true;
    }
    /// Adds @p value to the innermost array or object, or sets the root.
    void add(JsonPtr value)
    {
        if (open_.empty()) {
            root_ = std::move(value);
            return;
        }
        json_object *const parent = open_.back();
        const int status = json_object_is_type(parent, json_type_array)
                               ? json_object_array_add(parent, value.get())
                               : json_object_object_add(parent, keys_.back().c_str(), value.get());
        if (status != 0)
            throw std::bad_alloc();
        (void)value.release(); // the parent owns it, but only after a success
    }
    /// Adds an array or object, and makes it the innermost one.
    bool open(json_object *made)
    {
        JsonPtr owned(made);
        if (made == nullptr)
            throw std::bad_alloc();
        if (open_.size() == max_depth) {
            is_too_deep_ = true;
            return false;
        }
        add(std::move(owned));
        open_.push_back(made);
        keys_.emplace_back();
        return true;
    }
    bool close()
    {
        open_.pop_back();
        keys_.pop_back();
        return true;
    }

    JsonPtr &root_;
    JsonError &error_;
    std::vector<json_object *> open_; ///< the arrays and objects that contain the next value, from the root on
    std::vector<std::string> keys_;   ///< for each of them, the last key
    bool is_too_deep_ = false;
};

} // namespace

bool read_json(std::string_view text, JsonPtr &value, JsonError &error)
{
    JsonPtr root;
    Builder builder(root, error);
    if (!nlohmann::json::sax_parse(text, &builder)) {
        if (builder.is_too_deep())
            // append() and not "+": g++ 12 warns of the temporary at -O3 (GCC bug 105329).
            error = {text.size(), std::string("it is nested more than ").append(std::to_string(max_depth)) + " deep"};
        return false;
    }
    value = std::move(root);
    return true;
}

} // namespace opendoca
