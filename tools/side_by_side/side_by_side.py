#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Runs the same loops in two programs, in turns, and prints what they take and the ratio. See docs/benchmarks.md."""
import argparse
import csv
import os
import socket
import statistics
import subprocess
import sys


class Side:
    """One of the programs: a process that waits between its loops."""

    def __init__(self, name, program, libraries, cpu):
        self.name = name
        env = dict(os.environ)
        if libraries:
            env["LD_LIBRARY_PATH"] = libraries
        self._process = subprocess.Popen([program], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        self.loops = self._process.stdout.readline().split()
        if not self.loops:
            raise SystemExit(f"{name}: {program} has ended: {self._process.wait()}")

    def run(self, loop, count):
        """Nanoseconds that one of count takes."""
        self._process.stdin.write(f"{loop} {count}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name}: {loop} failed")
        return float(line) / count

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class Ucx:
    """Tests of ucx_perftest in place of a program's loops: TEST_SIZE, such as tag_lat_8 or tag_bw_1048576. Each run is a pair
    of processes that talk over shared memory, pinned as the two of ours are."""

    def __init__(self, program, cpu):
        self._program = program
        self._cpus = (next((one for one in sorted(os.sched_getaffinity(0)) if one != cpu), cpu), cpu)
        self.loops = []

    def run(self, loop, count):
        test, _, size = loop.rpartition("_")
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        env = {name: value for name, value in os.environ.items() if not name.startswith("UCX_")}
        env |= {"UCX_TLS": "posix,self", "UCX_LOG_LEVEL": "error"}
        base = [self._program, "-p", str(port)]
        server = subprocess.Popen([*base, "-c", str(self._cpus[0])], env=env, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            while True:  # until the server listens
                client = subprocess.run([*base[:1], "127.0.0.1", *base[1:], "-c", str(self._cpus[1]), "-t", test, "-s", size,
                                         "-n", str(count), "-w", str(count // 10 + 1), "-f", "-v"], env=env, check=False,
                                        capture_output=True, text=True)
                if client.returncode == 0:
                    break
                if "onnect" not in client.stdout + client.stderr or server.poll() is not None:
                    raise SystemExit(f"{self._program} {loop}: {client.stdout}{client.stderr}")
        finally:
            server.kill()
            server.wait()
        # The number of operations in a second is the last column: the times have too few digits.
        return 1e9 / float(list(csv.reader(client.stdout.splitlines()))[-1][-1])

    def close(self):
        pass


def compare(loop, other_loop, sides, rounds, sample_ns):
    """The shortest time of either side, and the ratio of both."""
    names = (loop, other_loop)
    # The shortest of some, as another process may have had the CPU.
    fastest = min(min(side.run(name, 32) for _ in range(8)) for side, name in zip(sides, names))
    count = max(1, round(sample_ns / fastest / 32)) * 32
    shortest = [float("inf"), float("inf")]
    for i in range(rounds):
        for which in (0, 1) if i % 2 == 0 else (1, 0):
            shortest[which] = min(shortest[which], sides[which].run(names[which], count))
    return shortest


def is_ucx(name):
    return os.path.basename(name) == "ucx_perftest"


def program_of(name):
    """As the shell finds it, but that a program of the current folder needs no ./ before it."""
    is_here = os.sep not in name and not is_ucx(name) and os.path.isfile(name)
    return os.path.join(os.curdir, name) if is_here else name


def parse_row(text):
    """loop[/other][<=limit]"""
    names, _, limit = text.partition("<=")
    loop, _, other = names.partition("/")
    return loop, other or loop, float(limit) if limit else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="the program to compare with, in the current folder or in PATH; for ucx_perftest the loops "
                        "are TEST_SIZE, such as tag_lat_8")
    parser.add_argument("program", help="the program whose ratio to it is printed; may be the same one")
    parser.add_argument("rows", nargs="*", help="LOOP of the base, /LOOP of the other if it is called otherwise, "
                        "<=LIMIT of the ratio; default: all loops that both have")
    parser.add_argument("--base-libraries", metavar="DIRS", help="LD_LIBRARY_PATH of the first")
    parser.add_argument("--libraries", metavar="DIRS", help="LD_LIBRARY_PATH of the second")
    parser.add_argument("--limit", type=float, help="of all ratios for which no row has its own")
    parser.add_argument("--rounds", type=int, default=300, help="samples of each loop")
    parser.add_argument("--sample", type=float, default=100, metavar="US", help="microseconds of a sample; default 100, "
                        "which is shorter than the slices that other processes get")
    parser.add_argument("--processes", type=int, default=3, help="how often both programs are started: where their "
                        "memory lies makes a difference; the median of the ratios counts")
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    args = parser.parse_intermixed_args()

    results = {}
    for _ in range(args.processes):
        sides = (Ucx(args.base, args.cpu) if is_ucx(args.base)
                 else Side("the base", program_of(args.base), args.base_libraries, args.cpu),
                 Side("the other", program_of(args.program), args.libraries, args.cpu))
        rows = [parse_row(text) for text in args.rows] or [
            (name, name, None) for name in sides[0].loops if name in sides[1].loops]
        for row in rows:
            results.setdefault(row, []).append(compare(row[0], row[1], sides, args.rounds, args.sample * 1e3))
        for side in sides:
            side.close()

    is_missed = False
    print(f"{'':<32}{'base ns':>10}{'ns':>10}{'ratio':>8}{'at most':>9}")
    for (loop, other, limit), times in results.items():
        limit = limit if limit is not None else args.limit
        ratio = statistics.median(own / base for base, own in times)
        name = loop if other == loop else f"{loop}, {other}"
        verdict = ""
        if limit is not None:
            is_met = round(ratio, 2) <= limit
            is_missed = is_missed or not is_met
            verdict = f"{limit:>9.2f}  {'PASS' if is_met else 'FAIL'}"
        base, own = (min(values) for values in zip(*times))
        print(f"{name:<32} {base:>9.1f} {own:>9.1f} {ratio:>7.2f}{verdict}")
    return 3 if is_missed else 0


if __name__ == "__main__":
    sys.exit(main())
