#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""samples/3.0/bindings: what it declares beside the facts of the ABI, and a run.

    test_bindings.py BUILD_DIR
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
SOURCE_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = SOURCE_ROOT / "samples/3.0/bindings/dma_local_copy.py"


def load():
    spec = importlib.util.spec_from_file_location("dma_local_copy", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Declarations(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        facts = json.loads((SOURCE_ROOT / "tests/abi/doca-3.0.json").read_text(encoding="utf-8"))
        cls.functions = {function["name"]: function for header in facts["headers"].values() for function in header["functions"]}
        cls.libraries = facts["libraries"]
        cls.program = load()

    def is_declared_as(self, declared, type_of_c):
        """Whether the type of ctypes is passed as that of C."""
        program = self.program
        if type_of_c.endswith("_cb_t"):
            return declared is program.CALLBACK
        if type_of_c == "const char *":
            return declared is program.c_char_p
        if type_of_c.endswith("*"):
            return declared is program.c_void_p or hasattr(declared, "contents")
        return declared is {"doca_error_t": program.c_int, "doca_notification_handle_t": program.c_int, "union doca_data": program.DATA,
                            "size_t": program.c_size_t, "uint8_t": program.c_uint8, "uint32_t": program.c_uint32, "void": None}[type_of_c]

    def test_each_function_is_that_of_its_library(self):
        for library, functions in self.program.PROTOTYPES.items():
            for name, (result, parameters) in functions.items():
                with self.subTest(function=name):
                    fact = self.functions[name]
                    self.assertFalse(fact["inline"])
                    self.assertEqual(library, self.libraries[fact["exported_by"]]["soname"])
                    types = [parameter["type"] for parameter in fact["params"]]
                    self.assertEqual(len(types), len(parameters))
                    for declared, type_of_c in zip([result, *parameters], [fact["ret"], *types]):
                        self.assertTrue(self.is_declared_as(declared, type_of_c), f"{declared} for {type_of_c}")

    def test_the_page_lists_the_inline_functions(self):
        page = (SOURCE_ROOT / "docs/bindings.md").read_text(encoding="utf-8")
        for name, function in self.functions.items():
            if function["inline"]:
                self.assertIn(f"`{name}`", page)


class Run(unittest.TestCase):
    def run_program(self, *arguments, **environment):
        libraries = ":".join(f"{BUILD_DIR}/src/{name}/v3" for name in ("core", "dma"))
        kept = {key: value for key, value in os.environ.items() if not key.startswith("DOCA_")}
        return subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True, timeout=300, check=False,
                              env=kept | {"LD_LIBRARY_PATH": libraries, "PYTHONUTF8": "1", "DOCA_SOFT": "1"} | environment)

    def test_it_copies(self):
        # Deferred, the copy is made when it is retrieved, and not when it is submitted.
        for environment in {}, {"DOCA_SOFT_DEFER": "1"}:
            done = self.run_program("ein", "Text, kopiert", **environment)
            self.assertEqual((0, "copied: ein Text, kopiert\n"), (done.returncode, done.stdout), done.stderr)

    def test_it_reports_what_fails(self):
        for fault, complaint in ("register=1", "doca_mmap_start: "), ("job=1", "the task has failed: "):
            done = self.run_program(DOCA_SOFT_FAULTS=fault)
            self.assertEqual((1, ""), (done.returncode, done.stdout))
            self.assertRegex(done.stderr, f"RuntimeError: {complaint}[A-Z]")


if __name__ == "__main__":
    BUILD_DIR = sys.argv.pop(1)
    unittest.main()
