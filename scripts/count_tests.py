#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Adds up the test cases of runs of `meson test`. Exits 0 only when some ran and none failed.

count_tests.py MESON-LOGS...

Each argument is the directory meson-logs of a build tree. The cases are read from its JUnit report. That report has no
entry for a test that was stopped at its time limit, or that failed after its last case (a leak, a data race). Therefore
testlog.json is read as well, which has the result of each test as a whole; such a test counts as one more failure.
"""
import json
import os
import sys
import xml.etree.ElementTree as ElementTree

# Results of meson that are no failure.
GOOD_RESULTS = ("OK", "SKIP", "EXPECTEDFAIL", "IGNORED")


def results(logs):
    """Returns the result of each test as a whole, by name."""
    with open(os.path.join(logs, "testlog.json"), encoding="utf-8") as file:
        tests = map(json.loads, filter(str.strip, file))
        return {test["name"]: test["result"] for test in tests}


def owner(suite, case, tests):
    """Returns the test that a case belongs to, or None.

    Suites are named "project.test" or "project.test.group"; a test without cases of its own is one case with its name.
    """
    if case.get("name") in tests:
        return case.get("name")
    _, _, name = suite.get("name", "").partition(".")
    return max((test for test in tests if (name + ".").startswith(test + ".")), key=len, default=None)


def count(logs):
    """Prints the cases that have failed, and returns the numbers of those that passed, failed and were skipped."""
    passed = failed = skipped = 0
    tests = results(logs)
    explained = set()  # tests with a case that failed
    for suite in ElementTree.parse(os.path.join(logs, "testlog.junit.xml")).iter("testsuite"):
        for case in suite.iter("testcase"):
            test = owner(suite, case, tests)
            is_whole_test = case.get("name") == test
            if is_whole_test and tests[test] == "TIMEOUT":
                pass  # counted below; newer releases of meson have a failure here, older ones none
            elif case.find("failure") is not None or case.find("error") is not None:
                failed += 1
                explained.add(test)
                print(f"failed: {case.get('classname', '')} {case.get('name', '')}")
            elif is_whole_test and tests[test] not in GOOD_RESULTS:
                pass  # counted below
            elif case.find("skipped") is not None or case.get("result") in ("skipped", "suppressed"):
                skipped += 1
            else:
                passed += 1
    for test, result in tests.items():
        if result not in GOOD_RESULTS and test not in explained:
            failed += 1
            print(f"failed: {test} ({result})")
    return passed, failed, skipped


def main():
    totals = [0, 0, 0]
    for logs in sys.argv[1:]:
        counts = count(logs)
        name = os.path.basename(os.path.dirname(os.path.abspath(logs)))
        print(f"{name}: {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped")
        totals = [total + number for total, number in zip(totals, counts)]
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 0 if totals[0] > 0 and totals[1] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
