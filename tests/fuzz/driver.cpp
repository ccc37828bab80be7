// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Feeds a target: its corpus, all beginnings of that, and mutations. The same ones for the same seed.
//     fuzz_TARGET CORPUS_FOLDER [number of mutations [seed]]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "target.hpp"

#ifdef OPENDOCA_STATIC_CORE

namespace {

constinit opendoca::LogChannel channel{opendoca::LogLevel::critical, opendoca::LogLevel::debug};

} // namespace

// What each front end defines.

opendoca::LogChannel &opendoca::library_log() noexcept
{
    return channel;
}

void opendoca::print_origin(LogText &, std::uint32_t, const LogOrigin &) noexcept {}

#endif

#ifdef OPENDOCA_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static const bool is_set_up = (set_up(), true);
    (void)is_set_up;
    test_input({reinterpret_cast<const std::byte *>(data), size});
    return 0;
}

#else

namespace {

class Mutator {
public:
    Mutator(std::vector<std::string> seeds, std::uint64_t seed) : seeds_(std::move(seeds)), random_(seed) {}

    [[nodiscard]] std::string make()
    {
        std::string text = one_of(seeds_);
        for (std::size_t left = 1 + below(6); left > 0; --left)
            mutate(text);
        return text;
    }

private:
    /// Not std::uniform_int_distribution, which differs between standard libraries.
    [[nodiscard]] std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
    [[nodiscard]] const std::string &one_of(const std::vector<std::string> &all) { return all[below(all.size())]; }

    void mutate(std::string &text)
    {
        static constexpr std::uint64_t values[] = {0,      1,          0x7f,       0x80,       0xff,       0x7fff,
                                                   0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1ULL << 63, ~0ULL};
        const std::size_t at = below(text.size() + 1);
        const std::size_t length = std::min(text.size() - at, below(16));
        switch (below(7)) {
        case 0:
            if (at < text.size())
                text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
            break;
        case 1:
            if (at < text.size())
                text[at] = static_cast<char>(below(256));
            break;
        case 2:
            text.erase(at, length);
            break;
        case 3:
            text.insert(at, text.substr(below(text.size() + 1), below(64)));
            break;
        case 4: { // a number
            const std::uint64_t value = values[below(std::size(values))];
            text.replace(at, length, reinterpret_cast<const char *>(&value), std::size_t{1} << below(4));
            break;
        }
        case 5: { // the end of another one
            const std::string &other = one_of(seeds_);
            text.replace(at, text.npos, other, below(other.size() + 1), other.npos);
            break;
        }
        default: { // a piece of another one
            const std::string &other = one_of(seeds_);
            text.insert(at, other.substr(below(other.size() + 1), below(24)));
        }
        }
    }

    std::vector<std::string> seeds_;
    std::mt19937_64 random_;
};

void test(const std::string &text)
{
    // On the heap and of exactly this size, for sanitizers to see what is read beyond it.
    const std::vector<char> bytes(text.begin(), text.end());
    test_input(std::as_bytes(std::span(bytes)));
}

} // namespace

int main(int argc, char **argv)
{
    require(argc > 1, "the first argument is the folder of the corpus");
    const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000;
    const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 20260101;
    set_up();
    std::vector<std::filesystem::path> paths;
    for (const auto &entry : std::filesystem::directory_iterator(argv[1]))
        paths.push_back(entry.path());
    std::ranges::sort(paths);
    std::vector<std::string> seeds;
    for (const std::filesystem::path &path : paths) {
        std::ifstream file(path, std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    require(!seeds.empty(), "there is a corpus");
    std::uint64_t tested = 0;
    for (const std::string &text : seeds) {
        for (std::size_t length = 0; length <= text.size(); ++length, ++tested)
            test(text.substr(0, length));
    }
    Mutator mutator(seeds, seed);
    for (std::uint64_t i = 0; i < count; ++i, ++tested)
        test(mutator.make());
    std::printf("%llu inputs\n", static_cast<unsigned long long>(tested));
    return 0;
}

#endif
