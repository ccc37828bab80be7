#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Tests of the command line of run_dma_samples.sh: where it builds, and what it refuses to build in.

test_run_dma_samples.py SCRIPT
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest


class CommandLine(unittest.TestCase):
    def setUp(self):
        """A source tree in which the first step fails, so that nothing is built."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for part in ("samples", "scripts"):
            (self.root / part).mkdir()
        shutil.copy(SCRIPT, self.root / "samples" / "run_dma_samples.sh")
        first_step = self.root / "scripts" / "install_dependencies.sh"
        first_step.write_text("#!/bin/sh\nexit 5\n")
        first_step.chmod(0o755)

    def run_script(self, *words):
        return subprocess.run([self.root / "samples" / "run_dma_samples.sh", *words], cwd=self.root,
                              capture_output=True, text=True, timeout=60, check=False)

    def refused(self, *words):
        before = sorted(self.root.rglob("*"))
        done = self.run_script(*words)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(done.stdout, "")
        self.assertIn("samples/run_dma_samples.sh [build folder]", done.stderr)
        self.assertEqual(sorted(self.root.rglob("*")), before)
        return done.stderr

    def built_in(self, folder, *words):
        done = self.run_script(*words)
        self.assertEqual(done.returncode, 5)
        self.assertEqual(done.stdout.splitlines()[0], f"Everything is built in {folder}")
        self.assertTrue(folder.is_dir())

    def test_it_says_first_where_it_builds(self):
        self.built_in(self.root / "build-samples")
        self.built_in(self.root / "here", "here")
        self.built_in(self.root / "here", "here")  # which is empty
        (self.root / "here" / "sdk-setup.log").touch()
        self.built_in(self.root / "here", self.root / "here")  # which has its own things

    def test_what_is_no_folder_is_refused(self):
        self.assertIn("'--build' is no build folder", self.refused("--build"))
        self.assertIn("'' is no build folder", self.refused(""))
        self.assertIn("is no folder", self.refused("scripts/install_dependencies.sh"))
        self.assertIn("one build folder, and not 2", self.refused("a", "b"))

    def test_a_folder_with_other_things_is_refused(self):
        self.assertIn("'samples' has things in it", self.refused("samples"))

    def test_help(self):
        done = self.run_script("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("samples/run_dma_samples.sh [build folder]", done.stdout)


if __name__ == "__main__":
    SCRIPT = sys.argv.pop(1)
    unittest.main()
