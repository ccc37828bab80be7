#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""test_compare.py SCRIPT BUILD: the page of comparisons has all its parts, and each of its pictures is there.

The machine that runs tests is busy. So a row may be left out; the page then names it."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))

import user  # pylint: disable=wrong-import-position


# What ucx_perftest prints, for operations of 100 ns; as a server it does nothing.
FAKE_UCX = """#!/bin/sh
case "$1" in
-h) exit 0 ;;
127.0.0.1) echo iterations,...; echo 10,0.1,0.1,0.1,80,80,10000000,10000000 ;;
*) exec sleep 60 ;;
esac
"""


def check_what_is_left_out(script):
    """A row that was disturbed by its own account, or whose samples differ too much, on either side."""
    spec = importlib.util.spec_from_file_location("compare", script)
    compare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(compare)
    steady = {"ns": {"min": 100, "median": 190, "max": 9000}, "ucx_ns": {"min": 80, "median": 81}, "disturbed": False}
    assert compare.is_steady(steady)
    for change in {"disturbed": True}, {"ns": {"min": 100, "median": 201}}, {"ucx_ns": {"min": 80, "median": 200}}:
        assert not compare.is_steady(steady | change), change
    timed = steady | {"latency_ns": {"p50": 220}}
    assert compare.is_steady(timed)
    assert not compare.is_steady(timed | {"latency_ns": {"p50": 221}}), "single operations take longer as a rule"
    assert compare.is_steady({"job_ns": {"min": 6, "median": 7}, "latency_ns": {"p50": 30}}), "the clock has steps"
    assert not compare.is_steady({"job_ns": {"min": 60, "median": 70}, "latency_ns": {"p50": 141}})
    assert compare.is_steady(steady | {"latency_ns": None})
    assert compare.name_of({"job": "write", "test": "rate", "bytes": 4096}) == "write, rate of 4 KiB"
    assert compare.name_of({"where": "local", "bytes": 64}) == "local of 64 B"
    assert compare.name_of({"shape": "chain of 3", "kind": "copies"}) == "chain of 3 of copies"


def main():
    script, build = sys.argv[1:]
    check_what_is_left_out(script)
    if shutil.which("gnuplot") is None:
        return 77  # skipped
    with tempfile.TemporaryDirectory() as folder:
        ucx = pathlib.Path(folder, "ucx_perftest")
        ucx.write_text(FAKE_UCX, encoding="ascii")
        ucx.chmod(0o755)
        environment = user.environment()
        environment["PATH"] = f"{folder}:{environment['PATH']}"
        subprocess.run([sys.executable, script, "--build", build, "--output", folder, "--time", "0",
                        "--short"], check=True,
                       env=environment)
        page = pathlib.Path(folder, "comparison.md").read_text(encoding="utf-8")
        for title in ("memcpy", "UCX", "perftest", "oneTBB", "OpenSSL"):
            assert re.search(f"^## .* beside {title}$", page, re.MULTILINE), page
        pictures = re.findall(r"\]\((comparison/.*\.svg)\)", page)
        assert "comparison/copies.svg" in pictures, page
        for picture in pictures:
            assert pathlib.Path(folder, picture).read_text(encoding="utf-8").rstrip().endswith("</svg>"), picture
        for line in page.splitlines():
            assert not line.startswith("|") or line.endswith("|"), line

        def has(pattern, name):
            return re.search(pattern, page, re.MULTILINE) or name in page

        # Which rows are left out differs from run to run; two processes are named in each run in which one of theirs is.
        left_out = re.search(r"Left out, since other programs disturbed them: (.*?)\.( Rows of two processes)?", page)
        if left_out and len(os.sched_getaffinity(0)) < 3:
            assert (", latency of " in left_out[1] or ", rate of " in left_out[1]) == bool(left_out[2]), page
        assert has(r"^\| local \| 64 B \|", "local of 64 B"), page
        assert has(r"^\| write, latency \| 8 B \| [0-9.,]+ \| 100 \| ucp_put_lat \|", "write, latency of 8 B"), page
        if shutil.which("ib_write_bw"):
            for job, program in ("write", "ib_write_lat"), ("read", "ib_read_lat"), ("send", "ib_send_lat"):
                row = rf"^\| {job}, latency \| 8 B \| 1 \| [0-9.,]+ \| [0-9.,]+ \| {program} \|"
                if job == "read" or len(os.sched_getaffinity(0)) >= 3:
                    assert has(row, f"{job}, latency of 8 B"), page
                else:
                    assert not re.search(row, page, re.MULTILINE) and "takes three processors" in page, page
        assert re.search(r"^\| 8 B, one way \| [0-9.,]+ \| 100 \| tag_lat \|", page, re.MULTILINE), page
    return 0


if __name__ == "__main__":
    sys.exit(main())
