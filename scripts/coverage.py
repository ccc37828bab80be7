#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Measures which lines of src/ the tests execute: builds with gcc's --coverage, runs tests, and reports by gcov.

  coverage.py [--build BUILD] [--suite SUITE]... [NAME...]

The tests are selected as `meson test` does; default: the suites unit and conformance. Prints a table with a line for each folder
and for each file of which less than 70 % was executed, and writes into BUILD/coverage the lines that were not executed (lines.txt)
and a tracefile of lcov (coverage.info), which genhtml, editors and CI services read. Only this run counts. Exit status 1 if a test
has failed; the report is made all the same.
Environment: CXX  a g++; GCOV  the gcov of the same release (default: gcov)
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
LOW = 70  # percent; a file with less is named
# Threads count at the same time. The rest is as run_all_tests.sh builds for each change.
OPTIONS = ["-Dtests=true", "-Ddocs=disabled", "-Dbuildtype=plain", "-Dunity=on", "-Dunity_size=20", "-Db_coverage=true",
           "-Dc_args=-fprofile-update=atomic", "-Dcpp_args=-fprofile-update=atomic"]


def fail(message):
    sys.exit(f"coverage.py: {message}")


def run(*words):
    """Runs a command that has to succeed."""
    if subprocess.run(words, check=False).returncode != 0:
        fail(f"{' '.join(map(str, words))} has failed")


def build_tests(build, selection):
    if not (build / "build.ninja").exists():
        run("meson", "setup", build, TOP, *OPTIONS)
    elif not any(option["name"] == "b_coverage" and option["value"]
                 for option in json.loads((build / "meson-info/intro-buildoptions.json").read_text(encoding="utf-8"))):
        fail(f"{build} was set up without -Db_coverage=true; name another build tree by --build")
    done = subprocess.run([TOP / "scripts/targets_of_tests.py", build, *selection], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(1)
    run("ninja", "-C", build, *done.stdout.split())


def counts_of(build, gcov, notes):
    """Returns, for each source that was compiled into an object, how often each of its lines was executed."""
    # Without .gcda the object was never loaded: gcov then counts zero.
    done = subprocess.run([gcov, "--json-format", "--stdout", notes.relative_to(build)], cwd=build, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0 or not done.stdout:
        fail(f"{gcov} cannot read {notes}, is it that of the compiler? {done.stderr.strip()}")
    found = {}
    for report in map(json.loads, done.stdout.splitlines()):
        for file in report["files"]:
            path = pathlib.Path(os.path.normpath(build / file["file"]))
            if path.is_relative_to(TOP / "src"):
                counts = found.setdefault(path.relative_to(TOP), collections.Counter())
                for line in file["lines"]:  # several times for a line of a template
                    counts[line["line_number"]] += line["count"]
    return found


def collect(build, gcov):
    """Returns the sum of counts_of() over the objects of the libraries, and those of others that were executed."""
    objects = [path for path in sorted(build.rglob("*.gcno"))
               if path.with_suffix(".gcda").exists() or path.is_relative_to(build / "src")]
    total = collections.defaultdict(collections.Counter)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(lambda notes: counts_of(build, gcov, notes), objects):
            for path, counts in found.items():
                total[path].update(counts)
    return dict(sorted(total.items()))


def ranges(numbers):
    """Returns sorted numbers as text: 3-5, 9."""
    parts = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{first}-{last}" if first != last else str(first) for first, last in parts)


def write_reports(folder, total):
    folder.mkdir(exist_ok=True)
    with open(folder / "coverage.info", "w", encoding="utf-8") as tracefile, open(folder / "lines.txt", "w", encoding="utf-8") as lines:
        for path, counts in total.items():
            tracefile.write(f"SF:{TOP / path}\n")
            tracefile.writelines(f"DA:{line},{count}\n" for line, count in sorted(counts.items()))
            tracefile.write(f"LF:{len(counts)}\nLH:{sum(count != 0 for count in counts.values())}\nend_of_record\n")
            missed = sorted(line for line, count in counts.items() if count == 0)
            if missed:
                lines.write(f"{path}: {ranges(missed)}\n")


def row(name, lines, hit):
    return f"{name:<32} {lines:>8} {100 * hit / max(lines, 1):>7.1f} %"


def low_files(total):
    """Returns a line for each file of which less than LOW percent was executed, with a heading."""
    counted = ((str(path), len(counts), sum(count != 0 for count in counts.values())) for path, counts in total.items())
    rows = [row(*file) for file in counted if 100 * file[2] < LOW * file[1]]
    return "\n".join([f"files below {LOW} %: {len(rows)}", *rows])


def table(total):
    """Returns a line for each folder, and one for all."""
    folders = collections.defaultdict(lambda: [0, 0])
    for path, counts in total.items():
        for name in str(path.parent), "all":
            folders[name][0] += len(counts)
            folders[name][1] += sum(count != 0 for count in counts.values())
    last = folders.pop("all", [0, 0])
    rows = [f"{'folder':<32} {'lines':>8} {'executed':>9}"]
    for name, (lines, hit) in [*sorted(folders.items()), ("all", last)]:
        rows.append(row(name, lines, hit))
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", metavar="BUILD", type=pathlib.Path, default=TOP / "build-coverage", help="default: build-coverage")
    parser.add_argument("--suite", metavar="SUITE", action="append", default=[])
    parser.add_argument("names", metavar="NAME", nargs="*")
    options = parser.parse_args()
    build = options.build.resolve()
    suites = options.suite or ([] if options.names else ["unit", "conformance"])
    selection = [*(word for suite in suites for word in ("--suite", suite)), *options.names]
    build_tests(build, selection)
    for path in build.rglob("*.gcda"):  # of a run before
        path.unlink()
    status = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", *selection], check=False).returncode
    total = collect(build, os.environ.get("GCOV", "gcov"))
    write_reports(build / "coverage", total)
    print(table(total))
    print(low_files(total))
    print(f"lines that were not executed: {build}/coverage/lines.txt")
    return 0 if status == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
