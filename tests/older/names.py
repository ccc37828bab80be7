# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The names that each older level changes, as the compiler sees them, and the tables of docs/older-apis.md.

    names.py --cc CC         writes the tables anew
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
from types import ModuleType
from typing import NamedTuple

import patterns
import task_patterns

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
INCLUDE = SOURCE / "include"
DOCUMENT = SOURCE / "docs" / "older-apis.md"
TODAY = 20200


class Family(NamedTuple):
    """The levels of one generation of the API."""
    patterns: ModuleType  # its programs
    today: int            # the newest level
    newest: str           # its name
    versions: dict        # {level: name} of the others
    begin: str            # what stands in the document around its table
    end: str
    of_levels: frozenset = frozenset()  # headers that the newest level does not have

    @property
    def include(self):
        return SOURCE / self.patterns.INCLUDE

    def headers(self, level):
        names = {path.name for path in self.include.glob("doca_*.h")}
        return sorted(names - self.of_levels if level == self.today else names)


JOBS = Family(patterns, TODAY, "2.2", {10300: "1.3", 10400: "1.4", 10500: "1.5", 20002: "2.0.2"},
              "<!-- the table: written by tests/older/names.py -->\n", "<!-- the end of the table -->\n")
TASKS = Family(task_patterns, 30000, "3.0", {20500: "2.5", 20600: "2.6", 20700: "2.7", 20800: "2.8"},
               "<!-- the table of 2.5 to 2.8: written by tests/older/names.py -->\n",
               "<!-- the end of the table of 2.5 to 2.8 -->\n",
               frozenset({"doca_cc.h", "doca_cc_consumer.h", "doca_cc_producer.h", "doca_comm_channel.h"}))
NAME = re.compile(r"\b(?:(?:doca|DOCA|PCI)_\w+|num_bytes_to_copy)\b")
MACRO = re.compile(r"#define ((?:doca|DOCA|PCI)_\w+)(.*)")
BOUND = re.compile(r'\b(doca_\w+)\s*\((?:[^()]|\([^()]*\))*\)\s*__asm__\("(\w+)"\)')
GUARD = re.compile(r"_H_$|^DOCA_API$|^DOCA_ALLOW_EXPERIMENTAL_API$")


class Level:
    """What the headers hold at one level."""

    def __init__(self, cc, level, family=JOBS):
        headers = "".join(f"#include <{name}>\n" for name in family.headers(level))
        command = [*shlex.split(cc), "-E", "-P", "-dD", f"-DDOCA_API={level}", "-DDOCA_ALLOW_EXPERIMENTAL_API",
                   f"-I{family.include}", "-x", "c", "-"]
        text = subprocess.run(command, input=headers, capture_output=True, text=True, check=True).stdout
        self.macros = {name: body.strip() for name, body in MACRO.findall(text) if not GUARD.search(name)}
        code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        self.bound = dict(BOUND.findall(code))
        self.names = {name for name in NAME.findall(code) if not GUARD.search(name)} | set(self.macros)


class Changed:
    """A name that the newest level does not have, or has in another form."""

    def __init__(self, name, levels, today, mentions, newest):
        self.name, self.newest = name, newest
        self.states, self.symbols, self.tests, self.untested = {}, [], [], []
        for level, held in levels.items():
            self.states[level] = self.state(held, today)
            if self.states[level] not in ("new", "other"):
                continue
            symbol = held.bound.get(name) or (held.macros.get(name) if name.startswith("doca_") else None)
            if symbol and symbol not in self.symbols:
                self.symbols.append(symbol)
            found = [program for program in mentions[level] if name in mentions[level][program][0]]
            found += [program for program in mentions[level] if name in mentions[level][program][1]]
            if not found:
                self.untested.append(level)
            elif not set(found) & set(self.tests):
                self.tests.append(found[0])
        if not self.tests and newest == TASKS.newest:
            self.tests = ["links" if self.symbols else "facts"]

    def state(self, held, today):
        if self.name not in held.names:
            return "" if self.name not in today.names else "gone"
        if self.name not in today.names:
            return "new"
        is_other = self.name in held.bound or held.macros.get(self.name) != today.macros.get(self.name)
        return "other" if is_other else self.newest

    def row(self):
        cells = [f"`{self.name}`", *self.states.values(),
                 ", ".join(f"`{symbol}`" for symbol in self.symbols) or "header", ", ".join(self.tests)]
        return "| " + " | ".join(cells) + " |\n"


def mentioned(of):
    """{level: {program: the names in its source, and those in what it includes}}, for what runs at the level."""
    programs = {level: {} for level in of.LEVELS}
    folder = HERE / of.PROGRAMS

    def words(text):
        return set(re.findall(r"\w+", text))

    def add(program, level):
        text = next(folder.glob(f"{program}.c*")).read_text(encoding="utf-8")
        shared = "".join((folder / name).read_text(encoding="utf-8") for name in re.findall('#include "(.*)"', text))
        programs[level][program] = words(text), words(shared)

    for program, levels in of.SINGLE:
        for level in levels:
            add(program, level)
    for _, first, second, pairs in of.PAIRS:
        for one, other in pairs:
            for program, level in (first[0], one), (second[0], other):
                if program not in of.BORROWED:
                    add(program, level)
    return programs


def changed(cc, family=JOBS):
    today = Level(cc, family.today, family)
    levels = {level: Level(cc, level, family) for level in family.patterns.LEVELS}
    mentions = mentioned(family.patterns)
    names = set().union(*(held.names for held in levels.values()), today.names)
    found = [Changed(name, levels, today, mentions, family.newest) for name in sorted(names, key=lambda n: (n.lower(), n))]
    return [name for name in found if set(name.states.values()) & {"new", "other", "gone"}]


def table(names, family=JOBS):
    head = "| name | " + " | ".join(family.versions.values()) + " | stands for | test |\n"
    return family.begin + "\n" + head + "|---" * 7 + "|\n" + "".join(name.row() for name in names) + "\n" + family.end


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    cc = parser.parse_args().cc
    for family in JOBS, TASKS:
        names = changed(cc, family)
        text = DOCUMENT.read_text(encoding="utf-8")
        before, rest = text.split(family.begin)
        DOCUMENT.write_text(before + table(names, family) + rest.split(family.end)[1], encoding="utf-8")
        for name in names if family is JOBS else []:
            if name.untested:
                print(f"no program of {name.untested} uses {name.name}")


if __name__ == "__main__":
    main()
