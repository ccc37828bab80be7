#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Programs as users of older releases write them, compiled with the one flag and run.

    test_patterns.py --source DIR --build DIR --cc CC --cxx CXX [--patterns MODULE]

MODULE is patterns, for DOCA 1.3 to 2.0.2, or task_patterns, for DOCA 2.5 to 2.8.
"""
import argparse
import importlib
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

import patterns

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 120  # seconds, for what hangs


class Programs:
    def __init__(self, args, place):
        self.args = args
        self.place = pathlib.Path(place)
        self.lock = threading.Lock()
        self.built = {}
        self.folders = [pathlib.Path(args.build) / folder for folder in patterns.LIBRARIES.values()]
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("DOCA_")}
        self.env["LD_LIBRARY_PATH"] = ":".join(map(str, self.folders))

    def build(self, name, level, standard="gnu11"):
        """The program's path, once it is there."""
        with self.lock:
            if (name, level, standard) not in self.built:
                self.built[name, level, standard] = self.build_one(name, level, standard)
            return self.built[name, level, standard]

    def build_one(self, name, level, standard):
        is_cxx = standard.startswith("c++")
        of = patterns.BORROWED.get(name, patterns)
        folders = [pathlib.Path(self.args.build) / folder for folder in of.LIBRARIES.values()]
        source = HERE / of.PROGRAMS / (name + (".cpp" if is_cxx else ".c"))
        path = self.place / f"{name}_{level}_{standard}"
        options = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-DDOCA_ALLOW_EXPERIMENTAL_API",
                   f"-I{self.args.source}/{of.INCLUDE}", "-I", str(HERE / of.PROGRAMS)]
        compiler = shlex.split(self.args.cxx if is_cxx else self.args.cc) + shlex.split(self.args.options)
        objects = []
        for other in patterns.OTHER_FILES.get(name, []):
            objects.append(f"{path}.{other}.o")
            self.compile([*compiler, *options, "-c", HERE / patterns.PROGRAMS / other, "-o", objects[-1]])
        self.compile([*compiler, *options, f"-DDOCA_API={level}", source, *objects, "-o", path,
                      "-pthread", *(f"-L{folder}" for folder in folders),
                      # The old kind of search path comes before the environment, which leads to the libraries of patterns.
                      "-Wl,--disable-new-dtags,-rpath," + ":".join(map(str, folders)),
                      *(f"-ldoca_{library}" for library in of.LIBRARIES), "-ljson-c"])
        return path

    def compile(self, command):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def start(self, path, *arguments, **pipes):
        roles = [("DOCA_SOFT_ROLE", patterns.ROLES[argument]) for argument in arguments if argument in patterns.ROLES]
        return subprocess.Popen([path, *arguments], env=dict(self.env, **dict(roles)), stderr=subprocess.PIPE, **pipes)


def finish(process, given=b""):
    try:
        out, err = process.communicate(given, timeout=LIMIT)
    finally:
        process.kill()
    if process.returncode != 0:
        raise AssertionError(f"ended with {process.returncode}\n{err.decode()}")
    return (out or b"").decode(), err.decode()


def run_single(programs, name, level, standard):
    path = programs.build(name, level, standard)
    arguments = patterns.ARGUMENTS.get(name, [])
    if name == "logging":
        arguments = [f"{path}.log"]
    out, err = finish(programs.start(path, *arguments, stdout=subprocess.PIPE))
    if name == "logging":
        written = pathlib.Path(arguments[0]).read_text(encoding="utf-8")
        assert "[INF][OLDER::Core:" in err and "before a stream is named" in err, err
        assert "[ERR][OLDER::Core:" in written and "on the stream: 1" in written, written
        assert "on stdout" in out and "not shown" not in out and "on the stream" not in out, out
    if name == "local_copy_2_0":
        assert "Starting the sample" in out and "Sample finished successfully" in out, out


def run_pair(programs, first, second, levels):
    paths = [programs.build(side[0], level) for side, level in zip((first, second), levels)]
    # Pairs run side by side: each has a service of its own.
    arguments = [side[1] or f"{first[0]}_{levels[0]}_{levels[1]}" for side in (first, second)]
    with programs.start(paths[0], arguments[0], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as leader:
        try:
            line = leader.stdout.readline()
            descriptor = b""
            if first[0] in patterns.WITH_DESCRIPTOR and line:
                descriptor = leader.stdout.read(int(line.split()[0]))
            if line:
                follower = programs.start(paths[1], arguments[1], stdin=subprocess.PIPE)
                finish(follower, line + descriptor)
                if second[0] == "importer_refused":
                    return  # and the exporter, which waits for a text, is ended
            finish(leader, b"done\n")
        finally:
            leader.kill()


def cases(programs, is_short):
    """Each program at each of its levels; or, where it is about the libraries and not the headers, at the first."""
    for name, levels in patterns.SINGLE:
        is_cxx = (HERE / patterns.PROGRAMS / f"{name}.cpp").exists()
        for level in levels[:1] if is_short else levels:
            for standard in patterns.CXX_STANDARDS if is_cxx else ["gnu11"]:
                suffix = f" in {standard}" if is_cxx else ""
                yield f"{name} at {level}{suffix}", lambda n=name, l=level, s=standard: run_single(programs, n, l, s)
    for name, first, second, pairs in patterns.PAIRS:
        for levels in pairs[:1] if is_short else pairs:
            at = " and ".join(map(str, dict.fromkeys(levels)))
            yield f"{name} at {at}", lambda f=first, s=second, l=levels: run_pair(programs, f, s, l)


def attempt(case):
    name, run = case
    try:
        run()
        return True, name, ""
    except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired) as reason:
        return False, name, str(reason)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("source", "build", "cc", "cxx"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--options", default="", help="for the compilers, such as a sanitizer's")
    parser.add_argument("--short", action="store_true", help="each program at one level")
    parser.add_argument("--patterns", default="patterns", help="the module of the programs")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    args = parser.parse_args()
    globals()["patterns"] = importlib.import_module(args.patterns)
    with tempfile.TemporaryDirectory() as place:
        programs = Programs(args, place)
        wanted = [case for case in cases(programs, args.short) if args.only in case[0]]
        print(f"1..{len(wanted)}", flush=True)
        with ThreadPoolExecutor(max_workers=2) as pool:
            results = []
            for number, (is_well, name, reason) in enumerate(pool.map(attempt, wanted), 1):
                results.append(is_well)
                print(f"{'ok' if is_well else 'not ok'} {number} - {name}", flush=True)
                if reason:
                    print("\n".join(f"# {line}" for line in reason.splitlines()), flush=True)
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
