#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/install_tree.sh: what it asks of meson, and what it refuses. A program that logs its arguments stands for meson.

test_install_tree.py SCRIPT
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path()
MESON = """#!/bin/sh
echo "$*" >>"$CALLS"
if [ "$1" = setup ]; then
    for word in "$@"; do case $word in /*/build) mkdir -p "$word"; touch "$word/build.ninja" ;; esac; done
fi
[ "$1" != "${FAIL-}" ]
"""


class InstallTree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        for part in "scripts", "bin":
            (self.top / part).mkdir()
        shutil.copy(SCRIPT, self.top / "scripts")
        self.program("scripts/install_dependencies.sh", '#!/bin/sh\necho dependencies >>"$CALLS"\n')
        self.program("bin/meson", MESON)
        self.calls = self.top / "calls"

    def program(self, name, text):
        (self.top / name).write_text(text)
        (self.top / name).chmod(0o755)

    def run_script(self, *words, **environment):
        self.calls.write_text("")
        return subprocess.run([self.top / "scripts/install_tree.sh", *words], capture_output=True, text=True, timeout=60, check=False,
                              env=os.environ | {"PATH": f"{self.top}/bin:{os.environ['PATH']}", "CALLS": str(self.calls)} | environment)

    def install(self, *words):
        done = self.run_script("--prefix", self.top / "tree", "--build", self.top / "build", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, self.calls.read_text().splitlines()

    def test_the_steps(self):
        printed, calls = self.install("--generation", "3.0", "--", "-Dwerror=true")
        self.assertEqual(calls[0], "dependencies")
        self.assertRegex(calls[1], f"^setup {self.top}/build {self.top} --prefix={self.top}/tree --libdir=lib "
                                   "-Dprefix_generation=3.0 -Dtests=false .* -Dwerror=true$")
        self.assertEqual(calls[2:], [f"compile -C {self.top}/build", f"install -C {self.top}/build --no-rebuild --quiet"])
        self.assertEqual(printed, f"opendoca is installed in {self.top}/tree, with the API of 3.0 at the prefix\n")
        self.assertTrue((self.top / "tree").is_dir())

    def test_a_build_tree_is_used_again(self):
        self.assertNotIn("--reconfigure", self.install()[1][1])
        self.assertIn("setup --reconfigure ", self.install()[1][1])

    def test_the_options_exist(self):
        """Those that it passes to meson are the project's, or meson's own."""
        options = (SCRIPT.parent.parent / "meson_options.txt").read_text(encoding="utf-8")
        for word in self.install()[1][1].split():
            if word.startswith("-D") and not word.startswith("-Dunity"):
                self.assertIn(f"option('{word[2:].split('=')[0]}'", options)

    def test_a_step_that_fails_ends_it(self):
        for step, steps in ("setup", 2), ("compile", 3), ("install", 4):
            done = self.run_script("--prefix", self.top / "tree", "--build", self.top / "build", FAIL=step)
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn("is installed", done.stdout)
            self.assertEqual(len(self.calls.read_text().splitlines()), steps)

    def test_wrong_arguments_are_refused(self):
        for words, complaint in ((["--generation", "2.5"], "generations are 2.2 and 3.0, and not '2.5'"),
                                 (["--prefix", "tree"], "must be an absolute path, and is 'tree'"),
                                 (["--prefix", "/usr"], "/usr has another layout"),
                                 (["--prefix"], "--prefix needs a value"),
                                 (["here"], "no such option: 'here'")):
            done = self.run_script(*words)
            self.assertEqual((done.returncode, done.stdout, self.calls.read_text()), (2, "", ""))
            self.assertIn(complaint, done.stderr)
            self.assertIn("scripts/install_tree.sh [OPTION...]", done.stderr)
        self.assertEqual(self.run_script("--help").returncode, 0)


if __name__ == "__main__":
    SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
