#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Checks the structure of src/ and tools/: the members of a class are defined in one .cpp file, and are not too many, and
functions are short.

    test_structure.py SOURCE_ROOT

A class that has to be cut into several files is several classes. Both are found by their form, which clang-format
fixes: a member is defined from the first column on, with the class before its name, and the brace that begins a
function is alone in its line.
"""
import collections
import pathlib
import re
import sys
import unittest

TOP = pathlib.Path(sys.argv.pop(1)).resolve()
FOLDERS = ("src", "tools")
MAX_LINES = 70  # of a function, with both braces
MAX_FUNCTIONS = 25  # of a class, in its .cpp file; what a header defines is short
# Classes with more functions, and how many they may have: none gets further ones.
EXCEPTIONS = {
    # Objects of the C interface: their functions are those of the interface, one each.
    "doca_ctx": 36, "doca_mmap": 31, "doca_comm_channel_ep_t": 30, "doca_graph_instance": 29,
    "doca_rdma": 27,
    # Protocols: one function for each message, in either direction, and for each state.
    "CmExchange": 36, "Connection": 32,
    # One function for each kind of work request and of completion.
    "VerbsQueuePair": 38,
}
# Compiled in place of another file, without the library that that one needs.
ALTERNATIVES = re.compile(r"_missing\.cpp$")
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]+) \{", re.M)
NO_DEFINITION = re.compile(r"(?:using|namespace|return|static_assert|extern)\b")
# The return type, the classes with their template arguments, and the member with a parenthesis.
MEMBER = re.compile(r"(?:[\w:<>,*&\[\]() ]*?[\s*&>)])?((?:\w+(?:<[^;{}()]*?>)?::)+)(?:~?\w+|operator\S+?)\(")
TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")


def classes_of(code, namespaces):
    """Yields the outermost class of each member that a .cpp file with this code defines."""
    for line in code.split("\n"):
        if not re.match(r"[A-Za-z_\[]", line) or NO_DEFINITION.match(line) or line.endswith(";"):
            continue
        found = MEMBER.match(line)
        if found is None:
            continue
        names = [name for name in TEMPLATE_ARGUMENTS.sub("", found.group(1)).strip(":").split("::")
                 if name not in namespaces]
        if names:
            yield names[0]


def lengths_of_functions(text):
    """Yields the number of the first line of each function body, and how many lines it has."""
    lines = text.split("\n")
    for first, line in enumerate(lines):
        if line.strip() == "{":
            end = line.replace("{", "}")
            last = next(i for i in range(first, len(lines)) if lines[i].startswith(end))
            yield first + 1, last - first + 1


def generation(path):
    """The API generation of a file; classes of different ones may have the same name."""
    found = re.search(r"/(v\d)/", path)
    return found.group(1) if found else None


def namespaces_of(sources):
    return {"std"}.union(*(name.split("::") for code in sources.values() for name in NAMESPACE.findall(code)))


def files_of_classes(sources):
    """Returns the files that define members of each class, from the code of each path."""
    namespaces = namespaces_of(sources)
    files = collections.defaultdict(set)
    for path, code in sources.items():
        if not path.endswith(".cpp") or ALTERNATIVES.search(path):
            continue
        own = NAMESPACE.search(code)
        program = path.split("/")[1] if path.startswith("tools/") else None
        for name in classes_of(code, namespaces):
            # The objects of DOCA are in no namespace, whatever else their files define.
            scope = own.group(1) if own and not name.startswith("doca_") else None
            files[program, generation(path), scope, name].add(path)
    return files


def read_files(*suffixes):
    return {path.relative_to(TOP).as_posix(): path.read_text(encoding="utf-8")
            for folder in FOLDERS for path in sorted((TOP / folder).rglob("*")) if path.suffix in suffixes}


def read_sources():
    return {path: NO_CODE.sub("", text) for path, text in read_files(".cpp", ".hpp").items()}


class Structure(unittest.TestCase):
    def test_each_class_is_defined_in_one_file(self):
        found = [f"{name}: {', '.join(sorted(paths))}"
                 for (_, _, _, name), paths in files_of_classes(read_sources()).items() if len(paths) > 1]
        self.assertEqual([], found, "\n".join(["", *found]))

    def test_classes_have_few_functions(self):
        counts = collections.Counter()
        sources = read_sources()
        namespaces = namespaces_of(sources)
        for path, code in sources.items():
            if path.endswith(".cpp"):
                counts.update((path, name) for name in classes_of(code, namespaces))
        found = [f"{path}: {name} has {count} functions" for (path, name), count in counts.items()
                 if count > EXCEPTIONS.get(name, MAX_FUNCTIONS)]
        self.assertEqual([], found, "\n".join(["", *found]))
        largest = collections.defaultdict(int)
        for (_, name), count in counts.items():
            largest[name] = max(largest[name], count)
        self.assertEqual(EXCEPTIONS, {name: largest[name] for name in EXCEPTIONS}, "an exception is larger than needed")

    def test_functions_are_short(self):
        lengths = [(path, line, length) for path, text in read_files(".cpp", ".hpp", ".c", ".h").items()
                   for line, length in lengths_of_functions(text)]
        self.assertGreater(len(lengths), 3000)
        found = [f"{path}:{line}: {length} lines" for path, line, length in lengths if length > MAX_LINES]
        self.assertEqual([], found, "\n".join(["", *found]))

    def test_the_length_of_a_function_has_both_braces(self):
        text = "int f()\n{\n    if (x) {\n    }\n}\n\nstruct A {\n    int g()\n    {\n    }\n};\n"
        self.assertEqual([(2, 4), (9, 2)], list(lengths_of_functions(text)))

    def test_the_check_sees_definitions(self):
        def files(*codes):
            return {name: len(paths) for (_, _, _, name), paths in
                    files_of_classes({f"src/{i}.cpp": code for i, code in enumerate(codes)}).items()}

        for member in ("int A::f()", "A::A(int x)", "A::~A()", "bool A::operator==(const A &) const",
                       "std::vector<A::B> A::f()", "[[gnu::noinline]] int A::f()", "int A::B::f()",
                       "int lib::A::f()", "int A<T>::f()", "const std::pair<int, char> &A::f(std::span<int> x)"):
            self.assertEqual({"A": 2}, files(f"namespace lib {{\n{member}\n{{\n}}\n", "namespace lib {\nint A::g()\n{"))
        for other in ("static_assert(A::f());", "using A::f;", "    A::f();", "A::f();", "int lib::f()", "int f(A::B b)"):
            self.assertEqual({}, files(f"namespace lib {{\n{other}\n"))

    def test_the_check_sees_the_classes(self):
        self.assertGreater(len(files_of_classes(read_sources())), 250)


if __name__ == "__main__":
    unittest.main()
