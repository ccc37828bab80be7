#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""test_compare.py SCRIPT BUILD: the page of comparisons has all its parts, and each of its pictures is there."""
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


def main():
    script, build = sys.argv[1:]
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
        assert page.count("| local | 64 B |") == 1, page
        assert re.search(r"^\| write, latency \| 8 B \| [0-9.,]+ \| 100 \| ucp_put_lat \|", page, re.MULTILINE), page
        if shutil.which("ib_write_bw"):
            for job, program in ("write", "ib_write_lat"), ("read", "ib_read_lat"), ("send", "ib_send_lat"):
                has_row = re.search(rf"^\| {job}, latency \| 8 B \| 1 \| [0-9.,]+ \| [0-9.,]+ \| {program} \|", page, re.MULTILINE)
                assert has_row or f"{job} of 8 B" in page, page  # perftest fails now and then on a busy machine, and is named then
        assert re.search(r"^\| 8 B, one way \| [0-9.,]+ \| 100 \| tag_lat \|", page, re.MULTILINE), page
    return 0


if __name__ == "__main__":
    sys.exit(main())
