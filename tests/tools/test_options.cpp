// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../../tools/common/options.hpp"

#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

using opendoca::tools::OptionParser;

class Options : public testing::Test {
protected:
    Options()
    {
        parser_.add_flag('j', "json", "print JSON", is_json_);
        parser_.add_value(0, "size", "BYTES", "how much", [this](std::string_view text) {
            size_ = text;
            return text == "bad" ? std::optional<std::string>("not that") : std::nullopt;
        });
    }

    std::optional<int> parse(std::vector<std::string> arguments)
    {
        std::vector<char *> pointers;
        for (std::string &argument : arguments)
            pointers.push_back(argument.data());
        return parser_.parse(pointers, out_, err_);
    }

    OptionParser parser_{"tool", "Does things."};
    bool is_json_ = false;
    std::string size_;
    std::ostringstream out_;
    std::ostringstream err_;
};

TEST_F(Options, AreTakenByShortAndLongName)
{
    EXPECT_EQ(parse({"-j", "--size", "64"}), std::nullopt);
    EXPECT_TRUE(is_json_);
    EXPECT_EQ(size_, "64");
    EXPECT_EQ(parse({"--size=4K"}), std::nullopt);
    EXPECT_EQ(size_, "4K");
    EXPECT_EQ(out_.str() + err_.str(), "");
}

TEST_F(Options, HelpGoesToTheOutput)
{
    EXPECT_EQ(parse({"--help", "--nonsense"}), 0);
    EXPECT_NE(out_.str().find("Usage: tool [options]\nDoes things."), std::string::npos);
    EXPECT_NE(out_.str().find("  -j, --json        print JSON\n      --size BYTES  how much\n"), std::string::npos)
        << out_.str();
    EXPECT_EQ(err_.str(), "");
    EXPECT_EQ(parse({"-h"}), 0);
}

TEST_F(Options, MistakesEndWithTwoAndTheUsage)
{
    const std::pair<std::vector<std::string>, const char *> mistakes[] = {
        {{"--nope"}, "unknown option '--nope'"},       {{"-x"}, "unknown option '-x'"},
        {{"-json"}, "unknown option '-json'"},         {{"word"}, "unexpected argument 'word'"},
        {{"--json=1"}, "--json takes no value"},       {{"--size"}, "--size needs a value: BYTES"},
        {{"--size", "bad"}, "--size 'bad': not that"},
    };
    for (const auto &[arguments, complaint] : mistakes) {
        err_.str("");
        EXPECT_EQ(parse(arguments), 2) << complaint;
        EXPECT_NE(err_.str().find(complaint), std::string::npos) << err_.str();
        EXPECT_NE(err_.str().find("Usage: tool"), std::string::npos) << complaint;
    }
    EXPECT_EQ(out_.str(), "");
}

} // namespace
