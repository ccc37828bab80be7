#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/abi_report.py in a repository with a release of a few lines, and with the lists of this checkout.

test_abi_report.py SCRIPT
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path()
TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SYMBOLS = """libdoca_a.so.2 libopendoca3.0 #MINVER#
* Build-Depends-Package: none
 doca_a_create@DOCA_2 0.9.0
 doca_a_destroy@DOCA_2 0.9.0
 (c++)"opendoca::f()@OPENDOCA_0.9.0" 0.9.0
"""
HEADER = {"functions": [{"name": "doca_a_create", "ret": "int", "params": [{"type": "int", "name": "x"}], "inline": False,
                         "stability": "stable"}],
          "enums": [{"name": "e", "underlying": "unsigned int", "values": [{"name": "E_ONE", "value": 1}]}],
          "structs": [], "unions": [], "typedefs": [], "macros": [{"name": "M", "value": "4"}]}


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name).resolve()
        (self.top / "scripts").mkdir()
        shutil.copy(SCRIPT, self.top / "scripts")
        self.write(SYMBOLS, HEADER)
        self.git("init", "-q")
        self.git("add", ".")
        self.git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first")

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.top, *arguments], check=True)

    def write(self, symbols, header):
        for folder in "debian", "tests/abi":
            (self.top / folder).mkdir(parents=True, exist_ok=True)
        for generation in "2.2", "3.0":
            (self.top / f"debian/libopendoca{generation}.symbols").write_text(symbols, encoding="utf-8")
            (self.top / f"tests/abi/doca-{generation}.json").write_text(json.dumps({"headers": {"doca_a.h": header}}), encoding="utf-8")

    def report(self, *arguments):
        done = subprocess.run([sys.executable, self.top / "scripts/abi_report.py", *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_nothing_has_changed(self):
        # What belongs to a release alone, names of parameters and remarks are no part of the interface.
        header = json.loads(json.dumps(HEADER))
        header["functions"][0]["params"][0]["name"] = "y"
        header["functions"][0]["stability"] = "experimental"
        header["macros"][0]["derived"] = "a remark"
        self.write(SYMBOLS.replace("OPENDOCA_0.9.0", "OPENDOCA_1.0.0"), header)
        code, report, _ = self.report("--since", "HEAD")
        self.assertEqual(0, code)
        self.assertEqual(4, len(re.findall(r"^\| (?:2\.2|3\.0) \| \w+ \| 0 \| 0 \| 0 \|$", report, re.M)), report)
        self.assertNotIn("## ", report.partition("\n")[2])

    def test_what_is_new_is_listed_and_no_error(self):
        header = json.loads(json.dumps(HEADER))
        header["enums"][0]["values"].append({"name": "E_TWO", "value": 2})
        self.write(SYMBOLS + " doca_a_start@EXPERIMENTAL 0.9.0\n", header)
        code, report, _ = self.report("--since", "HEAD")
        self.assertEqual(0, code, report)
        self.assertIn("## 2.2: symbols that were added\n\n- `libdoca_a.so.2: doca_a_start@EXPERIMENTAL`\n", report)
        self.assertIn("## 3.0: declarations that were added\n\n- `doca_a.h: enum e, E_TWO`\n", report)

    def test_what_is_gone_or_different_is_an_error(self):
        moved = SYMBOLS.replace("doca_a_destroy@DOCA_2", "doca_a_destroy@EXPERIMENTAL")
        for symbols, change, expected in (
                (moved, None, "symbols that were removed\n\n- `libdoca_a.so.2: doca_a_destroy@DOCA_2`\n"),
                (SYMBOLS, lambda header: header["functions"].clear(),
                 "declarations that were removed\n\n- `doca_a.h: function doca_a_create`\n"),
                (SYMBOLS, lambda header: header["functions"][0]["params"][0].update(type="long"),
                 "declarations that were changed\n\n- `doca_a.h: function doca_a_create`\n"),
                (SYMBOLS, lambda header: header["enums"][0]["values"][0].update(value=3),
                 "declarations that were changed\n\n- `doca_a.h: enum e, E_ONE`\n"),
                (SYMBOLS, lambda header: header["macros"][0].update(value="5"),
                 "declarations that were changed\n\n- `doca_a.h: macro M`\n")):
            header = json.loads(json.dumps(HEADER))
            if change is not None:
                change(header)
            self.write(symbols, header)
            code, report, _ = self.report("--since", "HEAD")
            self.assertEqual(1, code, report)
            self.assertIn(f"## 3.0: {expected}", report)

    def test_the_newest_tag_is_the_default(self):
        code, report, complaint = self.report()
        self.assertEqual((2, ""), (code, report))
        self.assertIn("there is no tag v* yet", complaint)
        for tag in "v0.9.0", "v0.10.0":
            self.git("tag", tag)
        code, report, _ = self.report()
        self.assertEqual(0, code)
        self.assertIn("# Binary interface since v0.10.0\n", report)

    def test_a_revision_that_is_not_there(self):
        code, report, complaint = self.report("--since", "nothing")
        self.assertEqual((2, ""), (code, report))
        self.assertRegex(complaint, r"abi_report.py: git rev-parse .*nothing.*: fatal: ")

    def test_the_lists_of_this_checkout(self):
        self.git("rm", "-qr", "debian", "tests")
        for generation in "2.2", "3.0":
            for name in f"debian/libopendoca{generation}.symbols", f"tests/abi/doca-{generation}.json":
                (self.top / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(TOP / name, self.top / name)
        code, report, _ = self.report("--since", "HEAD")
        self.assertEqual(1, code)  # doca_a_* is gone
        self.assertIn("- `libdoca_dma.so.2: doca_dma_create@", report)
        self.assertIn("- `doca_dev.h: function doca_dev_open`", report)
        self.assertIn("- `doca_error.h: enum doca_error, DOCA_SUCCESS`", report)


if __name__ == "__main__":
    SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
