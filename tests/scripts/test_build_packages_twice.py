#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/build_packages_twice.sh: how its two builds differ, and what it reports. A program that writes some files stands for
scripts/build_packages.sh.

test_build_packages_twice.py SCRIPT
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path()
BUILD = """#!/bin/sh
set -eu
echo "$1 $TZ $LC_ALL $(umask) ${DEB_BUILD_OPTIONS-}" >>"$CALLS"
[ "$CCACHE_DISABLE" = 1 ]
mkdir -p "$1/opt" "$1/source"
for name in a.deb opt/b.deb source/c.deb; do echo "content of $name" >"$1/$name"; done
echo "$1" >"$1/source/c.deb"
case $1 in */path) eval "${SECOND-}" ;; esac
"""


class Twice(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        for part in "scripts", "bin":
            (self.top / part).mkdir()
        for script in SCRIPT, SCRIPT.with_name("usage.sh"):
            shutil.copy(script, self.top / "scripts")
        self.program("scripts/build_packages.sh", BUILD)
        self.program("bin/diffoscope", '#!/bin/sh\necho differences >"$2"\nexit 1\n')
        self.calls = self.top / "calls"

    def program(self, name, text):
        (self.top / name).write_text(text, encoding="utf-8")
        (self.top / name).chmod(0o755)

    def build(self, *words, second="", options=""):
        self.calls.write_text("", encoding="utf-8")
        return subprocess.run([self.top / "scripts/build_packages_twice.sh", *words], capture_output=True, text=True, timeout=60,
                              check=False, env=os.environ | {"PATH": f"{self.top}/bin:{os.environ['PATH']}", "CALLS": str(self.calls),
                                                             "SECOND": second, "DEB_BUILD_OPTIONS": options})

    def test_the_builds_differ_in_all_but_the_source(self):
        (self.top / "build-packages-twice").mkdir()
        (self.top / "build-packages-twice/old.deb").touch()
        done = self.build(options="noopt")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual("both builds have made the same 2 packages, bit for bit\n", done.stdout)
        first, second = (line.split() for line in self.calls.read_text(encoding="utf-8").splitlines())
        for one, other in zip(first[:4], second):
            self.assertNotEqual(one, other)
        self.assertEqual((["noopt"], ["noopt", "parallel=1"]), (first[4:], second[4:]))

    def test_a_package_that_differs_is_named(self):
        output = self.top / "output"
        done = self.build(output, second='echo x >>"$1/opt/b.deb"')
        self.assertEqual((1, f"different: ./opt/b.deb\nsee {output}/b.deb.txt\n"), (done.returncode, done.stdout))
        self.assertEqual("differences\n", (output / "b.deb.txt").read_text(encoding="utf-8"))

    def test_a_package_that_one_build_lacks_is_named(self):
        done = self.build(second='rm "$1/a.deb"')
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assertIn("the builds have made different packages", done.stderr)
        self.assertIn("./a.deb", done.stderr)

    def test_builds_that_fail_or_make_nothing_are_no_success(self):
        self.assertEqual(3, self.build(second="exit 3").returncode)
        self.program("scripts/build_packages.sh", "#!/bin/sh\n")
        done = self.build()
        self.assertEqual(1, done.returncode)
        self.assertIn("there is no package", done.stderr)

    def test_options_and_a_second_folder_are_refused(self):
        for words in ["--help"], ["output", "--help"], ["output", "another"]:
            done = self.build(*words)
            self.assertEqual((2, "", ""), (done.returncode, done.stdout, self.calls.read_text(encoding="utf-8")), words)
            self.assertIn("usage: scripts/build_packages_twice.sh [OUTPUT]", done.stderr)


if __name__ == "__main__":
    SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
