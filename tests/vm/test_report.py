#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Tests of report.py: what it makes of the output of a suite."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

EXCEPTIONS = pathlib.Path(__file__).resolve().parent / "exceptions.txt"
REPORT = pathlib.Path(__file__).resolve().parent / "report.py"
PASSED = "[ RUN      ] d/A.b/rxe0\n[       OK ] d/A.b/rxe0 (12 ms)\n"
FAILED = "[ RUN      ] d/A.c/rxe0\nx.cpp:1: Failure\n[  FAILED  ] d/A.c/rxe0, where GetParam() = rxe0 () (3 ms)\n"
SKIPPED = "[ RUN      ] d/A.d/rxe0\nno atomics\n[  SKIPPED ] d/A.d/rxe0 (0 ms)\n"
EXCEPTION = '@@ exception dma d/A.c/*rxe0* "x.cpp:1: Fail" the quirk\n'


class ReportTest(unittest.TestCase):
    def report(self, output, status=0):
        """The exit status, and the result of each test."""
        with tempfile.TemporaryDirectory() as folder:
            text, xml = pathlib.Path(folder, "output"), pathlib.Path(folder, "report.xml")
            text.write_text(output)
            xml.write_text("of an earlier run")
            done = subprocess.run([sys.executable, REPORT, f"--gtest_output=xml:{xml}", "sh", "-c",
                                   f"cat '{text}'; exit {status}"], stdout=subprocess.PIPE, text=True, check=False)
            results = {}
            if xml.exists():
                for suite in ElementTree.parse(xml).iter("testsuite"):
                    for case in suite.iter("testcase"):
                        result = next((child for child in case), None)
                        results[f"{suite.get('name')} {case.get('classname')}.{case.get('name')}"] = (
                            ("passed", "") if result is None else (result.tag, result.get("message")))
            return done.returncode, results

    def test_results_of_googletest(self):
        output = f"@@ begin dma\n{PASSED}{SKIPPED}[  PASSED  ] 1 test.\n@@ end 0\n@@ complete\n"
        self.assertEqual(self.report(output), (0, {"dma d/A.b/rxe0": ("passed", ""),
                                                   "dma d/A.d/rxe0": ("skipped", "no atomics")}))
        status, results = self.report(f"@@ begin dma\n{PASSED}{FAILED}@@ end 1\n@@ complete\n")
        self.assertEqual(status, 1)
        self.assertEqual(results["dma d/A.c/rxe0"], ("failure", "x.cpp:1: Failure"))

    def test_results_of_tap(self):
        output = "@@ begin samples\nok 1 - rdma\nnot ok 2 - dma\n# why\nok 3 - graph # SKIP no SHA\n1..3\n@@ end 1\n@@ complete\n"
        self.assertEqual(self.report(output), (1, {"samples samples.rdma": ("passed", ""),
                                                   "samples samples.dma": ("failure", "why"),
                                                   "samples samples.graph": ("skipped", "no SHA")}))

    def test_program_that_dies_fails_the_test_it_was_in(self):
        status, results = self.report(f"@@ begin dma\n{PASSED}[ RUN      ] d/A.e/rxe0\n@@ end 139\n@@ complete\n")
        self.assertEqual(status, 1)
        self.assertEqual(results["dma d/A.e/rxe0"], ("failure", "the program ended here, with status 139"))

    def test_program_that_fails_after_its_tests(self):
        status, results = self.report(f"@@ begin dma\n{PASSED}@@ end 1\n@@ complete\n")
        self.assertEqual((status, results["dma dma.ends"][0]), (1, "failure"))

    def test_program_without_tests(self):
        status, results = self.report(f"@@ begin dma\n@@ end 0\n@@ begin sha\n{PASSED}@@ end 0\n@@ complete\n")
        self.assertEqual((status, results["dma dma.runs"][0]), (1, "failure"))

    def test_machine_that_dies(self):
        status, results = self.report(f"@@ begin dma\n{PASSED}[ RUN      ] d/A.e/rxe0\n", status=125)
        self.assertEqual(status, 1)
        self.assertEqual(results["dma d/A.e/rxe0"][0], "failure")
        self.assertEqual(results["dma dma.completes"][0], "failure")

    def test_exceptions_have_to_fail(self):
        begin = f"@@ begin dma\n{PASSED}@@ end 0\n{EXCEPTION}@@ begin dma\n"
        status, results = self.report(f"{begin}{FAILED}@@ end 1\n@@ complete\n")
        self.assertEqual(status, 0)
        self.assertEqual(results["dma d/A.c/rxe0"], ("skipped", "does not pass on this device: the quirk"))
        # But not by passing, nor by not being there.
        status, results = self.report(f"{begin}{PASSED.replace('A.b', 'A.c')}@@ end 0\n@@ complete\n")
        self.assertEqual((status, results["dma d/A.c/rxe0"][0]), (1, "failure"))
        status, results = self.report(f"{begin}@@ end 0\n@@ complete\n")
        self.assertEqual(status, 1)

    def test_exceptions_have_to_fail_in_their_way(self):
        begun = "@@ begin dma\n[ RUN      ] d/A.c/rxe0\n"
        failed = "[  FAILED  ] d/A.c/rxe0 (3 ms)\n@@ end 1\n@@ complete\n"
        for way, output, expected in (
                ('"x.cpp:1: Fail"', f"{begun}x.cpp:1: Failure\n{failed}", "skipped"),
                ('"x.cpp:1: Fail"', f"{begun}x.cpp:2: Failure\n{failed}", "failure"),
                # The text, and then something else.
                ('"x.cpp:1: Fail"', f"{begun}x.cpp:1: Failure\n@@ end 139\n@@ complete\n", "failure"),
                ('"x.cpp:1: Fail"', f"{begun}x.cpp:1: Failure\n@@ end 124\n@@ complete\n", "failure"),
                ("timeout", f"{begun}@@ end 124\n@@ complete\n", "skipped"),
                ("timeout", f"{begun}@@ end 137\n@@ complete\n", "skipped"),
                ("timeout", f"{begun}@@ end 139\n@@ complete\n", "failure"),
                ("timeout", f"{begun}timeout\n{failed}", "failure")):
            with self.subTest(way=way, output=output):
                status, results = self.report(f"@@ begin other\n{PASSED}@@ end 0\n@@ exception dma d/A.c/*rxe0* {way}"
                                              f" the quirk\n{output}")
                self.assertEqual((status, results["dma d/A.c/rxe0"][0]), (0 if expected == "skipped" else 1, expected))
        # In TAP.
        begun = f'@@ begin dma\n{PASSED}@@ end 0\n@@ exception dma send* "has not ended" the quirk\n@@ begin dma\n'
        for detail, expected in (("x has not ended within 12 s", "skipped"), ("x has ended", "failure")):
            status, results = self.report(f"{begun}not ok 1 - send\n# {detail}\n@@ end 1\n@@ complete\n")
            self.assertEqual((status, results["dma dma.send"][0]), (0 if expected == "skipped" else 1, expected))

    def test_exceptions_have_to_name_a_way(self):
        output = f"@@ begin dma\n{PASSED}@@ end 0\n@@ exception dma d/A.c/*rxe0* the quirk\n@@ begin dma\n{FAILED}@@ end 1\n"
        status, results = self.report(f"{output}@@ complete\n")
        self.assertEqual((status, results["dma d/A.c/rxe0"][0]), (1, "failure"))

    def test_exceptions_of_the_suite(self):
        lines = [line for line in EXCEPTIONS.read_text().splitlines() if not line.startswith("#") and line]
        self.assertNotEqual(lines, [])
        for line in lines:
            self.assertRegex(line, r'^(rxe|rc) \S+ \S+ (timeout|"[^"]+") \S')

    def test_announced_skips(self):
        def run(tests, *announced):
            marks = "".join(f"@@ {line}\n" for line in announced)
            return self.report(f"{marks}@@ begin dma\n{tests}@@ end 0\n@@ complete\n")

        status, results = run(PASSED + SKIPPED, "skip dma d/A.d/* no engine")
        self.assertEqual(status, 0)
        self.assertEqual(results["dma d/A.d/rxe0"], ("skipped", "is not run on this device: no engine"))
        # A test that runs all the same, one that is skipped besides, and one that is not there.
        status, results = run(PASSED + SKIPPED, "skip dma d/A.* no engine")
        self.assertEqual((status, results["dma d/A.b/rxe0"][0]), (1, "failure"))
        status, results = run(PASSED + SKIPPED, "skip dma d/A.b/* no engine")
        self.assertEqual((status, results["dma d/A.d/rxe0"]),
                         (1, ("failure", "was skipped, which no exception announces")))
        self.assertEqual(run(SKIPPED, "skip dma d/A.d/* no engine", "skip dma d/A.e/* no engine")[0], 1)
        # What depends on the machine may pass, too, but not fail.
        for tests, expected in ((PASSED + SKIPPED, 0), (PASSED + FAILED, 1)):
            self.assertEqual(run(tests, "optional dma d/A.* huge pages")[0], expected)

    def test_second_machine(self):
        first = f"@@ begin dma\n{PASSED}@@ end 0\n"
        second = "".join(f"host 2: {line}\n" for line in ("@@ begin serve", "not ok - serve", "@@ end 1", "@@ complete"))
        status, results = self.report(f"{first}{second}@@ complete\n")
        self.assertEqual((status, results["host 2: serve host 2: serve.serve"][0]), (1, "failure"))

    def test_nothing_to_test(self):
        self.assertEqual(self.report("", status=77), (77, {}))
        self.assertEqual(self.report("", status=0)[0], 1)


if __name__ == "__main__":
    unittest.main()
