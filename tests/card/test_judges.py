#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Tests of the judges: that they notice. Their card is a script here, and so are the programs on it."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

HERE = pathlib.Path(__file__).resolve().parent
REPORT = HERE.parent / "vm" / "report.py"

WITH_CARD = """#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift 2; done
exec "$@"
"""

RDMA_CORE_TESTS = """
import unittest

class Some(unittest.TestCase):
    def test_passes(self):
        print("a line of its own")
    def test_fails(self):
        self.assertEqual(1, 2)
    def test_is_skipped(self):
        self.skipTest("no such queue pair")
    def test_fails_in_a_part(self):
        with self.subTest():
            self.fail("a part")

class Other(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("never set up")
    def test_is_never_run(self):
        pass
"""


class JudgesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.add_program("with_card", WITH_CARD)

    def add_program(self, name, script):
        (self.folder / name).write_text(script)
        (self.folder / name).chmod(0o755)

    def run_judge(self, *arguments):
        """The exit status of a report on the judge, and the result of each test, with its reason."""
        return self.report(HERE / "judges" / "judge.py", self.folder / "with_card", *arguments)

    def report(self, *command):
        xml = self.folder / "report.xml"
        path = f"{self.folder}:{os.environ['PATH']}"
        done = subprocess.run([sys.executable, REPORT, f"--gtest_output=xml:{xml}", sys.executable, *command],
                              env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        results = {}
        for case in ElementTree.parse(xml).iter("testcase") if xml.exists() else ():
            result = next(iter(case), None)
            results[f"{case.get('classname')}.{case.get('name')}"] = (
                ("passed", "") if result is None else (result.tag, result.get("message")))
        return done.returncode, results

    def test_card_of_another_kind(self):
        self.add_program("ibv_devinfo", "#!/bin/sh\necho 'hca_id: mlx5_0'\n"
                         "printf '\\tfw_ver: 16.35.2000\\n\\tvendor_part_id: 4119\\n\\tnode_guid: 0:0:0:1\\n'\n"
                         "printf '\\tsys_image_guid: 0:0:0:1\\n\\t\\tport: 1\\n\\t\\t\\tstate: PORT_DOWN (1)\\n'\n")
        status, results = self.run_judge("connectx-7", "devinfo")
        self.assertEqual(status, 1)
        self.assertEqual(results["devinfo.host"][0], "passed")
        self.assertEqual(results["devinfo.part"], ("failure", "mlx5_0: vendor_part_id is 4119, not one of [4129]"))
        for name in ("limits", "ports", "usable_port"):
            self.assertEqual(results[f"devinfo.{name}"][0], "failure")
        _, results = self.run_judge("connectx-5", "devinfo")
        self.assertEqual(results["devinfo.part"][0], "passed")

    def test_program_that_fails_or_gets_no_answer(self):
        self.add_program("ibv_devinfo", "#!/bin/sh\necho 'hca_id: mlx5_0'\n"
                         "printf '\\tport: 1\\n\\t\\tstate: PORT_ACTIVE (4)\\n\\t\\tlink_layer: InfiniBand\\n'\n")
        self.add_program("ibv_rc_pingpong", "#!/bin/sh\necho the reason\nexit 3\n")
        status, results = self.run_judge("infiniband", "pingpong")
        self.assertEqual(status, 1)
        tag, message = results["pingpong.rc"]
        self.assertEqual(tag, "failure")
        self.assertTrue(message.endswith("-n 50 -c ended with status 3"), message)

    def test_card_that_does_not_start(self):
        self.add_program("with_card", "#!/bin/sh\necho broken\nexit 125\n")
        self.assertEqual(self.run_judge("bluefield-3", "devinfo")[0], 1)

    def check_misuse(self, command, message):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(message, done.stderr)

    def test_misuse_of_the_judge(self):
        judge, missing = [sys.executable, HERE / "judges" / "judge.py"], self.folder / "missing"
        self.check_misuse([*judge, missing, "connectx-7", "devinfo"], f"judge.py: {missing} is no program")
        self.check_misuse([*judge, self.folder, "connectx-7", "devinfo"], f"judge.py: {self.folder} is no program")
        self.check_misuse([*judge, self.folder / "with_card", "connectx-7", "devinfos", "tools"],
                          "judge.py: no such judge: devinfos")

    def test_misuse_of_the_card_and_rxe(self):
        script = HERE.parent / "vm" / "card_and_rxe.sh"
        self.check_misuse([script], "usage: card_and_rxe.sh WITH_CARD ROCE_PAIR short|long|rdma_cm")
        self.check_misuse([script, "with_card", "roce_pair", "shorter"], "'shorter' is not short, long or rdma_cm")

    def test_tests_of_rdma_core(self):
        tests = self.folder / "tests"
        tests.mkdir()
        (tests / "__init__.py").touch()
        (tests / "args_parser.py").write_text(
            "class Parser:\n    def parse_args(self):\n        pass\nparser = Parser()\n")
        (tests / "test_some.py").write_text(RDMA_CORE_TESTS)
        done = subprocess.run([sys.executable, HERE / "judges" / "pyverbs_tests.py", tests, "test_some"], check=False,
                              stdout=subprocess.PIPE, text=True)
        output = self.folder / "output"
        output.write_text(f"@@ begin pyverbs\n{done.stdout}@@ end {done.returncode}\n@@ complete\n")
        self.add_program("cat.py", f"print(open({str(output)!r}).read())")
        _, results = self.report(self.folder / "cat.py")
        self.assertEqual({name.rpartition(".")[2]: result[0] for name, result in results.items()},
                         {"test_passes": "passed", "test_fails": "failure", "test_fails_in_a_part": "failure",
                          "test_is_skipped": "skipped"})
        self.assertEqual(results["test_some.Some.test_fails"][1], "AssertionError: 1 != 2")
        self.assertEqual(results["test_some.Some.test_is_skipped"][1], "no such queue pair")
        self.assertIn("never set up", done.stdout)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
