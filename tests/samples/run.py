#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Installs the SDK, builds each sample alone against it, and runs the samples end to end.

run.py --build <build folder of opendoca> --source <source tree> [--compiler <C compiler>] [--tap] [test ...]
run.py --programs <folder with samples> --devices <RDMA device> <another, or the same> [--tap] [test ...]

The second form runs what is there already, on RDMA devices of this machine: pairs of processes, with a device each.
"""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import traceback

sys.dont_write_bytecode = True

import cases_comm_channel
import cases_engines
import cases_errors
import cases_files
import cases_graph
import cases_network
import cases_older
import cases_rdma
import cases_sha
import cases_sync_event
import cases_verbs
import program
from program import Failure, Program
from sdk import BuildError, BuiltSamples, Sdk


class Bench:
    """What a test gets: a folder of its own, and programs that are gone when it ends."""

    def __init__(self, sdk, folder):
        self.folder = pathlib.Path(folder)
        self.devices = sdk.devices
        self._sdk = sdk
        self._programs = []

    def start(self, name, *arguments, side, env=None, built_for=None, **options):
        """Starts a sample that sees the software devices of one side of the PCIe."""
        # How long a peer is waited for is the machine's: a card made of software has no need of seconds.
        kept = ("DOCA_RDMA_TIMEOUT",) if self.devices else ()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("DOCA_") or key in kept}
        environment.update({"DOCA_SOFT": "0"} if self.devices else {"DOCA_SOFT": "1", "DOCA_SOFT_ROLE": side})
        if os.environ.get("OPENDOCA_TEST_STRICT") == "1":
            environment["DOCA_SOFT_STRICT"] = "1"
        environment.update(env or {})
        argv = [self._sdk.program(name, built_for), *map(str, arguments)]
        program = Program(name, argv, environment, **options)
        self._programs.append(program)
        return program

    def files(self):
        """The arguments for the two files between host and DPU."""
        return "-d", self.folder / "export_desc.txt", "-b", self.folder / "buffer_info.txt"

    def end(self):
        for started in self._programs:
            started.stop()

    def transcript(self):
        return "\n".join(f"{program.name} | {line}" for program in self._programs for line in program.lines)


class Report:
    """Prints how each test went, for people or, as TAP, for meson."""

    def __init__(self, is_tap):
        self._is_tap = is_tap
        self._num_passed = 0
        self.num_failed = 0

    def add(self, name, has_passed, details=""):
        if has_passed:
            self._num_passed += 1
        else:
            self.num_failed += 1
        if self._is_tap:
            print(f"{'ok' if has_passed else 'not ok'} {self._num_passed + self.num_failed} - {name}")
            details = "".join(f"# {line}\n" for line in details.splitlines())
        else:
            print(f"{'ok    ' if has_passed else 'FAILED'}  {name}")
            details = "".join(f"    {line}\n" for line in details.splitlines())
        print(details, end="", flush=True)

    def end(self):
        if self._is_tap:
            print(f"1..{self._num_passed + self.num_failed}\n# ", end="")
        print(f"{self._num_passed} passed, {self.num_failed} failed")


def run_case(sdk, case, folder, report):
    bench = Bench(sdk, folder)
    failure = None
    try:
        case(bench)
    except Failure as error:
        failure = str(error)
    except Exception:
        failure = traceback.format_exc()
    finally:
        bench.end()
    report.add(case.__name__.removeprefix("test_"), failure is None,
               "" if failure is None else f"{failure}\n{bench.transcript()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build")
    parser.add_argument("--source")
    parser.add_argument("--programs")
    parser.add_argument("--devices", nargs=2)
    parser.add_argument("--compiler", default="cc", help="with its arguments, as one word")
    parser.add_argument("--meson", default="meson", help="with its arguments, as one word")
    parser.add_argument("--without", action="append", default=[], metavar="TEST")
    parser.add_argument("--end-limit", type=int, default=program.TIME_LIMIT, help="of programs that have to end, in seconds")
    parser.add_argument("--tap", action="store_true", help="report as the Test Anything Protocol has it")
    parser.add_argument("tests", nargs="*", help="all, if none are named")
    arguments = parser.parse_args()

    if arguments.devices is None and (arguments.build is None or arguments.source is None):
        parser.error("--build and --source, or --programs and --devices, are needed")
    on_software_devices = (cases_files, cases_network, cases_errors, cases_rdma, cases_graph, cases_sha, cases_engines,
                           cases_comm_channel, cases_sync_event, cases_older)
    modules = (cases_verbs,) if arguments.devices else on_software_devices
    cases = [case for module in modules for name, case in vars(module).items() if name.startswith("test_")]
    if arguments.tests:
        cases = [case for case in cases if case.__name__.removeprefix("test_") in arguments.tests]
    cases = [case for case in cases if case.__name__.removeprefix("test_") not in arguments.without]
    program.END_LIMIT = arguments.end_limit
    if not cases:
        sys.exit("there is no such test")

    report = Report(arguments.tap)
    work = tempfile.mkdtemp(prefix="opendoca-samples-")
    stage = "install_the_sdk"
    try:
        if arguments.devices:
            sdk = BuiltSamples(arguments.programs, arguments.devices)
        else:
            sdk = Sdk(arguments.build, arguments.source, work, arguments.compiler.split(), arguments.meson.split())
            sdk.install()
            report.add(stage, True)
            stage = "build_each_sample_alone"
            sdk.build_samples()
            report.add(stage, True)
        for case in cases:
            folder = os.path.join(work, "run", case.__name__)
            os.makedirs(folder)
            run_case(sdk, case, folder, report)
    except BuildError as error:
        report.add(stage, False, str(error))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    report.end()
    return 0 if report.num_failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
