// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: any words as the command line of a program, between NULs or line ends. Not --help and
// --version, which end the program, nor --json, which is another target.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <doca_argp.h>

#include "target.hpp"

namespace {

std::size_t num_calls = 0;

void add(const char *short_name, const char *name, doca_argp_type type, bool is_repeatable)
{
    doca_argp_param *param = nullptr;
    must(doca_argp_param_create(&param));
    if (short_name != nullptr)
        doca_argp_param_set_short_name(param, short_name);
    doca_argp_param_set_long_name(param, name);
    doca_argp_param_set_description(param, "a flag");
    doca_argp_param_set_type(param, type);
    doca_argp_param_set_callback(param, [](void *value, void *) {
        require(value != nullptr, "there is a value");
        ++num_calls;
        return DOCA_SUCCESS;
    });
    if (is_repeatable)
        doca_argp_param_set_multiplicity(param);
    must(doca_argp_register_param(param));
}

} // namespace

void test_input(Input input)
{
    std::vector<std::string> words{"fuzz"};
    std::string word;
    for (const std::byte byte : input) {
        const char c = static_cast<char>(byte);
        if (c != '\0' && c != '\n') {
            word += c;
            continue;
        }
        words.push_back(std::exchange(word, {}));
    }
    words.push_back(word);
    for (const std::string &each : words) {
        for (const char *const ends : {"--help", "--version", "--json", "-h", "-v", "-j"}) {
            if (each.starts_with(ends))
                return;
        }
    }
    std::vector<char *> pointers;
    for (std::string &each : words)
        pointers.push_back(each.data());
    pointers.push_back(nullptr);

    must(doca_argp_init("fuzz", nullptr));
    doca_argp_set_dpdk_program([](int argc, char **argv) {
        for (int i = 0; i < argc; ++i)
            require(std::strlen(argv[i]) < SIZE_MAX, "each is a text");
        return DOCA_SUCCESS;
    });
    add("t", "text", DOCA_ARGP_TYPE_STRING, false);
    add("n", "number", DOCA_ARGP_TYPE_INT, false);
    add("f", "flag", DOCA_ARGP_TYPE_BOOLEAN, false);
    add(nullptr, "texts", DOCA_ARGP_TYPE_STRING, true);
    num_calls = 0;
    const doca_error_t status = doca_argp_start(static_cast<int>(words.size()), pointers.data());
    require(status == DOCA_SUCCESS || num_calls == 0, "a callback ran although the command line is wrong");
    must(doca_argp_destroy());
    must(doca_log_global_level_set(DOCA_LOG_LEVEL_ERROR)); // --log-level may have changed it
}
