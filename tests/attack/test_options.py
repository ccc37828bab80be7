#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The attacks refuse what is no option, or no value of one, and attack nothing.

    test_options.py PROGRAM...
"""
import subprocess
import sys
import unittest


class Options(unittest.TestCase):
    def test_what_is_none_is_refused_with_the_usage(self):
        for program in PROGRAMS:
            for words in (["--kill", "3"], ["42"], ["--seed"], ["--help"], ["--walks", "many"], ["--kills", "-1"],
                          ["--step", "1x"], ["--role", "both"], ["--kind", "signals"], ["--from", ""], ["--part", ""]):
                with self.subTest(program=program, words=words):
                    ended = subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=False)
                    self.assertEqual(ended.returncode, 2, ended.stdout)
                    self.assertEqual(ended.stdout, "")
                    self.assertIn(words[0], ended.stderr)
                    self.assertIn(f"usage: {program} [--", ended.stderr)


if __name__ == "__main__":
    PROGRAMS = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
