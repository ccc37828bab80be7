#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The 3.0 headers at the levels 2.5 to 2.8: that they compile, hold the facts of 2.5 and 2.6, are bound to symbols that
the libraries have, and are as docs/older-apis.md has them.

    test_task_names.py --build DIR --cc CC --cxx CXX
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import names
from names import TASKS

sys.path.append(str(names.HERE.parent / "abi"))
import compiler  # noqa: E402
import facts  # noqa: E402
from elf import Elf  # noqa: E402

LANGUAGES = [("c", "c99"), ("c++", "c++17")]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LEVELS = TASKS.patterns.LEVELS
KNOWN = {20500: "2.5", 20600: "2.6"}
# Of other systems.
OTHER_SYSTEMS = {"<winsock2.h>", "<windows.h>", "<mlx5verbs.h>"}


def known_headers(level):
    text = (names.HERE / f"doca-{KNOWN[level]}.json").read_text(encoding="utf-8")
    return json.loads(text)["headers"]


def run_compiler(language, standard, options, source):
    command = [*(ARGS.cc if language == "c" else ARGS.cxx).split(), "-x", language, f"-std={standard}",
               f"-I{TASKS.include}", compiler.ALLOWED, *WARNINGS, *options, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False)


class Headers(unittest.TestCase):
    def compiles(self, level, source):
        for language, standard in LANGUAGES:
            done = run_compiler(language, standard, ["-fsyntax-only", f"-DDOCA_API={level}"], source)
            self.assertEqual(0, done.returncode, f"{level} {standard}: {done.stderr}")

    def test_each_header_compiles_alone_at_each_level(self):
        for level in LEVELS:
            for header in TASKS.headers(level):
                self.compiles(level, f"#include <{header}>\nextern int not_empty;\n")

    def test_all_compile_together_in_both_orders(self):
        for level in [*LEVELS, TASKS.today]:
            for order in (TASKS.headers(level), TASKS.headers(level)[::-1]):
                self.compiles(level, "".join(f"#include <{header}>\n" for header in order))

    def test_other_levels_are_refused(self):
        for level in (10500, 20200, 20400, 20900):
            done = run_compiler("c", "c11", ["-fsyntax-only", f"-DDOCA_API={level}"], "#include <doca_pe.h>\n")
            self.assertIn("DOCA_API is 20500, 20600, 20700 or 20800", done.stderr)

    def test_without_the_flag_nothing_is_there(self):
        today = names.Level(ARGS.cc, TASKS.today, TASKS)
        self.assertEqual({}, today.bound)
        for header in sorted(TASKS.of_levels):
            done = run_compiler("c", "c11", ["-fsyntax-only"], f"#include <{header}>\n")
            self.assertIn("is for programs of DOCA 2.5", done.stderr)

    def test_2_5_and_2_6_are_as_their_headers_were(self):
        for level in KNOWN:
            headers = known_headers(level)
            self.assertGreater(len(headers), 20)
            judge = compiler.Compilers(f"{ARGS.cc} -DDOCA_API={level}", f"{ARGS.cxx} -DDOCA_API={level}", str(TASKS.include))
            for language in facts.LANGUAGES:
                for name, header in headers.items():
                    claims = list(facts.claims(language, name, header))
                    bad, fault = compiler.judge(judge, language, name, claims)
                    self.assertEqual(([], ""), ([claim.label for claim in bad], fault), f"{level} {language.standard}")

    def test_2_5_and_2_6_include_what_their_headers_did(self):
        """Directly or not: the preprocessor lists all files that a header has taken in."""
        for level in KNOWN:
            for name, header in known_headers(level).items():
                done = run_compiler("c", "c11", ["-M", f"-DDOCA_API={level}"], f"#include <{name}>\n")
                taken = set(done.stdout.split())
                for wanted in set(header["includes"]) - OTHER_SYSTEMS:
                    file = wanted.strip("<>")
                    self.assertTrue([path for path in taken if path.endswith(f"/{file}")], f"{level} {name}: {wanted}")


class Symbols(unittest.TestCase):
    def test_every_name_links(self):
        """A program that takes the address of each bound function, and of each one of the facts."""
        folders = [pathlib.Path(ARGS.build) / folder for folder in TASKS.patterns.LIBRARIES.values()]
        for level in LEVELS:
            functions = set(names.Level(ARGS.cc, level, TASKS).bound)
            if level in KNOWN:
                functions |= {function["name"] for header in known_headers(level).values() for function in header["functions"]}
                self.assertGreater(len(functions), 500)
            source = "".join(f"#include <{header}>\n" for header in TASKS.headers(level))
            source += "typedef void (*any)(void);\nextern any all[];\nany all[] = {\n"
            source += "".join(f"(any){function},\n" for function in sorted(functions)) + "0};\n"
            source += "int main(void) { return all[0] == 0; }\n"
            with tempfile.TemporaryDirectory() as place:
                options = [f"-DDOCA_API={level}", "-Wno-cast-function-type", "-o", f"{place}/program"]
                link = ["-x", "none", *(f"-L{folder}" for folder in folders),
                        *(f"-ldoca_{library}" for library in TASKS.patterns.LIBRARIES),
                        "-Wl,-rpath," + ":".join(map(str, folders))]
                (pathlib.Path(place) / "all.c").write_text(source, encoding="utf-8")
                command = [*ARGS.cc.split(), "-std=c11", f"-I{TASKS.include}", compiler.ALLOWED, *options,
                           f"{place}/all.c", *link]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual(0, done.returncode, f"{level}: {done.stderr}")
                self.assertEqual(0, subprocess.run([f"{place}/program"], check=False).returncode)

    def test_each_private_symbol_is_exported_for_ever(self):
        wanted = set()
        for level in LEVELS:
            bound = names.Level(ARGS.cc, level, TASKS).bound.values()
            wanted |= {symbol for symbol in bound if symbol.startswith("opendoca_")}
        exported = {}
        for folder in TASKS.patterns.LIBRARIES.values():
            for library in pathlib.Path(ARGS.build, folder).glob("libdoca_*.so.2"):
                exported.update({symbol.name: symbol for symbol in Elf(library).defined()})
        self.assertGreater(len(wanted), 90)
        for symbol in wanted:
            self.assertIn(symbol, exported)
            self.assertEqual(("INTERNAL", True), (exported[symbol].version, exported[symbol].is_default), symbol)
        self.assertEqual(wanted, {name for name in exported if name.startswith("opendoca_")})


class Table(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.changed = names.changed(ARGS.cc, TASKS)

    def test_the_document_has_it(self):
        text = names.DOCUMENT.read_text(encoding="utf-8")
        self.assertIn(names.table(self.changed, TASKS), text, "tests/older/names.py writes it anew")

    def test_no_name_of_3_0_is_lost(self):
        """2.5 has the version under other names, which clash in what they mean."""
        lost = {name.name for name in self.changed if "gone" in name.states.values()}
        self.assertEqual({name for name in lost if name.startswith("DOCA_VERSION_")}, lost)
        for name in self.changed:
            self.assertNotIn("gone", list(name.states.values())[1:], name.name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for option in ("build", "cc", "cxx"):
        parser.add_argument(f"--{option}", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
