// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "json_flags.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "dpdk_flags.hpp"
#include "json_value.hpp"
#include "report.hpp"

namespace opendoca::argp {
namespace {

/// The parser of one JSON file: fills in a request. Used on the stack, for one call. The file is untrusted, so each
/// value's type is checked.
class JsonFlags {
public:
    JsonFlags(const FlagSet &flags, const Path &path, bool is_dpdk_program, Request &request)
        : flags_(flags),
          path_(path),
          is_dpdk_program_(is_dpdk_program),
          request_(request)
    {
    }

    [[nodiscard]] doca_error_t parse_section(std::string_view name, json_object *section);

private:
    [[nodiscard]] doca_error_t take_general(std::string_view key, json_object *value);
    [[nodiscard]] doca_error_t take_program(std::string_view key, json_object *value);
    [[nodiscard]] doca_error_t take_value(const doca_argp_param &param, json_object *value);

    const FlagSet &flags_;
    const Path &path_;
    bool is_dpdk_program_;
    Request &request_;
};

/// Logs that a key has a value of the wrong type. Returns INVALID_VALUE.
doca_error_t wrong_value(std::string_view key, const std::string &expected, int line = __builtin_LINE())
{
    return fail(DOCA_ERROR_INVALID_VALUE, "JSON key " + quoted(key) + " needs " + expected, line);
}

/// Logs that a key does not exist. Returns NOT_SUPPORTED.
doca_error_t unknown_key(std::string_view key, const std::string &where, int line = __builtin_LINE())
{
    return fail(DOCA_ERROR_NOT_SUPPORTED, "JSON key " + quoted(key) + " is not known " + where, line);
}

doca_error_t JsonFlags::parse_section(std::string_view name, json_object *section)
{
    const bool is_general = name == "doca_general_flags";
    const bool is_program = name == "doca_program_flags";
    const bool is_dpdk = name == "doca_dpdk_flags";
    if (!is_general && !is_program && !is_dpdk)
        return unknown_key(name, "(doca_general_flags, doca_program_flags and doca_dpdk_flags are)");
    if (!json_object_is_type(section, json_type_object))
        return wrong_value(name, "an object");
    if (is_dpdk && !is_dpdk_program_)
        return unknown_key(name, "to this program, which does not use DPDK");
    return for_each_member(*section, [&](std::string_view key, json_object *value) {
        if (is_general)
            return take_general(key, value);
        return is_program ? take_program(key, value) : append_eal_arguments(key, value, request_.eal);
    });
}

doca_error_t JsonFlags::take_general(std::string_view key, json_object *value)
{
    const Generation &generation = flags_.generation();
    const bool is_sdk = generation.has_sdk_log && key == "sdk-log-level";
    if (key == "log-level" || is_sdk) {
        const std::optional<int> number = int_of(value);
        const std::optional<int> level = number ? to_log_level(generation, *number) : std::nullopt;
        if (!level)
            return wrong_value(key, "one of the numbers " + log_level_numbers(generation));
        (is_sdk ? request_.sdk_log_level : request_.log_level) = level;
        return DOCA_SUCCESS;
    }
    if (key == "grpc-address") {
        if (!flags_.has_grpc_address())
            return unknown_key(key, "to this program, which does not use gRPC");
        request_.grpc_address = text_of(value);
        return request_.grpc_address ? DOCA_SUCCESS : wrong_value(key, "a string");
    }
    return unknown_key(key, "among doca_general_flags");
}

doca_error_t JsonFlags::take_program(std::string_view key, json_object *value)
{
    const doca_argp_param *param = flags_.find_key(path_, key);
    if (param == nullptr)
        return unknown_key(key, "among doca_program_flags");
    if (param->is_cli_only)
        return fail(DOCA_ERROR_INVALID_VALUE,
                    "flag " + param->flags() + " is in the JSON file, but is for the command line only");
    // Without multiplicity an array is no list of values but an error of the type.
    if (!param->has_multiplicity)
        return take_value(*param, value);
    return for_each_element(value, [&](json_object *element) { return take_value(*param, element); });
}

doca_error_t JsonFlags::take_value(const doca_argp_param &param, json_object *value)
{
    switch (param.type) {
    case Type::string:
        if (std::optional<std::string> text = text_of(value)) {
            request_.values.push_back({&param, std::move(*text)});
            return DOCA_SUCCESS;
        }
        return wrong_value(param.long_name, "a string, without a NUL");
    case Type::number:
        if (const std::optional<int> number = int_of(value)) {
            request_.values.push_back({&param, *number});
            return DOCA_SUCCESS;
        }
        return wrong_value(param.long_name, "a whole number in the range of int");
    case Type::boolean:
        if (!json_object_is_type(value, json_type_boolean))
            return wrong_value(param.long_name, "true or false");
        if (json_object_get_boolean(value) != 0)
            request_.values.push_back({&param, true});
        else
            // Explicitly false: satisfies "mandatory", but calls no callback.
            request_.unset.push_back(&param);
        return DOCA_SUCCESS;
    case Type::json:
        if (!json_object_is_type(value, json_type_object) && !json_object_is_type(value, json_type_array))
            return wrong_value(param.long_name, "an object or an array");
        // A share of the object, so that it outlives the document.
        request_.values.push_back({&param, JsonPtr(json_object_get(value))});
        return DOCA_SUCCESS;
    case Type::unknown:
        break;
    }
    return DOCA_ERROR_UNEXPECTED;
}

} // namespace

doca_error_t parse_json_flags(const FlagSet &flags, const Path &path, bool is_dpdk_program, json_object &root,
                              Request &request)
{
    JsonFlags reader(flags, path, is_dpdk_program, request);
    return for_each_member(
        root, [&](std::string_view name, json_object *section) { return reader.parse_section(name, section); });
}

} // namespace opendoca::argp
