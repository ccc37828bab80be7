// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "files.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include <dirent.h>

namespace opendoca::tools {

std::string text_in(const std::string &path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string &path)
{
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(std::move(line));
    return lines;
}

std::string first_line(const std::string &path)
{
    const std::vector<std::string> lines = lines_of(path);
    return lines.empty() ? "" : lines.front();
}

// A value that does not begin with a number, such as "max" of a control group, counts as missing.
std::optional<std::uint64_t> number_in(const std::string &path)
{
    std::uint64_t number = 0;
    if (std::ifstream(path) >> number)
        return number;
    return std::nullopt;
}

// Hidden entries are left out, and with them "." and "..".
std::vector<std::string> names_in(const std::string &folder)
{
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR *)> opened(opendir(folder.c_str()), closedir);
    for (const dirent *entry; opened != nullptr && (entry = readdir(opened.get())) != nullptr;) {
        if (entry->d_name[0] != '.')
            names.emplace_back(entry->d_name);
    }
    std::ranges::sort(names);
    return names;
}

} // namespace opendoca::tools
