#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The installed tree as users meet it: its layout, pkg-config, moving it, and programs built with it.

    test_packaging.py BUILD_DIR
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import facts as facts_of
import programs
import stubs
import tree
from elf import Elf
from programs import API, PROGRAMS, WARNINGS

SOURCE_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FACTS = facts_of.load()
VERSION = FACTS["api"]
PER_LIBRARY = ["doca-common", "doca-argp", "doca-dma", "doca-sha", "doca-compress", "doca-erasure-coding", "doca-comm-channel",
               "doca-rdma"]
OLDER = {"doca-1.3": 10300, "doca-1.4": 10400, "doca-1.5": 10500, "doca-2.0": 20002}
MODULES = ["doca", "doca-libs", *PER_LIBRARY, *OLDER]
LAYOUTS = [("/opt/mellanox/doca", "lib/x86_64-linux-gnu"), ("/opt/mellanox/doca", "lib64"), ("/usr/local", "lib"),
           ("/home/someone/sdk", "lib/aarch64-linux-gnu")]


def pattern_of_paths_in(folder):
    """Matches no text that only contains its characters: a clone in /opendoca is not meant by /tmp/opendoca-cards."""
    return rf"(?:(?<![\w.\-/}}])|(?<=-[IL])){re.escape(str(folder))}/"


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.place.name)
        first = tree.install(BUILD_DIR, cls.root / "destination")
        cls.old_prefix = first.prefix
        cls.tree = first.moved_to(cls.root / "moved")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def build_and_run(self, source, standard, modules, *options):
        program = pathlib.Path(tempfile.mkdtemp(dir=self.root)) / "program"
        flags = self.tree.pkg_config("--cflags", "--libs", *modules)
        programs.build(PROGRAMS / source, standard, program, *options, *flags)
        return programs.run(program, LD_LIBRARY_PATH=str(self.tree.lib)), program

    def test_layout_is_that_of_the_original(self):
        self.assertEqual(set(FACTS["headers"]), {path.name for path in self.tree.include.glob("doca_*")})
        version = (self.tree.prefix / "applications" / "VERSION").read_text(encoding="utf-8")
        self.assertEqual(VERSION, version.strip())
        modules = {path.name for path in self.tree.pkgconfig.iterdir()}
        self.assertEqual({f"{name}.pc" for name in MODULES}, modules)

    def test_modules_ask_for_no_package_of_others(self):
        for module in MODULES:
            with self.subTest(module=module):
                self.assertEqual([VERSION], self.tree.pkg_config("--modversion", module))
                self.assertEqual([], self.tree.pkg_config("--print-requires-private", module))
                wanted = self.tree.pkg_config("--print-requires", module)
                self.assertLessEqual(set(wanted), set(MODULES))

    def test_one_module_has_every_library(self):
        libs = self.tree.pkg_config("--libs", "doca")
        self.assertEqual("-Wl,--as-needed", libs[0])
        self.assertEqual(stubs.LINK_FLAGS, [flag for flag in libs if flag.startswith("-l")])
        self.assertIn("-DALLOW_EXPERIMENTAL_API", self.tree.pkg_config("--cflags", "doca"))

    def test_modules_of_older_releases_set_the_level(self):
        for module, level in OLDER.items():
            with self.subTest(module=module):
                self.assertIn(f"-DDOCA_API={level}", self.tree.pkg_config("--cflags", module))
                self.assertEqual(self.tree.pkg_config("--libs", "doca"), self.tree.pkg_config("--libs", module))
        for module in set(MODULES) - set(OLDER):
            self.assertFalse([flag for flag in self.tree.pkg_config("--cflags", module) if "DOCA_API" in flag])

    def test_modules_of_a_moved_tree_point_into_it(self):
        for module in MODULES:
            flags = self.tree.pkg_config("--cflags", "--libs", module)
            for option, wanted in (("-I", self.tree.include), ("-L", self.tree.lib)):
                paths = {pathlib.Path(flag[2:]).resolve() for flag in flags if flag.startswith(option)}
                self.assertEqual({wanted.resolve()}, paths)

    def test_no_file_knows_where_it_was_built_or_installed(self):
        traces = [pattern_of_paths_in(SOURCE_ROOT), pattern_of_paths_in(BUILD_DIR), re.escape(str(self.old_prefix))]
        prefix = tree.build_options(BUILD_DIR)["prefix"] + "/"
        for path in self.tree.prefix.rglob("*"):
            if path.is_symlink() or not path.is_file() or self.tree.include in path.parents:
                continue
            is_module = path.suffix == ".pc"
            text = path.read_text(encoding="utf-8") if is_module else strings_of(path)
            for trace in traces:
                self.assertNotRegex(text, trace, path)
            if is_module:
                self.assertNotIn(prefix, text, path)

    def test_links_stay_inside_the_tree(self):
        for path in self.tree.prefix.rglob("*"):
            if path.is_symlink():
                self.assertFalse(path.readlink().is_absolute(), path)
                self.assertTrue(path.exists(), path)

    def test_programs_compile_link_and_run_in_each_language(self):
        sources = [("dma_copy.c", "c11", "-D_GNU_SOURCE"), ("dma_copy.c", "gnu17", "-O1"),
                   *(("dma_copy.cpp", cxx, "-O1") for cxx in ("c++14", "c++17", "c++20", "gnu++2b"))]
        for source, standard, option in sources:
            with self.subTest(source=source, standard=standard):
                done, _ = self.build_and_run(source, standard, ["doca"], API, option, *WARNINGS)
                self.assertEqual(0, done.returncode, done.stdout + done.stderr)
                self.assertRegex(done.stdout, "copied.*: a text")

    def test_programs_of_the_1_5_era_name_each_library(self):
        done, _ = self.build_and_run("dma_copy.c", "gnu11", PER_LIBRARY, API)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_the_role_is_chosen_by_a_macro(self):
        for macro, role in (("DOCA_ARCH_DPU", "DPU"), ("DOCA_ARCH_HOST", "host")):
            done, _ = self.build_and_run("dma_copy.c", "gnu11", ["doca"], API, f"-D{macro}", *WARNINGS)
            self.assertIn(f"copied on the {role}: a text", done.stdout)

    def test_a_program_needs_only_what_it_uses(self):
        _, program = self.build_and_run("dma_copy.c", "gnu11", ["doca"], API)
        wanted = {FACTS["libraries"][name]["soname"] for name in ("libdoca_common", "libdoca_argp", "libdoca_dma")}
        self.assertEqual(wanted, {name for name in Elf(program).needed if not name.startswith("libc.")})

    def test_without_the_macro_each_call_is_deprecated_and_still_compiles(self):
        program = self.root / "deprecated"
        said = programs.build(PROGRAMS / "dma_copy.c", "gnu11", program, "-Wall",
                              *self.tree.pkg_config("--cflags", "--libs", "doca"))
        for name in ("doca_mmap_create", "doca_workq_submit", "doca_argp_start", "doca_dma_create"):
            self.assertRegex(said, f"'{name}' is deprecated.*Symbol is defined as experimental")

    def test_jobs_of_the_other_libraries_compile(self):
        for standard in ("c11", "gnu17"):
            programs.build(PROGRAMS / "other_libraries.c", standard, self.root / "other.o", "-c", API,
                           *WARNINGS, *self.tree.pkg_config("--cflags", "doca"))

    def test_linking_with_the_name_libdoca_core(self):
        program = self.root / "by_core_name"
        programs.build(PROGRAMS / "dma_copy.c", "gnu11", program, API, f"-I{self.tree.include}",
                       f"-L{self.tree.lib}", "-ldoca_core", "-ldoca_argp", "-ldoca_dma")
        self.assertIn("libdoca_common.so.2", Elf(program).needed)


class OtherPlaces(unittest.TestCase):
    """packaging/ alone, configured for other prefixes; it needs no compiler."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.source = pathlib.Path(place.name) / "source"
        shutil.copytree(SOURCE_ROOT / "packaging", self.source / "packaging")
        (self.source / "meson.build").write_text(
            f"project('packaging')\nsdk_version = '{VERSION}'\nv3_version = '3.0.0058'\nis_v3_at_prefix = false\n"
            "subdir('packaging/layout')\nsubdir('packaging')\n", encoding="utf-8")
        shutil.copy(SOURCE_ROOT / "meson_options.txt", self.source)

    def test_the_place_of_another_doca_is_refused(self):
        for file in "include/doca_version.h", "lib64/libdoca_common.so.2", "lib64/libdoca_common.so":
            with self.subTest(file=file), tempfile.TemporaryDirectory() as place:
                prefix = pathlib.Path(place) / "doca"
                (prefix / file).parent.mkdir(parents=True)
                (prefix / file).touch()
                setup = ["meson", "setup", prefix / "build", self.source, f"--prefix={prefix}", "-Dlibdir=lib64"]
                done = subprocess.run(setup, capture_output=True, text=True, check=False)
                self.assertEqual(1, done.returncode)
                self.assertIn(f"another DOCA is installed in {prefix}, which has {file}: choose another --prefix", done.stdout)
                # Ours is installed over an earlier one of ours.
                (prefix / "lib/opendoca").mkdir(parents=True)
                done = subprocess.run(setup, capture_output=True, text=True, check=False)
                self.assertEqual(0, done.returncode, done.stdout)

    def test_modules_find_their_tree_in_any_layout(self):
        for prefix, libdir in LAYOUTS:
            with self.subTest(prefix=prefix, libdir=libdir), tempfile.TemporaryDirectory() as place:
                root = pathlib.Path(place)
                tree.meson("setup", root / "build", self.source, f"--prefix={prefix}", f"-Dlibdir={libdir}")
                sdk = tree.install(root / "build", root / "destination")
                self.assertEqual(root / "destination" / prefix[1:] / libdir / "pkgconfig", sdk.pkgconfig)
                places = {"prefix": sdk.prefix, "libdir": sdk.lib, "includedir": sdk.include}
                for name, wanted in places.items():
                    says = pathlib.Path(*sdk.pkg_config(f"--variable={name}", "doca"))
                    self.assertEqual(wanted.resolve(), says.resolve())
                self.assertTrue((sdk.prefix / "applications" / "VERSION").is_file())
                for module in sdk.pkgconfig.iterdir():
                    text = module.read_text(encoding="utf-8")
                    self.assertIsNone(re.search(rf"(^|[ =]){prefix}", text, re.M))


def strings_of(path):
    """The texts in the loaded part of a library: debug information may know paths."""
    return subprocess.run(["strings", "-d", path], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    BUILD_DIR = sys.argv.pop(1)
    unittest.main()
