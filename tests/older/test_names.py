#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The headers at each older level: that they compile, hold the facts of 1.5, and are as docs/older-apis.md has them.

    test_names.py --build DIR --cc CC --cxx CXX
"""
import argparse
import json
import pathlib
import subprocess
import sys
import unittest

import names
import patterns

sys.path.append(str(names.HERE.parent / "abi"))
import compiler  # noqa: E402
import facts  # noqa: E402
from elf import Elf  # noqa: E402

LANGUAGES = [("c", "c11"), ("c++", "c++17"), ("c++", "c++20")]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
# They take const buffers, as those of 2.2: what a program gives them fits.
TAKE_MORE = {"doca_buf_get_len", "doca_buf_get_head", "doca_buf_get_data_len", "doca_buf_get_data"}
HEADERS = sorted(path.name for path in names.INCLUDE.glob("doca_*.h"))


def compile_only(language, standard, options, source):
    command = [*(ARGS.cc if language == "c" else ARGS.cxx).split(), "-x", language, f"-std={standard}", "-fsyntax-only",
               f"-I{names.INCLUDE}", compiler.ALLOWED, *WARNINGS, *options, "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False)


class Headers(unittest.TestCase):
    def compiles(self, level, source):
        for language, standard in LANGUAGES:
            done = compile_only(language, standard, [f"-DDOCA_API={level}"], source)
            self.assertEqual(0, done.returncode, f"{level} {standard}: {done.stderr}")

    def test_each_header_compiles_alone_at_each_level(self):
        for level in patterns.LEVELS:
            for header in HEADERS:
                self.compiles(level, f"#include <{header}>\nextern int not_empty;\n")

    def test_all_compile_together_in_both_orders(self):
        for level in [*patterns.LEVELS, names.TODAY]:
            for order in (HEADERS, HEADERS[::-1]):
                self.compiles(level, "".join(f"#include <{header}>\n" for header in order))

    def test_other_levels_are_refused(self):
        for level in (10200, 20300, 30000):
            done = compile_only("c", "c11", [f"-DDOCA_API={level}"], "#include <doca_types.h>\n")
            self.assertIn("DOCA_API is 10300, 10400, 10500 or 20002", done.stderr)

    def test_without_the_flag_nothing_is_there(self):
        today = names.Level(ARGS.cc, names.TODAY)
        self.assertEqual({}, today.bound)
        self.assertFalse({name for name in today.names if name.startswith("PCI_") or "pci_bdf" in name})

    def test_1_5_is_as_its_headers_were(self):
        with open(names.HERE / "doca-1.5.json", encoding="utf-8") as file:
            headers = json.load(file)["headers"]
        self.assertGreater(len(headers), 10)
        for name, header in headers.items():
            for record in facts.records(header):  # anonymous members have no place by a name
                record["fields"] = [field for field in record["fields"] if field["name"]]
            claims = [claim for claim in facts.claims(facts.C11, name, header)
                      if not any(f" {function}(" in claim.label for function in TAKE_MORE)]
            judge = compiler.Compilers(f"{ARGS.cc} -DDOCA_API=10500", ARGS.cxx, str(names.INCLUDE))
            bad, fault = compiler.judge(judge, facts.C11, name, claims)
            self.assertEqual(([], ""), ([claim.label for claim in bad], fault))


class Table(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.changed = names.changed(ARGS.cc)

    def test_the_document_has_it(self):
        text = names.DOCUMENT.read_text(encoding="utf-8")
        self.assertIn(names.table(self.changed), text, "tests/older/names.py writes it anew")

    def test_each_name_has_a_program_at_each_level(self):
        self.assertEqual({}, {name.name: name.untested for name in self.changed if name.untested})

    def test_no_name_of_2_2_is_lost(self):
        self.assertEqual([], [name.name for name in self.changed if "gone" in name.states.values()])

    def test_each_symbol_is_exported_for_ever(self):
        wanted = {symbol for name in self.changed for symbol in name.symbols if symbol.startswith("opendoca_")}
        exported = {}
        for library in pathlib.Path(ARGS.build).glob("src/*/libdoca_*.so.2"):
            exported.update({symbol.name: symbol for symbol in Elf(library).defined()})
        self.assertGreater(len(wanted), 20)
        for symbol in wanted:
            self.assertIn(symbol, exported)
            self.assertEqual(("INTERNAL", True), (exported[symbol].version, exported[symbol].is_default), symbol)
        self.assertEqual(wanted, {name for name in exported if name.startswith("opendoca_")})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for option in ("build", "cc", "cxx"):
        parser.add_argument(f"--{option}", required=True)
    ARGS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
