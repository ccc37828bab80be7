#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""test_compare.py SCRIPT BUILD: the page of comparisons has all its parts, and each of its pictures is there."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def main():
    script, build = sys.argv[1:]
    if shutil.which("gnuplot") is None:
        return 77  # skipped
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, script, "--build", build, "--output", folder, "--time", "0"], check=True,
                       env={name: value for name, value in os.environ.items() if not name.startswith("DOCA_SOFT")})
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
