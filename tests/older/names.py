# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The names that each older level changes, as the compiler sees them, and the table of docs/older-apis.md.

    names.py --cc CC         writes the table anew
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess

import patterns

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
INCLUDE = SOURCE / "include"
DOCUMENT = SOURCE / "docs" / "older-apis.md"
BEGIN, END = "<!-- the table: written by tests/older/names.py -->\n", "<!-- the end of the table -->\n"
TODAY = 20200
VERSIONS = {10300: "1.3", 10400: "1.4", 10500: "1.5", 20002: "2.0.2"}
NAME = re.compile(r"\b(?:(?:doca|DOCA|PCI)_\w+|num_bytes_to_copy)\b")
MACRO = re.compile(r"#define ((?:doca|DOCA|PCI)_\w+)(.*)")
BOUND = re.compile(r'\b(doca_\w+)\s*\((?:[^()]|\([^()]*\))*\)\s*__asm__\("(\w+)"\)')
GUARD = re.compile(r"_H_$|^DOCA_API$|^DOCA_ALLOW_EXPERIMENTAL_API$")


class Level:
    """What the headers hold at one level."""

    def __init__(self, cc, level):
        headers = "".join(f"#include <{path.name}>\n" for path in sorted(INCLUDE.glob("doca_*.h")))
        command = [*shlex.split(cc), "-E", "-P", "-dD", f"-DDOCA_API={level}", "-DDOCA_ALLOW_EXPERIMENTAL_API",
                   f"-I{INCLUDE}", "-x", "c", "-"]
        text = subprocess.run(command, input=headers, capture_output=True, text=True, check=True).stdout
        self.macros = {name: body.strip() for name, body in MACRO.findall(text) if not GUARD.search(name)}
        code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        self.bound = dict(BOUND.findall(code))
        self.names = {name for name in NAME.findall(code) if not GUARD.search(name)} | set(self.macros)


class Changed:
    """A name that 2.2 does not have, or has in another form."""

    def __init__(self, name, levels, today, mentions):
        self.name = name
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

    def state(self, held, today):
        if self.name not in held.names:
            return "" if self.name not in today.names else "gone"
        if self.name not in today.names:
            return "new"
        is_other = self.name in held.bound or held.macros.get(self.name) != today.macros.get(self.name)
        return "other" if is_other else "2.2"

    def row(self):
        cells = [f"`{self.name}`", *(self.states[level] for level in patterns.LEVELS),
                 ", ".join(f"`{symbol}`" for symbol in self.symbols) or "header", ", ".join(self.tests)]
        return "| " + " | ".join(cells) + " |\n"


def mentioned():
    """{level: {program: the names in its source, and those in what it includes}}, for what runs at the level."""
    programs = {level: {} for level in patterns.LEVELS}
    folder = HERE / "programs"

    def words(text):
        return set(re.findall(r"\w+", text))

    def add(program, level):
        text = next(folder.glob(f"{program}.c*")).read_text(encoding="utf-8")
        shared = "".join((folder / name).read_text(encoding="utf-8") for name in re.findall('#include "(.*)"', text))
        programs[level][program] = words(text), words(shared)

    for program, levels in patterns.SINGLE:
        for level in levels:
            add(program, level)
    for _, first, second, pairs in patterns.PAIRS:
        for one, other in pairs:
            add(first[0], one)
            add(second[0], other)
    return programs


def changed(cc):
    today = Level(cc, TODAY)
    levels = {level: Level(cc, level) for level in patterns.LEVELS}
    mentions = mentioned()
    names = set().union(*(held.names for held in levels.values()))
    found = [Changed(name, levels, today, mentions) for name in sorted(names, key=lambda n: (n.lower(), n))]
    return [name for name in found if set(name.states.values()) & {"new", "other", "gone"}]


def table(names):
    head = "| name | " + " | ".join(VERSIONS[level] for level in patterns.LEVELS) + " | stands for | test |\n"
    return BEGIN + "\n" + head + "|---" * 7 + "|\n" + "".join(name.row() for name in names) + "\n" + END


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    names = changed(parser.parse_args().cc)
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    DOCUMENT.write_text(before + table(names) + rest.split(END)[1], encoding="utf-8")
    for name in names:
        if name.untested:
            print(f"no program of {name.untested} uses {name.name}")


if __name__ == "__main__":
    main()
