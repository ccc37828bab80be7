# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Runs tests of rdma-core, and prints what becomes of each as GoogleTest does.

pyverbs_tests.py FOLDER [--dev DEVICE] [--gid INDEX] [MODULE...]

FOLDER has the tests as files of Python. Each MODULE is one of them, as "test_qp"; default: all. A test that does not
end in a minute ends the program, with a trace of where it was.
"""

import faulthandler
import gc
import importlib
import os
import pathlib
import sys
import time
import traceback
import unittest

SECONDS = 60


class Result(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        self._begin = time.monotonic()
        self._outcome = "      OK"
        print(f"[ RUN      ] {name_of(test)}", flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True, file=sys.stdout)

    def stopTest(self, test):
        faulthandler.cancel_dump_traceback_later()
        milliseconds = round((time.monotonic() - self._begin) * 1000)
        print(f"[ {self._outcome} ] {name_of(test)} ({milliseconds} ms)", flush=True)
        super().stopTest(test)

    def _fail(self, error):
        self._outcome = " FAILED "
        print(traceback.format_exception_only(*error[:2])[-1], end="")
        traceback.print_exception(*error, file=sys.stdout)

    def addError(self, test, err):
        super().addError(test, err)
        self._fail(err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._fail(err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self._fail(err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        if self._outcome == "      OK":
            self._outcome = " SKIPPED"
        print(reason)


def name_of(test):
    return test.id().partition("tests.")[2]


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    modules = [argument for argument in sys.argv[2:] if argument.startswith("test_")]
    sys.argv[1:] = [argument for argument in sys.argv[2:] if argument not in modules]

    # The tests import each other as of a package "tests", and their arguments as of its folder.
    sys.path[:0] = [str(folder), str(folder.parent)]
    importlib.import_module("args_parser").parser.parse_args()
    # A test that skips itself in its set-up leaves objects in cycles, which the collector would free in any order: pyverbs
    # then uses a device that is closed. They stay until the process ends.
    gc.disable()
    suite = unittest.TestSuite()
    for module in modules or sorted(path.stem for path in folder.glob("test_*.py")):
        suite.addTests(unittest.defaultTestLoader.loadTestsFromName(f"tests.{module}"))
    result = Result()
    suite.run(result)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    exit_status = main()
    sys.stdout.flush()
    os._exit(exit_status)  # without freeing those objects
