#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Compile the public headers in the ways that programs include them.

    check_headers.py INCLUDE_DIR [--cc CC] [--cxx CXX]

Prints each failure and a closing line; exits 0 only when all that must compile does and the rest does not.
"""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

NUMBER_OF_HEADERS = 23
LOG_PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "unit" / "headers" / "log_register.inc"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
API = "-DDOCA_ALLOW_EXPERIMENTAL_API"
C11, CXX17 = ("c", "c11"), ("c++", "c++17")
EVERY_LANGUAGE = [C11, ("c", "gnu11"), CXX17, ("c++", "c++20"), ("c++", "c++2b")]

ROLES = {  # name: (options, macros that must be there, macros that must not)
    "dpu": (["-DDOCA_ARCH_DPU"], ["DOCA_ARCH_DPU"], ["DOCA_ARCH_HOST"]),
    "host": (["-DDOCA_ARCH_HOST"], ["DOCA_ARCH_HOST"], ["DOCA_ARCH_DPU"]),
}

# Each way to log, whose argument must fit its format.
LOG_CALLS = [
    'DOCA_LOG(INFO, "%s", {})', 'DOCA_LOG_ERR("%s", {})', 'DOCA_LOG_RATE_LIMIT_WARN("%s", {})',
    'DOCA_DLOG_DBG("%s", {})', 'doca_log(30, 0, 1, "%s", {})',
]

# What programs use with these headers alone.
REACH = [
    ("doca_log.h", 'char text[8]; uint32_t n = 1; bool yes = true; size_t size = strlen(strcpy(text, "x"));'
                   "FILE *file = stdout; (void)n; (void)yes; (void)size;"
                   'return snprintf(text, sizeof(text), "x") + (file == NULL);'),
    ("doca_argp.h", "char text[8]; bool yes = true; memset(text, yes, sizeof(text));"
                    "return doca_get_error_string(DOCA_SUCCESS) == 0;"),
    ("doca_error.h", "char text[8]; return (int)strlen((char *)memset(text, 0, sizeof(text)));"),
    ("doca_ctx.h", "return (int)doca_dev_close(0) + (doca_get_error_string(DOCA_SUCCESS) == 0);"),
    ("doca_comm_channel.h", "char pci[DOCA_DEVINFO_PCI_ADDR_SIZE]; (void)pci;"
                            "return (int)doca_dev_close(0) + (doca_get_error_string(DOCA_SUCCESS) == 0);"),
    ("doca_dev.h", "return doca_get_error_string(DOCA_ERROR_AGAIN) == 0;"),
    ("doca_mmap.h", "doca_error_t status = doca_dev_close(0); (void)doca_get_error_string(status);"
                    "return DOCA_ACCESS_DPU_READ_WRITE;"),
    ("doca_buf_inventory.h", "return (int)doca_mmap_start(0) + (int)doca_buf_refcount_rm(0, 0);"),
    ("doca_dma.h", "struct doca_event event; struct doca_mmap *mmap = 0; doca_be32_t word = 0;"
                   "doca_error_t status = doca_workq_submit(0, 0); (void)event; (void)mmap; (void)word;"
                   "(void)doca_get_error_string(status);"
                   "(void)doca_buf_refcount_rm(0, 0); (void)doca_dev_close(0);"
                   "return DOCA_JOB_FLAGS_NONE + DOCA_WORKQ_RETRIEVE_FLAGS_NONE;"),
    ("doca_rdma.h", "struct doca_event event; (void)event; (void)doca_workq_submit(0, 0);"
                    "return DOCA_JOB_FLAGS_NONE;"),
    ("doca_types.h", "union doca_data data; data.u64 = 0; return data.ptr == 0 && (doca_be32_t)1;"),
    ("doca_sync_event.h", "char pci[DOCA_DEVINFO_PCI_ADDR_SIZE]; (void)pci; return (int)doca_dev_close(0);"),
    ("doca_version.h", "size_t number = DOCA_CURRENT_VERSION_NUM; (void)number;"
                       "return doca_version() == doca_version_runtime();"),
    ("doca_compat.h", "return DOCA_VERSION_EQ_CURRENT(2, 2, 80) && doca_version_runtime() == 0;"),
]


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


def checks(include_dir):
    """(what, language, options, source, whether it must compile) for each check."""
    names = sorted(path.name for path in pathlib.Path(include_dir).glob("doca_*.h"))
    assert len(names) == NUMBER_OF_HEADERS, f"{len(names)} headers in {include_dir}, not {NUMBER_OF_HEADERS}"
    end = "int unused;\n"  # ISO C wants a declaration, and some of the headers have none
    for name in names:
        for language in (C11, CXX17):
            yield f"{name} alone", language, [API, "-Wpedantic"], includes([name]) + end, True
            yield f"{name} twice", language, [API], includes([name, name]) + end, True
    for language in EVERY_LANGUAGE:
        yield "all headers", language, [API], includes(names), True
        yield "all headers in reverse", language, [API], includes(reversed(names)), True
        for first in ("doca_compat.h", "doca_version.h"):
            yield f"{first} first", language, [API], includes([first, *names]), True
    for name, body in REACH:
        for language in (C11, CXX17):
            source = f"{includes([name])}int main(void)\n{{\n{body}\n}}\n"
            yield f"what {name} reaches", language, [API, "-Wno-nonnull"], source, True
    for registration in ("MY_PROGRAM", "MY_PROGRAM::Core", "A::B::C", '"LITERAL"', "A B-C"):
        for semicolon in ("", ";"):
            for language in EVERY_LANGUAGE:
                source = f'#define REGISTER_SOURCE DOCA_LOG_REGISTER({registration}){semicolon}\n' \
                         f'#include "{LOG_PROGRAM}"\n'
                for option in ("-UX", "-DDOCA_LOGGING_ALLOW_DLOG"):
                    pedantic = [] if semicolon and language[0] == "c" else ["-Wpedantic"]
                    what = f"DOCA_LOG_REGISTER({registration}){semicolon}"
                    yield what, language, [API, option, *pedantic], source, True
    for language in (C11, CXX17):
        for call in LOG_CALLS:
            for argument, fits in (('"text"', True), ("1", False)):
                source = "#include <doca_log.h>\nDOCA_LOG_REGISTER(X)\nvoid f(void);\n" \
                         f"void f(void) {{ {call.format(argument)}; }}\n"
                yield f"{call.format(argument)} checked", language, [API, "-DDOCA_LOGGING_ALLOW_DLOG"], source, fits
        call = "#include <doca_error.h>\nconst char *f(void);\n" \
               "const char *f(void) { return doca_get_error_name(DOCA_SUCCESS); }\n"
        yield "experimental API allowed", language, [API], call, True
        yield "experimental API not allowed", language, [], call, False
        for role, (options, present, absent) in ROLES.items():
            yield f"role {role}", language, options, role_source(present, absent), True
            yield f"role {role} inverted", language, options, role_source(absent, present), False
        for cpu, default in (("x86_64", "host"), ("aarch64", "dpu")):
            other = "dpu" if default == "host" else "host"
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
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    parser.add_argument("--cxx", default=os.environ.get("CXX", "c++"))
    args = parser.parse_args()
    compilers = {"c": shlex.split(args.cc), "c++": shlex.split(args.cxx)}
    every_check = list(checks(args.include_dir))
    with ThreadPoolExecutor(max_workers=2) as pool:
        failures = [f for f in pool.map(lambda c: run(c, args.include_dir, compilers), every_check) if f]
    for failure in failures:
        print(failure)
    print(f"headers: {len(every_check) - len(failures)} of {len(every_check)} checks hold")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
