#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/coverage.py in a project of one library and two tests: counts, reports, a second run, a test that fails, and errors.

test_coverage.py SOURCE_ROOT
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path()
MISSING = [name for name in ("meson", "ninja", "g++", "gcov") if shutil.which(name) is None]
if MISSING:
    print(f"skipped: {', '.join(MISSING)} is not installed")
    sys.exit(77)
FILES = {
    "meson.build": """project('small', 'c', 'cpp')
subdir('src')
test('sign', executable('sign', 'tests/sign.cpp', link_with: [libs, unused]), suite: 'unit')
test('wrong', executable('wrong', 'tests/wrong.cpp', link_with: libs), suite: 'other')
""",
    "src/meson.build": """libs = static_library('calc', 'calc/calc.cpp')
unused = static_library('unused', 'unused/unused.cpp')
""",
    "meson_options.txt": "option('tests', type: 'boolean')\noption('docs', type: 'feature')\n",
    "src/calc/calc.hpp": "int sign(int number);\n",
    "src/calc/calc.cpp": """#include "calc.hpp"
int sign(int number)
{
    if (number < 0)
        return -1;
    if (number > 0)
        return 1;
    return 0;
}
""",
    "src/unused/unused.cpp": "int unused(int number)\n{\n    return number;\n}\n",
    "tests/sign.cpp": '#include "../src/calc/calc.hpp"\nint main()\n{\n    return sign(7) + sign(8) - 2;\n}\n',
    "tests/wrong.cpp": '#include "../src/calc/calc.hpp"\nint main()\n{\n    return sign(0) + 5;\n}\n',
}
TABLE = ["folder                              lines  executed",
         "src/calc                                6    66.7 %",
         "src/unused                              2     0.0 %",
         "all                                     8    50.0 %",
         "files below 70 %: 2",
         "src/calc/calc.cpp                       6    66.7 %",
         "src/unused/unused.cpp                   2     0.0 %"]


class Coverage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.top = pathlib.Path(cls.folder.name).resolve()
        for name, text in FILES.items():
            (cls.top / name).parent.mkdir(parents=True, exist_ok=True)
            (cls.top / name).write_text(text, encoding="utf-8")
        (cls.top / "scripts").mkdir()
        for script in "coverage.py", "targets_of_tests.py":
            shutil.copy(TOP / "scripts" / script, cls.top / "scripts")
        cls.reports = cls.top / "build-coverage/coverage"

    def coverage(self, *words, **environment):
        return subprocess.run([self.top / "scripts/coverage.py", *words], capture_output=True, text=True, timeout=300, check=False,
                              cwd="/", env=os.environ | {"CC": "gcc", "CXX": "g++"} | environment)

    def test_lines_are_counted_for_each_run_alone(self):
        for _ in range(2):
            done = self.coverage("--suite", "unit")
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            self.assertEqual([*TABLE, f"lines that were not executed: {self.reports}/lines.txt"],
                             done.stdout.splitlines()[-len(TABLE) - 1:])
            self.assertEqual("src/calc/calc.cpp: 5, 8\nsrc/unused/unused.cpp: 1, 3\n",
                             (self.reports / "lines.txt").read_text(encoding="utf-8"))
            self.assertEqual(f"SF:{self.top}/src/calc/calc.cpp\nDA:2,2\nDA:4,2\nDA:5,0\nDA:6,2\nDA:7,2\nDA:8,0\nLF:6\nLH:4\nend_of_record\n"
                             f"SF:{self.top}/src/unused/unused.cpp\nDA:1,0\nDA:3,0\nLF:2\nLH:0\nend_of_record\n",
                             (self.reports / "coverage.info").read_text(encoding="utf-8"))

    def test_a_test_that_fails_is_reported(self):
        done = self.coverage("wrong", "sign")
        self.assertEqual(1, done.returncode)
        # Together they execute five of the six lines of calc.cpp.
        self.assertIn("\nfiles below 70 %: 1\nsrc/unused", done.stdout)
        done = self.coverage("wrong")
        self.assertEqual(1, done.returncode)
        self.assertIn("\nsrc/calc                                6    66.7 %\n", done.stdout)
        self.assertIn("src/calc/calc.cpp: 5, 7\n", (self.reports / "lines.txt").read_text(encoding="utf-8"))

    def test_errors(self):
        done = self.coverage("sing")
        self.assertEqual(1, done.returncode)
        self.assertIn("no such tests: sing", done.stderr)
        done = self.coverage("sign", GCOV="false")
        self.assertEqual(1, done.returncode)
        self.assertIn("coverage.py: false cannot read", done.stderr)
        other = self.top / "other"
        subprocess.run(["meson", "setup", other, self.top], check=True, stdout=subprocess.DEVNULL)
        done = self.coverage("--build", other, "sign")
        self.assertEqual(1, done.returncode)
        self.assertIn(f"coverage.py: {other} was set up without -Db_coverage=true", done.stderr)


if __name__ == "__main__":
    TOP = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
