// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Fuzz target: any bytes as the JSON file of a program. Built with -DOPENDOCA_LIBFUZZER -fsanitize=fuzzer it
// is driven by libFuzzer; otherwise it has a main() that runs a fixed sequence of mutated files.
//     fuzz_argp_json [number of mutations [seed]]     or     fuzz_argp_json --file FILE
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include <json-c/json.h>

#include <doca_argp.h>
#include <doca_log.h>

namespace {

/// What the callbacks saw of one file; touching every byte lets the sanitizers look at it.
struct Seen {
    std::size_t calls = 0;
    std::size_t sum = 0;
};

void require(bool holds, const char *what)
{
    if (!holds) {
        std::fprintf(stderr, "fuzz_argp_json: %s\n", what);
        std::abort();
    }
}

void see(void *config, std::string_view bytes)
{
    auto *seen = static_cast<Seen *>(config);
    ++seen->calls;
    for (const char byte : bytes)
        seen->sum += static_cast<unsigned char>(byte);
}

doca_error_t on_text(void *value, void *config)
{
    see(config, static_cast<const char *>(value));
    return DOCA_SUCCESS;
}

doca_error_t on_number(void *value, void *config)
{
    see(config, std::to_string(*static_cast<int *>(value)));
    return DOCA_SUCCESS;
}

doca_error_t on_flag(void *value, void *config)
{
    require(*static_cast<bool *>(value), "a callback got false");
    see(config, "");
    return DOCA_SUCCESS;
}

doca_error_t on_object(void *value, void *config)
{
    see(config, json_object_to_json_string(static_cast<json_object *>(value)));
    return DOCA_SUCCESS;
}

doca_error_t on_eal(int argc, char **argv)
{
    Seen seen;
    for (int i = 0; i < argc; ++i)
        see(&seen, argv[i]);
    require(argv[argc] == nullptr, "the DPDK arguments have no end");
    return DOCA_SUCCESS;
}

void add(const char *name, doca_argp_type type, callback_func callback, bool is_repeatable = false)
{
    doca_argp_param *param = nullptr;
    require(doca_argp_param_create(&param) == DOCA_SUCCESS, "no parameter");
    doca_argp_param_set_long_name(param, name);
    doca_argp_param_set_description(param, "a flag");
    doca_argp_param_set_type(param, type);
    doca_argp_param_set_callback(param, callback);
    if (is_repeatable)
        doca_argp_param_set_multiplicity(param);
    require(doca_argp_register_param(param) == DOCA_SUCCESS, "no registration");
}

void run_program(int file, bool is_dpdk_and_grpc_program)
{
    Seen seen;
    (void)doca_log_global_level_set(DOCA_LOG_LEVEL_CRIT); // the file may raise it
    require(doca_argp_init("fuzz", &seen) == DOCA_SUCCESS, "no init");
    if (is_dpdk_and_grpc_program) {
        doca_argp_set_dpdk_program(on_eal);
        doca_argp_set_grpc_program();
    }
    add("text", DOCA_ARGP_TYPE_STRING, on_text);
    add("number", DOCA_ARGP_TYPE_INT, on_number);
    add("flag", DOCA_ARGP_TYPE_BOOLEAN, on_flag);
    add("object", DOCA_ARGP_TYPE_JSON_OBJ, on_object);
    add("texts", DOCA_ARGP_TYPE_STRING, on_text, true);
    add("numbers", DOCA_ARGP_TYPE_INT, on_number, true);

    std::string program = "fuzz";
    std::string flag = "--json=/proc/self/fd/" + std::to_string(file);
    std::array<char *, 3> argv = {program.data(), flag.data(), nullptr};
    const doca_error_t result = doca_argp_start(2, argv.data());
    require(result == DOCA_SUCCESS || result == DOCA_ERROR_INVALID_VALUE || result == DOCA_ERROR_NOT_SUPPORTED ||
                result == DOCA_ERROR_IO_FAILED,
            "an error that no file can cause");
    require(result == DOCA_SUCCESS || seen.calls == 0, "a callback ran although the file is wrong");
    require(doca_argp_destroy() == DOCA_SUCCESS, "no destroy");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static const bool is_log_silent = [] {
        doca_logger_backend *backend = nullptr;
        std::FILE *sink = std::fopen("/dev/null", "we");
        return sink != nullptr && doca_log_create_file_backend(sink, &backend) == DOCA_SUCCESS;
    }();
    require(is_log_silent, "no log");
    const int file = memfd_create("fuzz_argp_json", MFD_CLOEXEC);
    require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size), "no file");
    run_program(file, false);
    run_program(file, true);
    close(file);
    return 0;
}

#ifndef OPENDOCA_LIBFUZZER

namespace {

const std::vector<std::string> seeds = {
    R"({"doca_general_flags": {"log-level": 60}, "doca_program_flags": {"text": "03:00.0", "number": 64}})",
    R"(// file
       {
           /* dpdk */ "doca_dpdk_flags": {
               "devices": [{"device": "sf", "id": "4", "x": true}, "net_null0",],
               "core-mask": "0xff", "flags": "-b 7", "n": 4,
           },
       })",
    R"({"doca_program_flags": {"flag": true, "object": {"a": [1, {"b": null}]}, "texts": ["a", "\"\\\u0041"],}
       })",
    R"({"doca_general_flags": {"grpc-address": "127.0.0.1:1"}, "doca_program_flags": {"numbers": [1, -2]}})",
};

const std::vector<std::string> words = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "//",
    "/*",
    "*/",
    "\n",
    "null",
    "true",
    "false",
    "-",
    "1e999",
    "2147483648",
    "99999999999999999999",
    "\\u0000",
    "\\ud800",
    "NaN",
    "'",
    "\"text\"",
    "\"number\"",
    "\"flag\"",
    "\"object\"",
    "\"texts\"",
    "\"numbers\"",
    "\"doca_program_flags\"",
    "\"doca_general_flags\"",
    "\"doca_dpdk_flags\"",
    "\"devices\"",
    "\"log-level\"",
    "\xef\xbb\xbf",
    std::string(1, '\0'),
    "\xff",
    std::string(40, '['),
    "{\"a\":",
    ",,",
    ",}",
    ",]",
    "/**/",
};

class Mutator {
public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    [[nodiscard]] std::string make()
    {
        std::string text = seeds[below(seeds.size())];
        for (std::size_t left = 1 + below(6); left > 0; --left)
            mutate(text);
        return text;
    }

private:
    /// Not std::uniform_int_distribution, which differs between standard libraries.
    [[nodiscard]] std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

    void mutate(std::string &text)
    {
        const std::size_t at = below(text.size() + 1);
        const std::size_t length = std::min(text.size() - at, below(16));
        switch (below(6)) {
        case 0:
            text.insert(at, words[below(words.size())]);
            break;
        case 1:
            text.replace(at, length, words[below(words.size())]);
            break;
        case 2:
            text.erase(at, length);
            break;
        case 3:
            if (at < text.size())
                text[at] = static_cast<char>(below(256));
            break;
        case 4:
            text.insert(at, text.substr(below(text.size() + 1), below(64)));
            break;
        default: {
            const std::string &other = seeds[below(seeds.size())];
            text.replace(at, text.npos, other, below(other.size()), other.npos);
        }
        }
    }

    std::mt19937_64 random_;
};

void test(std::string_view text)
{
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    (void)LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 3 && std::string_view(argv[1]) == "--file") {
        std::ifstream file(argv[2], std::ios::binary);
        test(std::string(std::istreambuf_iterator<char>(file), {}));
        return 0;
    }
    const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10000;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20260101;
    for (const std::string &text : seeds) {
        for (std::size_t length = 0; length <= text.size(); ++length)
            test(std::string_view(text).substr(0, length));
    }
    Mutator mutator(seed);
    for (std::uint64_t i = 0; i < count; ++i)
        test(mutator.make());
    std::printf("%llu mutations of %zu files\n", static_cast<unsigned long long>(count), seeds.size());
    return 0;
}

#endif
