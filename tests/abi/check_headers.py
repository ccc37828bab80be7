#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Compile the public headers in the ways that programs include them.

    check_headers.py INCLUDE_DIR [--generation 2|3] [--cc CC] [--cxx CXX]

Prints each failure and a closing line; exits 0 only when all that must compile does and the rest does not.
"""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import header_uses

WARNINGS = ["-Wall", "-Wextra", "-Werror"]
API = "-DDOCA_ALLOW_EXPERIMENTAL_API"
C99, C11, CXX17 = ("c", "c99"), ("c", "c11"), ("c++", "c++17")
EVERY_LANGUAGE = [C99, C11, ("c", "gnu11"), CXX17, ("c++", "c++20"), ("c++", "c++2b")]

ROLES = {  # name: (options, macros that must be there, macros that must not)
    "dpu": (["-DDOCA_ARCH_DPU"], ["DOCA_ARCH_DPU"], ["DOCA_ARCH_HOST"]),
    "host": (["-DDOCA_ARCH_HOST"], ["DOCA_ARCH_HOST"], ["DOCA_ARCH_DPU"]),
}


def includes(names):
    return "".join(f"#include <{name}>\n" for name in names)


def role_source(present, absent):
    lines = ["#include <doca_config.h>", "#include <doca_build_config.h>", "#include <doca_build_config.h>"]
    for macro in present:
        lines += [f"#ifndef {macro}", f"#error {macro} is not defined", "#endif"]
    for macro in absent:
        lines += [f"#ifdef {macro}", f"#error {macro} is defined", "#endif"]
    cpu = "#if defined({0}) != defined(__{1}__)\n#error {0} does not follow the CPU\n#endif"
    lines += [cpu.format("DOCA_ARCH_X86", "x86_64"), cpu.format("DOCA_ARCH_ARM", "aarch64")]
    return "\n".join(lines) + "\nint unused;\n"


def checks(include_dir, uses):
    """(what, language, options, source, whether it must compile) for each check."""
    names = sorted(path.name for path in pathlib.Path(include_dir).glob("doca_*.h"))
    wanted = uses.number_of_headers
    assert len(names) == wanted, f"{len(names)} headers in {include_dir}, not {wanted}"
    with_levels, names = names, [name for name in names if name not in uses.of_levels]
    end = "int unused;\n"  # ISO C wants a declaration, and some of the headers have none
    for name in names:
        for language in (C99, C11, CXX17):
            yield f"{name} alone", language, [API, "-Wpedantic"], includes([name]) + end, True
            yield f"{name} twice", language, [API], includes([name, name]) + end, True
    for language in EVERY_LANGUAGE:
        yield "all headers", language, [API, "-Wpedantic"], includes(names) + end, True
        yield "all headers in reverse", language, [API], includes(reversed(names)), True
        for first in ("doca_compat.h", "doca_version.h"):
            yield f"{first} first", language, [API], includes([first, *names]), True
    for release in uses.older_releases:
        for language in EVERY_LANGUAGE:
            options = [API, f"-DDOCA_API={release}", "-Wpedantic"]
            yield f"all headers for release {release}", language, options, includes(with_levels) + end, True
    for name in uses.of_levels:
        yield f"{name} without a release", C11, [API], includes([name]) + end, False
    for name, body in uses.reach:
        for language in (C99, C11, CXX17):
            source = f"{includes([name])}int main(void)\n{{\n{body}\n}}\n"
            yield f"what {name} reaches", language, [API, "-Wno-nonnull"], source, True
    for registration in uses.sources:
        for semicolon in ("", ";"):
            for language in EVERY_LANGUAGE:
                source = f'#define REGISTER_SOURCE DOCA_LOG_REGISTER({registration}){semicolon}\n' \
                         f'#include "{uses.log_program}"\n'
                for option in ("-UX", uses.log_switch):
                    pedantic = [] if semicolon and language[0] == "c" else ["-Wpedantic"]
                    what = f"DOCA_LOG_REGISTER({registration}){semicolon}"
                    yield what, language, [API, option, *pedantic], source, True
    for language in (C11, CXX17):
        for call in uses.log_calls:
            for argument, fits in (('"text"', True), ("1", False)):
                source = "#include <doca_log.h>\nDOCA_LOG_REGISTER(X)\nvoid f(void);\n" \
                         f"void f(void) {{ {call.format(argument)}; }}\n"
                yield f"{call.format(argument)} checked", language, [API, uses.log_switch], source, fits
        call = f"{includes(['doca_error.h', 'doca_version.h'])}int f(void);\n" \
               f"int f(void) {{ return {uses.experimental_call}; }}\n"
        yield "experimental API allowed", language, [API], call, True
        yield "experimental API not allowed", language, [], call, False
        for role, (options, present, absent) in ROLES.items():
            yield f"role {role}", language, options, role_source(present, absent), True
            yield f"role {role} inverted", language, options, role_source(absent, present), False
        for cpu, default in (("x86_64", "host"), ("aarch64", "dpu")):
            on_cpu = f"#ifdef __{cpu}__\n{{}}\n#endif\nint last;\n"
            _, present, absent = ROLES[default]
            yield f"default role on {cpu}", language, [], on_cpu.format(role_source(present, absent)), True
        both = ["-DDOCA_ARCH_DPU", "-DDOCA_ARCH_HOST"]
        yield "both roles", language, both, includes(["doca_config.h"]) + end, False


def run(check, include_dir, compilers):
    what, (language, standard), options, source, must_compile = check
    command = [*compilers[language], "-x", language, f"-std={standard}", "-fsyntax-only", "-I", include_dir,
               *WARNINGS, *options, "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if (done.returncode == 0) == must_compile:
        return None
    verdict = "does not compile" if must_compile else "compiles, and must not"
    return f"{what} ({standard}) {verdict}: {' '.join(command)}\n{done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("include_dir")
    parser.add_argument("--generation", choices=header_uses.BY_NUMBER, default="2")
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    parser.add_argument("--cxx", default=os.environ.get("CXX", "c++"))
    args = parser.parse_args()
    compilers = {"c": shlex.split(args.cc), "c++": shlex.split(args.cxx)}
    every_check = list(checks(args.include_dir, header_uses.BY_NUMBER[args.generation]))
    with ThreadPoolExecutor(max_workers=2) as pool:
        failures = [f for f in pool.map(lambda c: run(c, args.include_dir, compilers), every_check) if f]
    for failure in failures:
        print(failure)
    print(f"headers: {len(every_check) - len(failures)} of {len(every_check)} checks hold")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
