#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What was linked with the original starts on ours, and what is linked with ours starts on the original.

    test_existing_programs.py BUILD_DIR

The original is played by stub libraries with its names, sonames and version nodes.
"""
import pathlib
import sys
import tempfile
import unittest

import facts as facts_of
import programs
import stubs
import tree
from elf import Elf
from private_loader import PrivateLoader
from programs import API, PROGRAMS, WARNINGS

FACTS = facts_of.load()
FUNCTIONS = {name: version for library in stubs.BUILT
             for name, version in facts_of.exported_functions(FACTS, library).items()}
PRIVATE_HELPERS = ("priv_doca_strlcpy", "priv_doca_zalloc")  # which no header declares
SONAMES = [FACTS["libraries"][name]["soname"] for name in stubs.BUILT]


class ExistingPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.place.name)
        cls.tree = tree.install(BUILD_DIR, root / "installed")
        cls.stubs = stubs.make(FACTS, root / "stubs")
        cls.loader = PrivateLoader(cls.tree.lib, root)
        print(f"programs find our libraries by {cls.loader.way}")
        every = root / "every_symbol.c"
        every.write_text(stubs.every_symbol_source(FACTS), encoding="utf-8")
        original = [f"-L{cls.stubs}", "-Wl,--no-as-needed,-z,now", *stubs.LINK_FLAGS]
        original += [f"-I{cls.tree.include}", API]
        ours = [*cls.tree.pkg_config("--cflags", "--libs", "doca"), "-Wl,-z,now", API]
        cls.copy, cls.every = root / "copy", root / "every"
        cls.copy_on_ours, cls.every_on_ours = root / "copy_on_ours", root / "every_on_ours"
        programs.build(PROGRAMS / "dma_copy.c", "gnu11", cls.copy, *original, *WARNINGS)
        programs.build(every, "gnu11", cls.every, *original)
        programs.build(PROGRAMS / "dma_copy.c", "gnu11", cls.copy_on_ours, *ours, *WARNINGS)
        programs.build(every, "gnu11", cls.every_on_ours, *ours)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def run_on_ours(self, program, *arguments, through=()):
        wrapper = [*self.loader.wrapper, *through]
        return programs.run(program, *arguments, wrapper=wrapper, **self.loader.environment)

    def public_symbols(self, program):
        return {s.name: s.version for s in Elf(program).undefined() if s.name.startswith("doca_")}

    def test_a_program_of_the_original_is_linked_as_they_are(self):
        program = Elf(self.copy)
        self.assertTrue(program.binds_now)
        self.assertEqual([], program.search_paths)
        self.assertLessEqual(set(SONAMES), set(program.needed))
        self.assertEqual("EXPERIMENTAL", self.public_symbols(self.copy)["doca_mmap_create"])
        self.assertEqual(FUNCTIONS, self.public_symbols(self.every))

    def test_a_program_of_the_original_copies_on_ours(self):
        done = self.run_on_ours(self.copy, "-t", "linked with the original")
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn(": linked with the original\n", done.stdout)
        self.assertNotIn("no version information", done.stderr)

    def test_a_program_of_the_original_loads_our_files(self):
        done = self.run_on_ours(self.copy, through=["env", "LD_TRACE_LOADED_OBJECTS=1"])
        where = self.loader.environment.get("LD_LIBRARY_PATH", str(self.tree.lib))
        for soname in SONAMES:
            self.assertIn(f"{soname} => {where}/{soname} ", done.stdout)

    def test_without_ldconfig_it_does_not_start(self):
        done = programs.run(self.copy)
        if done.returncode == 0:
            self.skipTest("DOCA libraries are installed on this machine")
        self.assertEqual(127, done.returncode)
        self.assertIn("cannot open shared object file", done.stderr)

    def test_every_function_of_the_original_is_there_when_a_program_starts(self):
        done = self.run_on_ours(self.every)
        self.assertEqual((0, f"{len(FUNCTIONS)} functions\n"), (done.returncode, done.stdout), done.stderr)

    def test_the_private_helpers_of_the_original_are_there(self):
        facts, root = facts_of.load(), pathlib.Path(self.place.name)
        for name in PRIVATE_HELPERS:
            facts["headers"]["doca_error.h"]["functions"].append(
                {"name": name, "symbol_version": "INTERNAL", "exported_by": "libdoca_common"})
        original, program = stubs.make(facts, root / "with_helpers"), root / "private_helpers"
        programs.build(PROGRAMS / "private_helpers.c", "gnu11", program, f"-L{original}", "-Wl,-z,now",
                       *stubs.LINK_FLAGS, *WARNINGS)
        imported = {s.name: s.version for s in Elf(program).undefined() if s.name.startswith("priv_")}
        self.assertEqual(dict.fromkeys(PRIVATE_HELPERS, "INTERNAL"), imported)
        done = self.run_on_ours(program)
        self.assertEqual((0, "", ""), (done.returncode, done.stdout, done.stderr))

    def test_a_program_of_ours_wants_nothing_that_the_original_lacks(self):
        self.assertLessEqual(set(SONAMES), set(Elf(self.every_on_ours).needed))
        for program in (self.copy_on_ours, self.every_on_ours):
            used = self.public_symbols(program)
            self.assertEqual({name: FUNCTIONS.get(name) for name in used}, used)
            needed = Elf(program).needed_nodes()
            for library in stubs.BUILT:
                # Of a library without version nodes a program wants none.
                fact = FACTS["libraries"][library]
                if fact["soname"] in Elf(program).needed:
                    nodes = {"EXPERIMENTAL"} if fact["version_nodes"] else set()
                    self.assertEqual(nodes, needed.get(fact["soname"], set()))
            foreign = {name for name in Elf(program).needed if name.startswith("libdoca_")} - set(SONAMES)
            self.assertEqual(set(), foreign)

    def test_a_program_of_ours_starts_on_the_original(self):
        done = programs.run(self.every_on_ours, LD_LIBRARY_PATH=str(self.stubs))
        self.assertEqual((0, f"{len(FUNCTIONS)} functions\n"), (done.returncode, done.stdout), done.stderr)

    def test_it_takes_as_little_as_a_missing_node_to_stop_a_program(self):
        facts = facts_of.load()
        for function in facts["headers"]["doca_dma.h"]["functions"]:
            function["symbol_version"] = "DOCA_2"
        others = stubs.make(facts, pathlib.Path(self.place.name) / "others")
        done = programs.run(self.every_on_ours, LD_LIBRARY_PATH=str(others))
        self.assertNotEqual(0, done.returncode)
        self.assertIn("EXPERIMENTAL", done.stderr)


if __name__ == "__main__":
    BUILD_DIR = sys.argv.pop(1)
    unittest.main()
