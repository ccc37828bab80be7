// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../../tools/common/json.hpp"
#include "../../tools/common/table.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace {

using namespace opendoca::tools;

TEST(Table, ColumnsAreAsWideAsTheirLongestCell)
{
    Table table({{"name"}, {"size", Align::right}, {"note"}});
    table.add({"a", "1", ""});
    table.add_line("  between");
    table.add({"longer name", "12345", "x"});
    EXPECT_EQ(table.text("> "), "> name          size  note\n"
                                "> a                1\n"
                                ">   between\n"
                                "> longer name  12345  x\n");
}

TEST(Table, TitlesAreLeftOutWhenThereAreNone)
{
    Table table({{""}, {""}});
    table.add({"a", "b"});
    EXPECT_EQ(table.text(), "a  b\n");
}

TEST(Json, HasEveryKindOfValue)
{
    Json array = Json::array();
    array.add(true).add(-3).add(2.5).add("a \"b\"").add(Json());
    Json object = Json::object();
    object.set("list", std::move(array))
        .set("missing", std::optional<int>())
        .set("present", std::optional<std::string>("x"))
        .set("large", std::uint64_t{1} << 31)
        .set("no number", std::numeric_limits<double>::quiet_NaN());
    std::string text = object.text();
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    EXPECT_EQ(text, R"({"list":[true,-3,2.5,"a\"b\"",null],"missing":null,"present":"x","large":2147483648,)"
                    R"("nonumber":null})");
}

} // namespace
