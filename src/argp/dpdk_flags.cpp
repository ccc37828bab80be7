// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dpdk_flags.hpp"

#include <optional>
#include <sstream>

#include "json_value.hpp"
#include "report.hpp"

namespace opendoca::argp {
namespace {

/// Returns a string, number or boolean as text for DPDK's command line.
std::optional<std::string> word_of(json_object *value)
{
    // JSON integers above INT64_MAX are unsigned in json-c.
    if (json_object_is_type(value, json_type_int))
        return json_object_get_int64(value) < 0 ? std::to_string(json_object_get_int64(value))
                                                : std::to_string(json_object_get_uint64(value));
    if (json_object_is_type(value, json_type_boolean))
        return std::string(json_object_get_boolean(value) != 0 ? "1" : "0");
    return text_of(value);
}

/// Logs that a member of doca_dpdk_flags has a wrong value. Returns INVALID_VALUE.
doca_error_t wrong_dpdk_value(std::string_view key, const std::string &expected, int line = __builtin_LINE())
{
    return fail(DOCA_ERROR_INVALID_VALUE, "JSON key " + quoted(key) + " of doca_dpdk_flags needs " + expected, line);
}

/// Converts {"device": "pf" | "vf" | "sf", "id": ...} and its device arguments.
doca_error_t describe_device(json_object &device, std::string &out)
{
    std::string kind;
    std::string id;
    std::string arguments;
    const doca_error_t result = for_each_member(device, [&](std::string_view key, json_object *value) {
        const std::optional<std::string> word = word_of(value);
        if (!word)
            return wrong_dpdk_value("devices", "a string, whole number or boolean for " + quoted(key));
        if (key == "device")
            kind = *word;
        else if (key == "id")
            id = *word;
        else
            arguments.append(",").append(key).append("=").append(*word);
        return DOCA_SUCCESS;
    });
    if (result != DOCA_SUCCESS)
        return result;
    if (id.empty())
        return wrong_dpdk_value("devices", "an \"id\" for each device");
    if (kind != "pf" && kind != "vf" && kind != "sf")
        return wrong_dpdk_value("devices", "\"pf\", \"vf\" or \"sf\" as \"device\", not " + quoted(kind));
    // An SF is a device of the auxiliary bus, a PF or VF one of PCI.
    out = (kind == "sf" ? "auxiliary:mlx5_core.sf." : "") + id + arguments;
    return DOCA_SUCCESS;
}

/// Appends -a and the description of a device.
doca_error_t append_device(json_object *device, std::vector<std::string> &out)
{
    std::string description;
    if (json_object_is_type(device, json_type_object)) {
        if (const doca_error_t result = describe_device(*device, description); result != DOCA_SUCCESS)
            return result;
    } else if (const std::optional<std::string> text = text_of(device); text && !text->empty()) {
        description = *text;
    } else {
        return wrong_dpdk_value("devices", "strings or objects");
    }
    out.emplace_back("-a");
    out.push_back(std::move(description));
    return DOCA_SUCCESS;
}

/// Appends each word of a text, as the user would write it on the command line.
doca_error_t append_words(json_object *value, std::vector<std::string> &out)
{
    const std::optional<std::string> text = text_of(value);
    if (!text)
        return wrong_dpdk_value("flags", "a string");
    std::istringstream words(*text);
    for (std::string word; words >> word;)
        out.push_back(word);
    return DOCA_SUCCESS;
}

/// Appends a flag of EAL with its value. A boolean is a flag without a value.
doca_error_t append_option(std::string_view key, json_object *value, std::vector<std::string> &out)
{
    std::string flag = (key.size() == 1 ? "-" : "--") + std::string(key);
    if (json_object_is_type(value, json_type_boolean)) {
        if (json_object_get_boolean(value) != 0)
            out.push_back(std::move(flag));
        return DOCA_SUCCESS;
    }
    std::optional<std::string> word = word_of(value);
    if (!word)
        return wrong_dpdk_value(key, "a string, a whole number, a boolean, or an array of these");
    out.push_back(std::move(flag));
    out.push_back(std::move(*word));
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t append_eal_arguments(std::string_view key, json_object *value, std::vector<std::string> &out)
{
    std::string_view option = key;
    if (key == "core-mask")
        option = "c";
    else if (key == "core-list")
        option = "l";
    return for_each_element(value, [&](json_object *element) {
        if (key == "devices")
            return append_device(element, out);
        return key == "flags" ? append_words(element, out) : append_option(option, element, out);
    });
}

EalArguments::EalArguments(const std::string &program_name, const std::vector<std::string> &arguments)
    : words_{program_name}
{
    words_.insert(words_.end(), arguments.begin(), arguments.end());
    // After the last insertion: the strings do not move any more.
    for (std::string &word : words_)
        pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
}

} // namespace opendoca::argp
