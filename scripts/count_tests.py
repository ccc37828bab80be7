#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Adds up the test cases in the JUnit reports that `meson test` writes. Exits 0 only when some ran and none failed."""
import os
import sys
import xml.etree.ElementTree as ElementTree


def count(report):
    passed = failed = skipped = 0
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            print(f"failed: {case.get('classname', '')} {case.get('name', '')}")
        elif case.find("skipped") is not None or case.get("result") in ("skipped", "suppressed"):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main():
    totals = [0, 0, 0]
    for report in sys.argv[1:]:
        counts = count(report)
        name = os.path.basename(os.path.dirname(os.path.dirname(report)))
        print(f"{name}: {counts[0]} passed, {counts[1]} failed, {counts[2]} skipped")
        totals = [total + number for total, number in zip(totals, counts)]
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 0 if totals[0] > 0 and totals[1] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
