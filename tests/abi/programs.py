# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Builds and runs programs against a tree."""
import os
import pathlib
import shlex
import subprocess

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
API = "-DDOCA_ALLOW_EXPERIMENTAL_API"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def compiler_of(source):
    variable, default = ("CXX", "c++") if str(source).endswith(".cpp") else ("CC", "cc")
    return shlex.split(os.environ.get(variable, default))


def build(source, standard, output, *options):
    """Compile and link; the compiler's messages, or RuntimeError with them."""
    command = [*compiler_of(source), f"-std={standard}", str(source), "-o", str(output), *map(str, options)]
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return done.stderr


def run(program, *arguments, wrapper=(), cwd=None, **environment):
    """Starts a program in an environment that has a software device and says nothing of libraries."""
    base = {name: value for name, value in os.environ.items()
            if not name.startswith(("LD_", "DOCA_")) and name != "PKG_CONFIG_PATH"}
    return subprocess.run([*wrapper, str(program), *arguments], capture_output=True, text=True, check=False,
                          timeout=300, cwd=cwd, env={**base, "DOCA_SOFT": "1", "LC_ALL": "C", **environment})
