// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "api.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace opendoca::argp {

doca_error_t init(const Generation &generation, const char *program_name, void *program_config, doca_error_t if_twice)
{
    if (program_name != nullptr && *program_name == '\0')
        return fail(DOCA_ERROR_INVALID_VALUE, "program_name is empty");
    if (parser != nullptr)
        return fail(if_twice, "doca_argp_init is called again without doca_argp_destroy");
    parser = new Parser(generation, program_name, program_config);
    return DOCA_SUCCESS;
}

doca_error_t start(int argc, char **argv, doca_error_t if_none)
{
    return guarded([&] {
        if (parser == nullptr)
            return not_initialised(if_none);
        if (argc < 1)
            // argc counts the program's name, which start() needs.
            return fail(DOCA_ERROR_INVALID_VALUE, "argc is " + std::to_string(argc) + ", which is below 1");
        if (argv == nullptr)
            return null_argument("argv");
        const std::span<char *const> words(argv, static_cast<std::size_t>(argc));
        for (const char *word : words.subspan(1)) {
            if (word == nullptr)
                return null_argument("an element of argv");
        }
        return parser->start(words);
    });
}

doca_error_t destroy(doca_error_t misuse)
{
    return guarded([&] {
        if (parser == nullptr)
            return not_initialised(misuse);
        // The parser is in use by the caller of the callback.
        if (parser->is_in_start())
            return fail(misuse, "doca_argp_destroy is called by one of argp's callbacks");
        delete std::exchange(parser, nullptr);
        // A logger callback ends with the parser for which it was registered.
        set_listener(nullptr);
        return DOCA_SUCCESS;
    });
}

void show_usage(const Generation &generation)
{
    (void)guarded([&]() -> doca_error_t {
        if (parser != nullptr)
            parser->show_usage();
        // Without doca_argp_init() the text has DOCA's own flags only.
        Parser(generation, nullptr, nullptr).show_usage();
    });
}

} // namespace opendoca::argp
