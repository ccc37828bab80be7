#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Checks that C++ files include the standard header of each standard name that they use.

    test_includes.py SOURCE_ROOT          the check, as a test
    test_includes.py SOURCE_ROOT --fix    adds the includes that are missing

A name that is declared only through another standard header compiles with one version of the standard library and not
with the next one. A .cpp file may rely on the includes of the .hpp file of the same name in its folder.

Also checks that a C function of a .cpp file uses no name of a `using` that only another .cpp file of the folder has: this
compiles where both are compiled as one, as the tests' builds do, and not in users' builds.
"""
import pathlib
import re
import sys
import unittest

FOLDERS = ("src", "tools", "tests", "samples")
# Header: the names after std:: for which it is needed, as a regular expression.
STANDARD_NAMES = {
    "algorithm": r"(?:ranges::)?(?:min|max|clamp|sort|stable_sort|find|find_if|find_if_not|any_of|all_of|none_of|copy|"
                 r"copy_n|copy_if|fill|fill_n|count|count_if|equal|lower_bound|upper_bound|remove_if|reverse|transform|"
                 r"for_each|generate|unique|min_element|max_element|partition|rotate|search|replace_if|mismatch|"
                 r"is_sorted|equal_range|binary_search|shuffle)[(<]",
    "array": "array|to_array",
    "atomic": r"atomic|atomic_ref|atomic_thread_fence|atomic_signal_fence|memory_order\w*|atomic_flag",
    "barrier": "barrier",
    "bit": "bit_cast|popcount|count[lr]_(?:zero|one)|bit_width|bit_ceil|bit_floor|has_single_bit|endian|rot[lr]",
    "charconv": "from_chars|to_chars|chars_format",
    "chrono": "chrono",
    "concepts": "same_as|convertible_to|integral|invocable|derived_from|(?:un)?signed_integral|constructible_from",
    "condition_variable": "condition_variable|cv_status",
    "cstdarg": "va_list",
    "cstddef": "size_t|byte|ptrdiff_t|nullptr_t|max_align_t|to_integer",
    "cstdint": r"u?int(?:_fast|_least)?(?:8|16|32|64|max|ptr)_t",
    "cstdio": "v?s?n?f?printf|vfprintf|fopen|fclose|fputs|fputc|puts|fflush|FILE|perror|fwrite|fread|fgets|sscanf",
    "cstdlib": r"getenv|exit|abort|atoi|strto\w+|malloc|free|calloc|realloc|aligned_alloc|system|_Exit|atexit",
    "cstring": r"mem(?:cpy|set|move|cmp|chr)|str(?:len|n?cmp|n?cpy|r?chr|str|error|cat|spn|cspn)",
    "deque": "deque",
    "exception": "exception|exception_ptr|current_exception|rethrow_exception|terminate|uncaught_exceptions",
    "filesystem": "filesystem",
    "fstream": "[io]?fstream",
    "functional": "function|hash|reference_wrapper|c?ref|bind|invoke|not_fn|greater|less|equal_to|plus",
    "future": "future|promise|async",
    "iomanip": "setw|setfill|setprecision|quoted",
    "iostream": "cout|cerr|cin|clog",
    "iterator": r"(?:back_inserter|inserter|next|prev|distance|advance|istreambuf_iterator|istream_iterator|"
                r"make_move_iterator)[(<]",
    "latch": "latch",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map|multimap",
    "memory": "unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|enable_shared_from_this|addressof|construct_at|"
              "destroy_at|assume_aligned",
    "mutex": "mutex|lock_guard|unique_lock|scoped_lock|recursive_mutex|once_flag|call_once|defer_lock|adopt_lock|"
             "try_to_lock",
    "new": "bad_alloc|nothrow|align_val_t|launder",
    "numeric": "accumulate|iota|gcd|lcm|midpoint",
    "optional": "optional|nullopt|make_optional",
    "queue": "queue|priority_queue",
    "random": r"mt19937(?:_64)?|random_device|uniform_int_distribution|minstd_rand",
    "regex": r"regex\w*",
    "semaphore": "(?:binary|counting)_semaphore",
    "set": "set|multiset",
    "shared_mutex": "shared_mutex|shared_lock",
    "source_location": "source_location",
    "span": "span|as_bytes|as_writable_bytes|dynamic_extent",
    "sstream": "[io]?stringstream",
    "stdexcept": "runtime_error|logic_error|invalid_argument|out_of_range|length_error",
    "string": "string|to_string|sto[ilfd]|sto(?:ul|ll|ull)|getline",
    "string_view": "string_view",
    "system_error": "error_code|system_error|errc|system_category|generic_category",
    "thread": "thread|jthread|this_thread",
    "tuple": "tuple|tie|make_tuple|ignore|apply",
    "type_traits": r"is_\w+_v|enable_if_t|decay_t|remove_\w+_t|conditional_t|underlying_type_t|true_type|false_type|"
                   r"invoke_result_t|is_constant_evaluated|type_identity_t|make_(?:un)?signed_t|common_type_t|"
                   r"bool_constant",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    # Without move, forward, swap and pair, which no header of containers or algorithms can do without.
    "utility": r"exchange|as_const|(?:make_)?(?:index|integer)_sequence|cmp_\w+|in_range",
    "variant": "variant|visit|monostate|get_if|holds_alternative",
    "vector": "vector",
}
# The standard declares std::size_t in these, too; <string> can't be without a definition of std::string_view, nor the
# classes of <stdexcept> without one of std::exception.
ALSO_IN = {
    "cstddef": {"cstdio", "cstdlib", "cstring", "ctime", "cwchar"},
    "string_view": {"string"},
    "exception": {"stdexcept"},
}
# A name as USE finds it has the parenthesis or the angle bracket that follows.
USE = re.compile(r"\bstd::((?:ranges::)?\w+)(?:\s*([(<]))?")
USES = {header: re.compile(rf"(?:{names})[(<]?") for header, names in STANDARD_NAMES.items()}
# Macros, and functions of C that are used without std::.
USES_OF_MACROS = {"cerrno": re.compile(r"\berrno\b"),
                  "climits": re.compile(r"\b(?:U?(?:INT|LONG|LLONG|CHAR)|PATH|IOV)_MAX\b"),
                  "cinttypes": re.compile(r"\bPRI[uxdi](?:8|16|32|64|PTR)\b")}
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"].*$", re.M)
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.S)
CXX_HEADER = re.compile(r"#include <[a-z_]+>")


def without_comments_and_literals(text):
    return NO_CODE.sub(lambda found: "\"\"" if found[0][0] in "\"'R" else " ", INCLUDE.sub("", text))


# At file scope, and a C function from its name to its end.
USING = re.compile(r"^using (?:\w+::)+(\w+);|^using (\w+) =", re.M)
C_FUNCTION = re.compile(r"^[\w *]+\bdoca_\w+\([^;{]*\)[^;{]*\{.*?^\}", re.M | re.S)
PROJECT_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def names_of_usings(text):
    return {declared or alias for declared, alias in USING.findall(without_comments_and_literals(text))}


def borrowed(text, headers, known):
    """Those of the known names that the C functions of a file use, and neither the file nor its headers bring to file scope."""
    own = names_of_usings(text).union(*map(names_of_usings, headers))
    if re.search(r"^using namespace ", text, re.M):
        return []
    functions = C_FUNCTION.findall(without_comments_and_literals(text))
    return sorted({name for name in known - own for code in functions
                   if not re.search(rf"\busing (?:\w+::)+{name};", code)
                   if re.search(rf"(?<![\w.:>]){name}(?:::|<|\(|\{{|&? [*&]?\w+[ ;,(){{=])", code)})


def project_headers(path, found):
    """The texts of the project's headers that a file includes, directly or not."""
    for name in PROJECT_INCLUDE.findall(path.read_text(encoding="utf-8")):
        header = (path.parent / name).resolve()
        if header.is_file() and header not in found:
            found[header] = header.read_text(encoding="utf-8")
            project_headers(header, found)
    return found.values()


def included(text):
    """The headers that a text includes; those of C under their C++ names."""
    names = set(INCLUDE.findall(text))
    return names | {"c" + name[:-2] for name in names if re.fullmatch(r"[a-z]+\.h", name)}


def missing(text, own_header=""):
    """Headers of C++ that a file with this text should include, and does not."""
    code = without_comments_and_literals(text)
    there = included(text) | included(own_header)
    names = {name + bracket for name, bracket in USE.findall(code)}
    needed = [header for header, pattern in USES.items() if any(map(pattern.fullmatch, names))]
    needed += [header for header, pattern in USES_OF_MACROS.items() if pattern.search(code)]
    return sorted(header for header in needed if not there & {header, *ALSO_IN.get(header, ())})


def files(top):
    for folder in FOLDERS:
        for path in sorted((top / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp"):
                header = path.with_suffix(".hpp")
                own_header = header.read_text(encoding="utf-8") if path.suffix == ".cpp" and header.exists() else ""
                yield path, path.read_text(encoding="utf-8"), own_header


def with_includes(path, text, headers):
    """The text with the headers in its first block of C++ headers, or in one before the other includes."""
    lines = text.split("\n")
    wanted = {f"#include <{header}>" for header in headers}
    first = next((i for i, line in enumerate(lines) if CXX_HEADER.fullmatch(line)), None)
    if first is not None:
        last = first
        while CXX_HEADER.fullmatch(lines[last]):
            last += 1
        lines[first:last] = sorted({*lines[first:last], *wanted})
        return "\n".join(lines)
    block = sorted(wanted) + [""]
    own = f'#include "{path.with_suffix(".hpp").name}"'
    if own in lines:
        return "\n".join(lines[:lines.index(own) + 1] + [""] + block + lines[lines.index(own) + 2:])
    place = next((i for i, line in enumerate(lines) if line.startswith("#include") or line == "#pragma once"), None)
    if place is None:  # after the head comment
        place = next(i for i, line in enumerate(lines) if not line.startswith("//"))
        return "\n".join(lines[:place + 1] + block + lines[place + 1:])
    if lines[place] == "#pragma once":
        return "\n".join(lines[:place + 1] + [""] + block + lines[place + 2:])
    return "\n".join(lines[:place] + block + lines[place:])


class Includes(unittest.TestCase):
    def test_each_file_includes_the_headers_of_the_standard_names_it_uses(self):
        found = [f"{path.relative_to(TOP)}: no #include <{header}>"
                 for path, text, own_header in files(TOP) for header in missing(text, own_header)]
        self.assertEqual([], found, "\n".join(["", *found, "test_includes.py SOURCE_ROOT --fix adds them"]))

    def test_each_c_function_uses_names_that_its_own_file_brings(self):
        folders = {}
        for path in sorted((TOP / "src").rglob("*.cpp")):
            folders.setdefault(path.parent, {})[path] = path.read_text(encoding="utf-8")
        for texts in folders.values():
            known = set().union(*map(names_of_usings, texts.values()))
            for path, text in texts.items():
                with self.subTest(file=str(path.relative_to(TOP))):
                    self.assertEqual([], borrowed(text, project_headers(path, {}), known))

    def test_a_borrowed_name_is_found(self):
        text = "doca_error_t doca_x(struct doca_y *y)\n{\n    return y->state == State::idle;\n}\n"
        self.assertEqual(["State"], borrowed(text, [], {"State", "Other"}))
        for using in "using a::b::State;\n", "using State = a::Of<int>;\n":
            self.assertEqual([], borrowed(using + text, [], {"State"}))
            self.assertEqual([], borrowed(text, [using], {"State"}))
        self.assertEqual([], borrowed(text.replace("State::", "a::State::"), [], {"State"}))
        self.assertEqual([], borrowed(text.replace("    return", "    using a::State;\n    return"), [], {"State"}))

    def test_a_use_without_the_header_is_found(self):
        for header, use in (("cstdint", "std::uint64_t x;"), ("cstddef", "std::size_t x;"),
                            ("string", "std::string x;"),
                            ("functional", "std::function<void()> x;"), ("optional", "std::optional<int> x;"),
                            ("span", "std::span<int> x;"), ("cerrno", "int x = errno;")):
            self.assertEqual([header], missing(f"#include <vector>\n{use}\n"))
            self.assertEqual([], missing(f"#include <{header}>\n{use}\n"))
            self.assertEqual([], missing(use, f"#include <{header}>\n"))
            self.assertEqual([], missing(f"// {use}\n/* {use} */ auto x = \"{use}\";\n"))

    def test_a_header_of_c_declares_what_its_counterpart_does(self):
        self.assertEqual([], missing("#include <stdint.h>\nstd::uint64_t x;\n"))

    def test_fixing_keeps_the_order(self):
        text = '// Head\n#include "a.hpp"\n\n#include <array>\n#include <vector>\n\n#include <poll.h>\n'
        self.assertEqual(text.replace("<array>\n", "<array>\n#include <span>\n"),
                         with_includes(pathlib.Path("a.cpp"), text, ["span"]))


if __name__ == "__main__":
    TOP = pathlib.Path(sys.argv.pop(1)).resolve()
    if sys.argv[1:] == ["--fix"]:
        for file, content, own in files(TOP):
            if headers := missing(content, own):
                file.write_text(with_includes(file, content, headers), encoding="utf-8")
                print(f"{file.relative_to(TOP)}: {', '.join(headers)}")
        sys.exit()
    unittest.main()
