#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Hold an SDK, as it is installed, against the facts of its generation: doca-2.2.json or doca-3.0.json.

    check_abi.py --build BUILD_DIR                      install it to a temporary place and check that
    check_abi.py --include DIR --libdir DIR             check a tree that is installed already
    check_abi.py --include DIR                          check the headers alone

What is known to be missing stands in not-built.json with its reason; an entry that holds after all fails
the run.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import compiler
import facts as facts_of
import libraries
import marks
import scan
import tree

HERE = pathlib.Path(__file__).resolve().parent
MOST_LINES = 60


class Tally:
    """Counts what holds, and keeps what does not."""

    def __init__(self, exceptions):
        self.exceptions = dict(exceptions)
        self.unused = set(exceptions)
        self.held, self.total, self.problems = Counter(), Counter(), []

    def add(self, kind, label, holds):
        if label in self.exceptions:
            self.unused.discard(label)
            if holds:
                reason = self.exceptions[label]
                self.problems.append(f"exceptions: '{label}' holds, but is listed as: {reason}")
            return
        self.total[kind] += 1
        self.held[kind] += holds
        if not holds:
            self.problems.append(f"{kind}: {label}")

    def close(self):
        for label in sorted(self.unused):
            self.problems.append(f"exceptions: '{label}' is listed, but nothing is known by that name")

    def table(self):
        return "; ".join(f"{kind} {self.held[kind]}/{self.total[kind]}" for kind in self.total)


def check_header(facts, name, compilers):
    """[(kind, label, whether it holds)] for one header, in C and in C++."""
    header = facts["headers"][name]
    results = []
    if not os.path.exists(os.path.join(compilers.include, name)):
        return [("headers", f"{name} is installed", False)]
    for lang in facts_of.LANGUAGES:
        claims = list(facts_of.claims(lang, name, header))
        bad, problem = compiler.judge(compilers, lang, name, claims)
        suffix = f": {problem}" if problem else ""
        results.append(("headers", f"{name} compiles alone as {lang.standard}{suffix}", not problem))
        failed = {claim.label for claim in bad}
        results += [(claim.kind, claim.label, claim.label not in failed) for claim in claims]
    results += scan.differences(compilers, name, header)
    results += marks.check(compilers, name, header)
    return results


def check_headers(facts, compilers, tally):
    with ThreadPoolExecutor(max_workers=2) as pool:
        for results in pool.map(lambda name: check_header(facts, name, compilers), facts["headers"]):
            for result in results:
                tally.add(*result)
    installed = {path.name for path in pathlib.Path(compilers.include).glob("doca_*.h")}
    for name in sorted(installed - set(facts["headers"]) - facts_of.OF_LEVELS):
        tally.add("extra", f"the header {name} is installed", False)


def check_libraries(facts, directory, tally):
    for name in facts["libraries"]:
        for result in libraries.check_library(facts, name, directory):
            tally.add(*result)
    second_names = {"libdoca_cc.so", "libdoca_comm_channel.so"} if facts["api"].startswith("3.") else {"libdoca_core.so"}
    known = {f"{name}.so" for name in facts["libraries"]} | second_names
    for path in sorted(pathlib.Path(directory).glob("libdoca_*.so")):
        if path.name not in known:
            tally.add("extra", f"the library {path.name} is installed", False)


def check(facts, exceptions, include, libdir, compilers=None):
    """Holds a tree against the facts, without a libdir its headers; the tally has what does not hold."""
    tally = Tally(exceptions)
    compilers = compilers or default_compilers(str(include))
    check_headers(facts, compilers, tally)
    if libdir:
        check_libraries(facts, libdir, tally)
    tally.close()
    return tally


def default_compilers(include):
    return compiler.Compilers(os.environ.get("CC", "cc"), os.environ.get("CXX", "c++"), include)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", help="a build directory, installed to a temporary place first")
    parser.add_argument("--root", default="", help="with --build, the folder of the SDK tree below the prefix")
    parser.add_argument("--include", help="the directory of the headers")
    parser.add_argument("--libdir", help="the directory of the libraries")
    parser.add_argument("--facts", default=facts_of.FACTS_FILE)
    parser.add_argument("--exceptions", default=HERE / "not-built.json")
    args = parser.parse_args()
    if not args.build and not args.include:
        parser.error("--build, or --include with or without --libdir")
    facts = facts_of.load(args.facts)
    exceptions = json.loads(pathlib.Path(args.exceptions).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as place:
        include, libdir = args.include, args.libdir
        if args.build:
            installed = tree.install(args.build, place).below(args.root)
            include, libdir = str(installed.include), str(installed.lib)
        tally = check(facts, exceptions, include, libdir)
    for problem in tally.problems[:MOST_LINES]:
        print(problem)
    if len(tally.problems) > MOST_LINES:
        print(f"... and {len(tally.problems) - MOST_LINES} more")
    print(tally.table())
    return 1 if tally.problems else 0


if __name__ == "__main__":
    sys.exit(main())
