#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Installs the SDK, builds each sample alone against it, and runs the samples end to end.

run.py --build <build folder of opendoca> --source <source tree> [--compiler <C compiler>] [test ...]
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True

import cases_errors
import cases_files
import cases_network
from program import Failure, Program
from sdk import BuildError, Sdk


class Bench:
    """What a test gets: a folder of its own, and programs that are gone when it ends."""

    def __init__(self, sdk, folder):
        self.folder = pathlib.Path(folder)
        self._sdk = sdk
        self._programs = []

    def start(self, name, *arguments, side, env=None, built_for=None, **options):
        """Starts a sample that sees the software devices of one side of the PCIe."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("DOCA_")}
        environment.update({"DOCA_SOFT": "1", "DOCA_SOFT_ROLE": side} | (env or {}))
        argv = [self._sdk.program(name, built_for), *map(str, arguments)]
        program = Program(name, argv, environment, **options)
        self._programs.append(program)
        return program

    def files(self):
        """The arguments for the two files between host and DPU."""
        return "-d", self.folder / "export_desc.txt", "-b", self.folder / "buffer_info.txt"

    def end(self):
        for program in self._programs:
            program.stop()

    def transcript(self):
        return "\n".join(f"    {program.name} | {line}" for program in self._programs for line in program.lines)


def run_case(sdk, case, folder):
    """Returns whether the test has passed, and prints how it went."""
    name = case.__name__.removeprefix("test_")
    bench = Bench(sdk, folder)
    start = time.monotonic()
    failure = None
    try:
        case(bench)
    except Failure as error:
        failure = error
    except Exception:
        failure = traceback.format_exc()
    finally:
        bench.end()
    print(f"{'ok    ' if failure is None else 'FAILED'}  {name} ({time.monotonic() - start:.1f} s)", flush=True)
    if failure is not None:
        print(f"    {failure}\n{bench.transcript()}", flush=True)
    return failure is None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--compiler", default="cc", help="with its arguments, as one word")
    parser.add_argument("--meson", default="meson", help="with its arguments, as one word")
    parser.add_argument("tests", nargs="*", help="all, if none are named")
    arguments = parser.parse_args()

    cases = [case for module in (cases_files, cases_network, cases_errors) for name, case in vars(module).items()
             if name.startswith("test_")]
    if arguments.tests:
        cases = [case for case in cases if case.__name__.removeprefix("test_") in arguments.tests]
    if not cases:
        sys.exit("there is no such test")

    work = tempfile.mkdtemp(prefix="opendoca-samples-")
    num_failed = 0
    try:
        sdk = Sdk(arguments.build, arguments.source, work, arguments.compiler.split(), arguments.meson.split())
        sdk.install()
        print("ok      the SDK is installed", flush=True)
        sdk.build_samples()
        print("ok      each sample is built alone", flush=True)
        for case in cases:
            folder = os.path.join(work, "run", case.__name__)
            os.makedirs(folder)
            if not run_case(sdk, case, folder):
                num_failed += 1
    except BuildError as error:
        print(f"FAILED  installing the SDK and building the samples\n{error}")
        num_failed = len(cases)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{len(cases) - num_failed} passed, {num_failed} failed")
    return 0 if num_failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
