#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Tests of count_tests.py: what it makes of the logs that meson itself writes.

test_count_tests.py COUNT_TESTS
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

# Shell programs that report as GoogleTest does: a case in FILE of --gtest_output=xml:FILE.
WRITE_REPORT = """
file=${1#--gtest_output=xml:}
cat >"$file" <<END
<testsuites><testsuite name="Group" tests="1"><testcase name="case" status="run" classname="Group">$2</testcase>
</testsuite></testsuites>
END
"""
SKIPPED_CASE = "<skipped message='not here'/>"
FAILED_CASE = "<failure message='wrong'/>"


class CountTest(unittest.TestCase):
    def count(self, *tests):
        """Runs tests, each a protocol and a shell script, by meson. Gives the exit status and the lines printed."""
        with tempfile.TemporaryDirectory() as folder:
            lines = ["project('tiny')"]
            for number, (protocol, script) in enumerate(tests, start=1):
                path = pathlib.Path(folder, f"test{number}.sh")
                path.write_text("#!/bin/sh\n" + script)
                path.chmod(0o755)
                # test1 is the beginning of test10's name.
                lines.append(f"test('test{number}', find_program('test{number}.sh'), protocol: '{protocol}',"
                             f" suite: 'suite{number}', timeout: 1)")
            pathlib.Path(folder, "meson.build").write_text("\n".join(lines))
            build = pathlib.Path(folder, "build")
            subprocess.run(["meson", "setup", build, folder], stdout=subprocess.DEVNULL, check=True)
            subprocess.run(["meson", "test", "-C", build], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           check=False)
            done = subprocess.run([sys.executable, COUNT_TESTS, build / "meson-logs"], stdout=subprocess.PIPE, text=True,
                                  check=False)
            return done.returncode, done.stdout.splitlines()

    def test_all_is_well(self):
        status, lines = self.count(("exitcode", "exit 0"), ("exitcode", "exit 77"), ("gtest", WRITE_REPORT),
                                   ("gtest", WRITE_REPORT.replace("$2", SKIPPED_CASE)), ("gtest", "exit 77"),
                                   ("tap", "echo 1..2; echo ok 1 - a; echo ok 2 - b"))
        self.assertEqual((status, lines), (0, ["build: 4 passed, 0 failed, 3 skipped", "4 passed, 0 failed, 3 skipped"]))

    def test_failure_counts_once(self):
        status, lines = self.count(("exitcode", "exit 1"), ("exitcode", "kill -9 $$"),
                                   ("gtest", WRITE_REPORT.replace("$2", FAILED_CASE) + "exit 1"),
                                   ("tap", "echo 1..2; echo ok 1 - a; echo not ok 2 - b; exit 1"))
        self.assertEqual((status, lines[-1]), (1, "1 passed, 4 failed, 0 skipped"))
        self.assertIn("failed: Group case", lines)

    def test_stopped_at_the_time_limit(self):
        status, lines = self.count(("exitcode", "exit 0"), ("exitcode", "exec sleep 60"), ("gtest", "exec sleep 60"),
                                   ("tap", "echo 1..2; echo ok 1 - a; exec sleep 60"))
        self.assertEqual((status, lines[-1]), (1, "2 passed, 3 failed, 0 skipped"))
        for number in (2, 3, 4):
            self.assertIn(f"failed: tiny:suite{number} / test{number} (TIMEOUT)", lines)

    def test_failed_after_its_last_case(self):
        # Address and thread sanitizers tell so what they have found.
        status, lines = self.count(*[("gtest", WRITE_REPORT)] * 9, ("gtest", WRITE_REPORT + "exit 66"),
                                   ("tap", "echo 1..1; echo ok 1 - a; exit 3"))
        self.assertEqual((status, lines[-1]), (1, "11 passed, 2 failed, 0 skipped"))
        self.assertIn("failed: tiny:suite10 / test10 (FAIL)", lines)

    def test_failures_are_those_of_their_own_test(self):
        # What has failed in test10 does not stand for test1.
        status, lines = self.count(("gtest", WRITE_REPORT + "exit 66"), *[("exitcode", "exit 0")] * 8,
                                   ("gtest", WRITE_REPORT.replace("$2", FAILED_CASE) + "exit 1"))
        self.assertEqual((status, lines[-1]), (1, "9 passed, 2 failed, 0 skipped"))


if __name__ == "__main__":
    if shutil.which("meson") is None:
        print("skipped: there is no meson in the PATH")
        sys.exit(77)
    COUNT_TESTS = sys.argv.pop(1)
    unittest.main()
