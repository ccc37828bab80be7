#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""scripts/not_built.py: a page that says something else, or a row that names what there is not, is told.

    test_not_built.py SCRIPT"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path()

TRUTH = {"tables": [{"heading": "DOCA 3.0", "api": "3.0", "first_column": "what", "rows": [
    {"what": "`doca_umem_destroy`, `_get_id`, and `DOCA_SUCCESS`", "code": "DOCA_ERROR_NOT_SUPPORTED",
     "answer": "{code}: it is a test", "always": True, "but": ["doca_umem_get_id"]},
    {"what": "`doca_task_batch_get_*`, `doca_clock_destroy`", "code": "DOCA_ERROR_BAD_STATE", "answer": "{code}",
     "always": True, "of_null": "DOCA_ERROR_FULL"},
    {"what": "`doca_uar_create`", "answer": "nothing"}]}]}
TABLE = """| what | answer |
|---|---|
| `doca_umem_destroy`, `_get_id`, and `DOCA_SUCCESS` | `DOCA_ERROR_NOT_SUPPORTED`: it is a test |
| `doca_task_batch_get_*`, `doca_clock_destroy` | `DOCA_ERROR_BAD_STATE` |
| `doca_uar_create` | nothing |
"""
PAGE = f"# A page\n\n## DOCA 3.0\n\nSome text.\n\n{TABLE}\nMore text.\n\n## Another\n\n| a | b |\n|---|---|\n| `old` | row |\n"


class NotBuilt(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page = pathlib.Path(folder.name, "page.md")
        self.truth = pathlib.Path(folder.name, "truth.json")
        self.page.write_text(PAGE, encoding="utf-8")

    def run_script(self, *arguments, truth=None):
        self.truth.write_text(json.dumps(truth or TRUTH), encoding="utf-8")
        return subprocess.run([SCRIPT, *arguments, "--truth", self.truth, "--page", self.page], capture_output=True, text=True,
                              check=False)

    def changed(self, row, **changes):
        truth = copy.deepcopy(TRUTH)
        truth["tables"][0]["rows"][row].update(changes)
        return truth

    def test_a_page_that_is_true_is_left_alone(self):
        for what in "--check", "--write":
            done = self.run_script(what)
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
            self.assertEqual(self.page.read_text(encoding="utf-8"), PAGE)

    def test_a_stale_page_is_reported_and_written(self):
        self.page.write_text(PAGE.replace("it is a test", "it was one"), encoding="utf-8")
        done = self.run_script("--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("stale below 'DOCA 3.0'", done.stdout)
        self.assertIn("--write", done.stdout)
        self.assertEqual(self.run_script("--write").returncode, 0)
        self.assertEqual(self.page.read_text(encoding="utf-8"), PAGE)

    def test_a_row_more_or_less_is_stale(self):
        for page in PAGE.replace("| `doca_uar_create` | nothing |\n", ""), PAGE.replace(TABLE, TABLE + "| a | b |\n"):
            self.page.write_text(page, encoding="utf-8")
            self.assertEqual(self.run_script("--check").returncode, 1)

    def test_calls_are_those_of_functions_that_answer_a_code(self):
        self.assertEqual(self.run_script("--calls", "3.0").stdout.splitlines(),
                         ["CALL(doca_umem_destroy, DOCA_ERROR_NOT_SUPPORTED, DOCA_ERROR_INVALID_VALUE),",
                          "CALL(doca_task_batch_get_status, DOCA_ERROR_BAD_STATE, DOCA_ERROR_FULL),",
                          "CALL(doca_clock_destroy, DOCA_ERROR_BAD_STATE, DOCA_ERROR_FULL),"])

    def test_mistakes_are_named(self):
        for row, changes, complaint in ((0, {"what": "`doca_umem_none`"}, "doca_umem_none is no function"),
                                        (0, {"what": "`doca_clock_create`, `_fly`"}, "_fly is no function"),
                                        (0, {"but": ["doca_uar_create"]}, "doca_uar_create, which the row does not name"),
                                        (0, {"answer": "no code"}, "go together"),
                                        (2, {"answer": "{code}"}, "go together"),
                                        (2, {"always": True}, "with a code"),
                                        (2, {"whatever": 1}, "has no 'whatever'")):
            done = self.run_script("--check", truth=self.changed(row, **changes))
            self.assertEqual(done.returncode, 1, changes)
            self.assertIn(complaint, done.stderr)
        self.page.write_text(PAGE.replace("## DOCA 3.0", "## Something else"), encoding="utf-8")
        self.assertIn("no heading 'DOCA 3.0'", self.run_script("--check").stderr)

    def test_every_function_is_exported_or_in_a_table(self):
        truth = json.loads((SCRIPT.parent.parent / "docs" / "not-built.json").read_text(encoding="utf-8"))
        done = self.run_script("--coverage", truth=truth)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        for api, start, complaint in (
                ("2.2", "sync events on a GPU", "doca_sync_event_publisher_add_location_dpa of DOCA 2.2 is for a DPA"),
                ("2.2", "`doca_buf_arr_get_gpu_handle`", "doca_buf_arr_get_gpu_handle of DOCA 2.2 is for a GPU"),
                ("3.0", "`doca_umem_dpa_create`", "of DOCA 3.0 is for a DPA")):
            less = copy.deepcopy(truth)
            for table in less["tables"]:
                table["rows"] = [row for row in table["rows"] if table["api"] != api or not row["what"].startswith(start)]
            self.assertNotEqual(less, truth)
            done = self.run_script("--coverage", truth=less)
            self.assertEqual(done.returncode, 1)
            self.assertIn(complaint, done.stderr)


if __name__ == "__main__":
    SCRIPT = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=sys.argv[:1])
