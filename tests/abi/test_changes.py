#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""docs/moving-to-3.0.md is up to date, and changes.py tells when it is not.

test_changes.py PAGE
"""
import copy
import pathlib
import subprocess
import sys
import tempfile
import unittest

import changes

SCRIPT = pathlib.Path(changes.__file__)


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], stderr=subprocess.PIPE, text=True, check=False)


class ChangesTest(unittest.TestCase):
    def test_the_page_is_up_to_date(self):
        done = run(PAGE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_another_table_is_found_and_written_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            stale = PAGE.read_text(encoding="utf-8").replace("`doca_pe_create`", "`doca_pe_make`")
            page.write_text(stale, encoding="utf-8")
            self.assertIn("not up to date", run(page).stderr)
            self.assertEqual(run("--write", page).returncode, 0)
            self.assertEqual(page.read_text(encoding="utf-8"), PAGE.read_text(encoding="utf-8"))

    def problems(self, change):
        told = copy.deepcopy(changes.load("changes-3.0.json"))
        change(told)
        return list(changes.problems(changes.functions(changes.load("doca-2.2.json")),
                                     changes.functions(changes.load("doca-3.0.json")), told))

    def test_each_function_has_one_explanation(self):
        self.assertEqual(self.problems(lambda told: None), [])
        self.assertIn("doca_workq_create", self.problems(lambda told: told["renamed"].pop("doca_workq_create"))[0])
        self.assertIn("doca_workq_create", self.problems(lambda told: told["gone"].update(doca_workq_create=""))[0])
        self.assertIn("doca_dma_create", self.problems(lambda told: told["gone"].update(doca_dma_create=""))[0])

    def test_names_exist(self):
        self.assertIn("doca_no", self.problems(lambda told: told["renamed"].update(doca_workq_create="doca_no"))[0])
        self.assertIn("doca_no", self.problems(lambda told: told["gone"].update(doca_ctx_dev_rm="`doca_no`"))[0])
        self.assertIn("doca_none", self.problems(lambda told: told["notes"].update(doca_none="text"))[0])

    def test_parameters_are_compared_in_their_order(self):
        def function(*types):
            return {"ret": "doca_error_t", "params": [{"type": c_type, "name": "x"} for c_type in types]}
        self.assertEqual(changes.difference(function("const char *"), function("char *"), {}), [])
        self.assertEqual(changes.difference(function("old *"), function("now *"), {"old": "now"}), [])
        self.assertEqual(changes.difference(function("int", "char *"), function("char *", "int"), {}),
                         ["takes `char *x, int x`"])


if __name__ == "__main__":
    PAGE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
