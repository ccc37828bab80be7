# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Asks a compiler about many claims at once."""
import os
import re
import shlex
import subprocess

ALLOWED = "-DDOCA_ALLOW_EXPERIMENTAL_API"
# A function that the compiler checks formats of has the type of one that it does not, also as g++'s template argument.
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-ignored-attributes"]
LINES_PER_CLAIM = 20


class Compilers:
    """The C and the C++ compiler, each with the include directory under test."""

    def __init__(self, cc, cxx, include):
        self.commands = {"c": shlex.split(cc), "c++": shlex.split(cxx)}
        self.include = include
        # gcc reports every error, clang stops at the twentieth.
        self.report_all = {language: ["-ferror-limit=0"] if is_clang(command) else []
                           for language, command in self.commands.items()}

    def target(self):
        """The CPU that is compiled for."""
        command = [*self.commands["c"], "-dumpmachine"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("-")[0]

    def run(self, lang, source, options):
        command = [*self.commands[lang.language], "-x", lang.language, f"-std={lang.standard}", "-I",
                   self.include, *self.report_all[lang.language], *options, "-"]
        return subprocess.run(command, input=source, capture_output=True, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C"})


def is_clang(command):
    version = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    return "clang" in version


def unit(lang, name, claims):
    """One source for all claims: the header first, hence alone; each claim has its own line numbers."""
    parts = [f"#include <{name}>\n", lang.prelude]
    for number, claim in enumerate(claims):
        parts.append(f'#line {(number + 1) * LINES_PER_CLAIM} "claims"\n{claim.source}\n')
    return "".join(parts) + "\nextern int not_empty;\n"


def failing(diagnostics, claims):
    """The claims that errors were reported in, by their index."""
    lines = re.findall(r"^claims:(\d+):(?:\d+:)? (?:fatal )?error", diagnostics, re.M)
    numbers = {int(line) // LINES_PER_CLAIM - 1 for line in lines}
    return {number for number in numbers if 0 <= number < len(claims)}


def judge(compilers, lang, name, claims):
    """(claims that do not hold, what is wrong with the header itself or '')."""
    options = ["-fsyntax-only", ALLOWED, *STRICT]
    result = compilers.run(lang, unit(lang, name, claims), options)
    if result.returncode == 0:
        return [], ""
    bad = [claims[number] for number in sorted(failing(result.stderr, claims))]
    alone = compilers.run(lang, unit(lang, name, []), options)
    if alone.returncode != 0:
        return bad or claims, alone.stderr.strip()[:600]
    if not bad:  # the compiler gave up without naming a line of ours
        return claims, ""
    return bad, ""
