#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The script of docs/faults.md, with a sample and with programs that do not stand faults.

    test_faults_script.py SCRIPT SAMPLE
"""
import os
import subprocess
import sys
import unittest


def run(*command, **variables):
    ended = subprocess.run([SCRIPT, *command], env=os.environ | variables, capture_output=True, text=True, timeout=120,
                           check=False)
    lines = ended.stdout.splitlines()
    return ended.returncode, {line.split()[0]: " ".join(line.split()[1:]) for line in lines if "=" in line}


class FaultsScript(unittest.TestCase):
    def test_a_sample_stands_all_of_them(self):
        status, verdicts = run(SAMPLE)
        self.assertEqual(status, 0, verdicts)
        self.assertEqual(len(verdicts), 10)
        failed = "failed with an error (1)"
        for fault, verdict in {"register=1": failed, "register=2": failed, "job=1": failed, "full=1": failed,
                               "import=1": "got over it (0)", "job=2": "got over it (0)"}.items():
            self.assertEqual(verdicts[fault], verdict, fault)

    def test_a_crash_is_found(self):
        self.assertEqual(run("sh", "-c", "kill -SEGV $$", FAULTS="job=1"), (1, {"job=1": "CRASHES (139)"}))

    def test_a_program_that_hangs_is_found(self):
        self.assertEqual(run("sleep", "100", FAULTS="job=1", SECONDS_TO_END="0.2"), (1, {"job=1": "HANGS (124)"}))

    def test_a_program_that_is_not_there_is_no_success(self):
        self.assertEqual(run("/no/such/program", FAULTS="job=1"), (1, {"job=1": "CAN'T BE RUN (127)"}))


if __name__ == "__main__":
    SCRIPT, SAMPLE = sys.argv[1:3]
    del sys.argv[1:3]
    unittest.main()
