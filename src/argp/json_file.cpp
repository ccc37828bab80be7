// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "json_file.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <system_error>

#include "json_text.hpp"
#include "report.hpp"

namespace opendoca::argp {
namespace {

constexpr std::size_t max_file_size = std::size_t{16} << 20; ///< bytes

struct FileClose {
    void operator()(std::FILE *file) const noexcept { (void)std::fclose(file); }
};

/// Log an error of the file, and return IO_FAILED.
doca_error_t failed(const std::string &path, const std::string &why, int line = __builtin_LINE())
{
    return fail(DOCA_ERROR_IO_FAILED, "JSON file " + quoted(path) + " " + why, line);
}

doca_error_t malformed(const std::string &path, std::size_t at_line, const std::string &what,
                       int line = __builtin_LINE())
{
    return failed(path, "line " + std::to_string(at_line) + ": " + what, line);
}

/// Reads until the end of the file instead of by its size, so that pipes work too.
doca_error_t read_text(const std::string &path, std::string &text)
{
    const std::unique_ptr<std::FILE, FileClose> file(std::fopen(path.c_str(), "re"));
    if (file == nullptr)
        return failed(path, "cannot be opened: " + std::generic_category().message(errno));
    char block[65536];
    while (const std::size_t got = std::fread(block, 1, sizeof(block), file.get())) {
        text.append(block, got);
        if (text.size() > max_file_size)
            return failed(path, "is larger than " + std::to_string(max_file_size) + " bytes");
    }
    if (std::ferror(file.get()) != 0)
        return failed(path, "cannot be read: " + std::generic_category().message(errno));
    return DOCA_SUCCESS;
}

} // namespace

doca_error_t read_json_file(const std::string &path, JsonPtr &out)
{
    std::string text;
    if (const doca_error_t result = read_text(path, text); result != DOCA_SUCCESS)
        return result;
    // Comments and trailing commas are removed here, as json-c's own extensions accept more than is wanted.
    if (const std::optional<JsonTextError> error = make_strict_json(text))
        return malformed(path, error->line, error->what);

    JsonPtr root;
    if (JsonError error; !read_json(text, root, error))
        return malformed(path, line_of(text, error.offset), error.what);
    if (!json_object_is_type(root.get(), json_type_object))
        return fail(DOCA_ERROR_INVALID_VALUE, "JSON file " + quoted(path) + " does not hold a JSON object");
    out = std::move(root);
    return DOCA_SUCCESS;
}

} // namespace opendoca::argp
