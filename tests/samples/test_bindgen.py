#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What bindgen makes of the headers of both generations, and samples/3.0/bindings/dma_local_copy.rs with it.

    test_bindgen.py BUILD_DIR
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLE = SOURCE_ROOT / "samples/3.0/bindings/dma_local_copy"
BUILD_DIR = ""
INCLUDES = {"2.2": "include", "3.0": "include/3.0"}
# The levels of the API that the headers have by a flag: docs/older-apis.md.
LEVELS = {"2.2": (10300, 10400, 10500, 20002), "3.0": (20500, 20600, 20700, 20800)}
if shutil.which("bindgen") is None:
    print("skipped: bindgen is not installed (package bindgen)")
    sys.exit(77)
needs_rustc = unittest.skipUnless(shutil.which("rustc"), "rustc is not installed (package rustc)")


def run(*words, **environment):
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False, env=os.environ | environment)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def bindgen(header, output, generation, *options, **environment):
    run("bindgen", *options, header, "-o", output, "--", f"-I{SOURCE_ROOT / INCLUDES[generation]}", "-DDOCA_ALLOW_EXPERIMENTAL_API",
        **environment)
    return output


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()


class Headers(Folder):
    @staticmethod
    def facts(generation):
        return json.loads((SOURCE_ROOT / f"tests/abi/doca-{generation}.json").read_text(encoding="utf-8"))

    def including(self, *names):
        header = self.folder / "included.h"
        header.write_text("".join(f"#include <{name}>\n" for name in names), encoding="utf-8")
        return header

    def all_headers(self, generation):
        facts = self.facts(generation)
        return self.including(*facts["headers"]), facts

    def test_each_function_is_declared(self):
        for generation in INCLUDES:
            with self.subTest(generation=generation):
                header, facts = self.all_headers(generation)
                declared = set(re.findall(r"pub fn (doca_\w+)", bindgen(header, self.folder / "all.rs", generation)
                                          .read_text(encoding="utf-8")))
                exported = {function["name"] for described in facts["headers"].values() for function in described["functions"]
                            if not function["inline"]}
                self.assertGreater(len(exported), 200)
                self.assertEqual(set(), exported - declared)

    def test_each_header_stands_alone_and_in_any_order(self):
        for generation in INCLUDES:
            names = list(self.facts(generation)["headers"])
            made = [bindgen(self.including(*order), self.folder / "all.rs", generation).read_text(encoding="utf-8")
                    for order in (names, names[::-1])]
            functions, reversed_functions = ({name for name in re.findall(r"pub fn (doca_\w+)", text)} for text in made)
            self.assertEqual(functions, reversed_functions)
            for name in names:
                with self.subTest(generation=generation, header=name):
                    bindgen(self.including(name), self.folder / "one.rs", generation)

    def test_levels_are_chosen_by_the_environment(self):
        """A function that a level has under another name is linked by the name of a symbol that the library exports."""
        for generation, levels in LEVELS.items():
            header, _ = self.all_headers(generation)
            symbols = (SOURCE_ROOT / f"debian/libopendoca{generation}.symbols").read_text(encoding="utf-8")
            for level in levels:
                with self.subTest(level=level):
                    made = bindgen(header, self.folder / "level.rs", generation, BINDGEN_EXTRA_CLANG_ARGS=f"-DDOCA_API={level}")
                    linked = dict(re.findall(r'#\[link_name = "\\u\{1\}(\w+)"\]\s+pub fn (doca_\w+)', made.read_text(encoding="utf-8")))
                    self.assertGreater(len(linked), 5)
                    for symbol, function in linked.items():
                        self.assertNotEqual(symbol, function)
                        self.assertIn(f" {symbol}@", symbols)

    @needs_rustc
    def test_types_have_the_layout_of_the_compiler(self):
        for generation in INCLUDES:
            with self.subTest(generation=generation):
                header, _ = self.all_headers(generation)
                # bindgen adds tests of each type's size and offsets, as clang sees them.
                types = bindgen(header, self.folder / "types.rs", generation, "--ignore-functions", "--allowlist-type", "doca_.*")
                run("rustc", "--edition", "2021", "--test", "-A", "warnings", types, "-o", self.folder / "types")
                self.assertIn("test result: ok", run(self.folder / "types"))


@needs_rustc
class Sample(Folder):
    def test_it_copies_and_reports_what_fails(self):
        bindgen(f"{SAMPLE}.h", self.folder / "doca.rs", "3.0", "--no-prepend-enum-name")
        libraries = [pathlib.Path(BUILD_DIR, "src", name, "v3") for name in ("core", "dma")]
        # The names for the linker are made when the libraries are installed.
        for folder in libraries:
            for library in folder.glob("libdoca_*.so.2"):
                (self.folder / library.name.removesuffix(".2")).symlink_to(library)
        program = self.folder / "dma_local_copy"
        run("rustc", "--edition", "2021", "-D", "warnings", f"{SAMPLE}.rs", "-o", program, "-L", self.folder, "-l", "doca_common", "-l",
            "doca_dma", OUT_DIR=str(self.folder))
        kept = {key: value for key, value in os.environ.items() if not key.startswith("DOCA_")}
        kept |= {"LD_LIBRARY_PATH": ":".join(map(str, libraries)), "DOCA_SOFT": "1"}
        for environment in {}, {"DOCA_SOFT_DEFER": "1"}:
            done = subprocess.run([program, "ein", "Text, kopiert"], capture_output=True, text=True, timeout=300, check=False,
                                  env=kept | environment)
            self.assertEqual((0, "copied: ein Text, kopiert\n"), (done.returncode, done.stdout), done.stderr)
        for fault, complaint in ("register=1", "doca_mmap_start: "), ("job=1", "the task has failed: "):
            done = subprocess.run([program], capture_output=True, text=True, timeout=300, check=False,
                                  env=kept | {"DOCA_SOFT_FAULTS": fault})
            self.assertEqual((1, ""), (done.returncode, done.stdout))
            self.assertRegex(done.stderr, f"(?m)^{complaint}[A-Z]")


if __name__ == "__main__":
    BUILD_DIR = sys.argv.pop(1)
    unittest.main()
