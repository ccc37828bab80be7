#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The SDK trees of both API generations from one build, side by side.

    test_generations.py BUILD_DIR
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import programs
import tree
from elf import Elf
from programs import API, PROGRAMS, WARNINGS

SOURCE_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VERSIONS = {"2.2": "2.2.0080", "3.0": "3.0.0058"}


def folder(at_prefix, generation):
    return "" if generation == at_prefix else f"lib/opendoca/{generation}"


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.place.name)
        first = tree.install(BUILD_DIR, cls.root / "destination")
        at_prefix = tree.build_options(BUILD_DIR)["prefix_generation"]
        cls.prefix = first.moved_to(cls.root / "moved")
        cls.trees = {generation: cls.prefix.below(folder(at_prefix, generation)) for generation in VERSIONS}

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def test_each_has_its_headers_libraries_and_version(self):
        for generation, sdk in self.trees.items():
            version = VERSIONS[generation]
            with self.subTest(generation=generation):
                self.assertEqual(version, (sdk.prefix / "applications" / "VERSION").read_text(encoding="utf-8").strip())
                self.assertTrue((sdk.lib / f"libdoca_common.so.{version}").is_file())
                self.assertEqual("libdoca_common.so.2", Elf(sdk.lib / "libdoca_common.so").soname)
                for module in ("doca-common", "doca-dma"):
                    self.assertEqual([version], sdk.pkg_config("--modversion", module))
                    for option, wanted in (("-I", sdk.include), ("-L", sdk.lib)):
                        flags = sdk.pkg_config("--cflags", "--libs", module)
                        paths = {pathlib.Path(flag[2:]).resolve() for flag in flags if flag.startswith(option)}
                        self.assertEqual({wanted.resolve()}, paths)
        headers = {generation: {path.name for path in sdk.include.glob("doca_*.h")}
                   for generation, sdk in self.trees.items()}
        self.assertIn("doca_pe.h", headers["3.0"] - headers["2.2"])
        self.assertIn("doca_bufpool.h", headers["2.2"] - headers["3.0"])
        for sdk in self.trees.values():
            self.assertFalse((sdk.include / "3.0").exists())

    def test_a_program_of_tasks_runs(self):
        sdk = self.trees["3.0"]
        program = self.root / "task_copy"
        programs.build(PROGRAMS / "task_copy.c", "c11", program, API, "-D_GNU_SOURCE", *WARNINGS,
                       *sdk.pkg_config("--cflags", "--libs", "doca-common", "doca-dma"))
        done = programs.run(program, LD_LIBRARY_PATH=str(sdk.lib))
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn("copied: a text", done.stdout)

    def test_modules_of_older_releases_set_the_level(self):
        sdk = self.trees["3.0"]
        levels = {"doca-2.5": 20500, "doca-2.6": 20600, "doca-2.7": 20700, "doca-2.8": 20800}
        modules = {path.stem for path in sdk.pkgconfig.glob("*.pc")}
        self.assertLess(set(levels), modules)
        for module in modules:
            flags = [flag for flag in sdk.pkg_config("--cflags", module) if "DOCA_API" in flag]
            self.assertEqual([f"-DDOCA_API={levels[module]}"] if module in levels else [], flags)
        for module in levels:
            self.assertEqual(sdk.pkg_config("--libs", "doca"), sdk.pkg_config("--libs", module))

    def test_libraries_of_2_5_have_their_names_for_the_linker(self):
        sdk, program = self.trees["3.0"], self.root / "by_names_of_2_5"
        source = self.root / "by_names_of_2_5.c"
        source.write_text("#include <doca_cc.h>\n#include <doca_comm_channel.h>\n"
                          "int main(void) { struct doca_comm_channel_ep_t *ep; return doca_comm_channel_ep_create(&ep) "
                          "+ (doca_cc_client_destroy(0) == DOCA_SUCCESS); }\n", encoding="utf-8")
        programs.build(source, "c11", program, API, "-DDOCA_API=20500", *WARNINGS, f"-I{sdk.include}", f"-L{sdk.lib}",
                       "-ldoca_cc", "-ldoca_comm_channel", "-ldoca_common")
        self.assertIn("libdoca_comch.so.2", Elf(program).needed)
        done = programs.run(program, LD_LIBRARY_PATH=str(sdk.lib))
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_a_sample_is_built_alone(self):
        sdk, place = self.trees["3.0"], self.root / "sample"
        tree.meson("setup", place, SOURCE_ROOT / "samples/3.0/doca_dma/dma_local_copy",
                   f"-Dpkg_config_path={sdk.pkgconfig}", "-Dwerror=true")
        tree.meson("compile", "-C", place)
        done = programs.run(place / "doca_dma_local_copy", LD_LIBRARY_PATH=str(sdk.lib))
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        for fault, text in (("job=1", "Input/output"), ("full=1", "again")):  # and it comes to its end
            done = programs.run(place / "doca_dma_local_copy", LD_LIBRARY_PATH=str(sdk.lib), DOCA_SOFT_FAULTS=fault)
            self.assertNotEqual(0, done.returncode)
            self.assertIn(text, done.stdout + done.stderr)

    def test_two_processes_in_ci(self):
        sdk = self.trees["3.0"]
        done = programs.run(SOURCE_ROOT / "samples/3.0/ci/run.sh", PKG_CONFIG_PATH=str(sdk.pkgconfig))
        self.assertEqual((0, "the server has heard: hello\n"), (done.returncode, done.stdout), done.stderr)

    def test_the_workflow_of_the_page_about_ci(self):
        """With the step of its action that sets the environment; the steps that build and install have been done."""
        page = (SOURCE_ROOT / "docs/ci-without-a-card.md").read_text(encoding="utf-8")
        workflow = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1]
        folder = re.search(r"uses: opendoca/opendoca/(\S+)@", workflow)[1]
        generation = re.search(r"generation: '(\S+)'", workflow)[1]
        sdk = self.trees[generation]
        action = (SOURCE_ROOT / folder / "action.yml").read_text(encoding="utf-8")
        step = textwrap.dedent(re.search(r"name: Set the environment.*? run: \|\n(.*)", action, re.DOTALL)[1])
        place, path = self.root / "github_env", self.root / "github_path"
        done = programs.run("bash", "-e", "-c", step, GENERATION=generation, PREFIX=str(self.prefix.prefix), GITHUB_ENV=str(place),
                            GITHUB_PATH=str(path))
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(f"{self.prefix.prefix}/bin\n", path.read_text(encoding="utf-8"))
        environment = dict(setting.split("=", 1) for setting in place.read_text(encoding="utf-8").splitlines())
        self.assertEqual({"PKG_CONFIG_PATH": str(sdk.pkgconfig), "LD_LIBRARY_PATH": str(sdk.lib), "DOCA_SOFT": "1"},
                         environment)
        place = self.root / "workflow"
        place.mkdir()
        for side in "server", "client":
            script = place / f"my_{side}"
            script.write_text(f"#!/bin/sh\nexec ./hello {side}\n", encoding="utf-8")
            script.chmod(0o755)
        (place / "Makefile").write_text(
            "CPPFLAGS = -DDOCA_ALLOW_EXPERIMENTAL_API $(shell pkg-config --cflags doca-common doca-comch)\n"
            "LDLIBS = $(shell pkg-config --libs doca-common doca-comch)\n"
            f"VPATH = {SOURCE_ROOT}/samples/3.0/ci\n"
            "hello: hello_comch.c\n\t$(LINK.c) $^ $(LDLIBS) -o $@\n", encoding="utf-8")
        steps = [re.search(r"^      - run: (.*?) *(?:#.*)?$", workflow, re.MULTILINE)[1],
                 textwrap.dedent(re.search(r"name: two sides\n +run: \|\n(.*)", workflow, re.DOTALL)[1])]
        self.assertEqual("make", steps[0])
        for step in steps:
            done = programs.run("bash", "-e", "-c", step, cwd=place, **environment)
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertEqual("the server has heard: hello\n", done.stdout)

    def test_tools_keep_their_libraries_when_the_environment_names_the_others(self):
        for generation, other in (("2.2", "3.0"), ("3.0", "2.2")):
            for tool in "doca_caps", "doca_bench":
                with self.subTest(generation=generation, tool=tool):
                    program = self.trees[generation].prefix / "bin" / tool
                    done = programs.run(program, "--version", LD_LIBRARY_PATH=str(self.trees[other].lib), LD_BIND_NOW="1")
                    self.assertEqual(0, done.returncode, done.stderr)
                    self.assertIn(VERSIONS[generation], done.stdout)

    def test_exports_lead_to_each_generation(self):
        for generation, sdk in self.trees.items():
            done = programs.run(self.prefix.prefix / "bin/with_opendoca", generation, "--exports")
            self.assertEqual(f"export PKG_CONFIG_PATH={sdk.pkgconfig}\nexport LD_LIBRARY_PATH={sdk.lib}\n", done.stdout)

    def test_a_program_of_one_generation_does_not_start_with_the_other(self):
        sdk = self.trees["3.0"]
        program = self.root / "wrong"
        programs.build(PROGRAMS / "task_copy.c", "c11", program, API, "-D_GNU_SOURCE",
                       *sdk.pkg_config("--cflags", "--libs", "doca-common", "doca-dma"))
        done = programs.run(program, LD_LIBRARY_PATH=str(self.trees["2.2"].lib), LD_BIND_NOW="1")
        self.assertNotEqual(0, done.returncode)
        self.assertRegex(done.stderr, "undefined symbol: doca_pe_")


class OtherWayRound(unittest.TestCase):
    def test_an_option_puts_the_other_generation_at_the_prefix(self):
        with tempfile.TemporaryDirectory() as place:
            tree.meson("setup", place, SOURCE_ROOT, "-Dprefix_generation=3.0", "-Dprefix=/opt/sdk",
                       "-Dlibdir=lib/here", "-Dtests=false", "-Dtools=false")
            listed = subprocess.run(["meson", "introspect", "--installed", place], capture_output=True, text=True,
                                    check=True)
            installed = set(json.loads(listed.stdout).values())
        for path in ("/opt/sdk/lib/here/libdoca_common.so.3.0.0058", "/opt/sdk/lib/here/pkgconfig/doca-common.pc",
                     "/opt/sdk/lib/opendoca/2.2/lib/here/libdoca_common.so.2.2.0080",
                     "/opt/sdk/lib/opendoca/2.2/lib/here/pkgconfig/doca-common.pc",
                     "/opt/sdk/applications/VERSION", "/opt/sdk/lib/opendoca/2.2/applications/VERSION"):
            self.assertIn(path, installed)
        wrong = [path for path in installed if re.search(r"^/opt/sdk/lib/here/.*2\.2\.0080", path)]
        self.assertEqual([], wrong)


if __name__ == "__main__":
    BUILD_DIR = sys.argv.pop(1)
    unittest.main()
