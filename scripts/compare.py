#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Measures opendoca beside memcpy, UCX, perftest, oneTBB and OpenSSL, and writes docs/comparison.md and its pictures.

Each pair of figures is taken in turns, by doca_bench and tools/side_by_side. What is not installed is left out, and the
page says so. So are rows that other programs have disturbed, and what takes more processors than the machine has. Takes
less than ten minutes of a quiet machine."""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = """# opendoca beside others

Written by `scripts/compare.py`, which measures all of it in one run; do not edit. [Benchmarks](benchmarks.md) explains what is
measured. Tables have the shortest of the samples of each, which other work on the machine changes least, and as ratio ours by the
other's: less than 1 is faster than the other. Rows that other work has disturbed are left out and named: too few rounds of
`doca_bench` without it, or a median of the samples or of single operations (p50) of more than twice the shortest sample.
Percentiles and pictures still show some of it.

<!-- not run: minutes; tests/tools/test_compare.py runs it with few rounds -->
```sh
meson compile -C build && scripts/compare.py --build build
```

"""

# Nanoseconds by which the time of a single operation may be too long, since some machines' clocks have steps.
CLOCK_STEP = 20


def text_of_size(size):
    """Returns a number of bytes as text, in the largest unit that divides it."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def number(value):
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def shortest(own, other, *name):
    """Returns the cells of a row: the shortest sample of each side in nanoseconds, names, and the ratio of the two."""
    names = [one.replace('/proc/<pid>/mem', '`/proc/PID/mem`') for one in name]
    return [number(own["min"]), number(other["min"]), *names, f"{own['min'] / other['min']:.2f}"]


def table(titles, rows):
    """Returns a table in Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines) + "\n"


def name_of(row):
    """Returns the name by which the page lists a row that it leaves out."""
    if "shape" in row:
        return f"{row['shape']} of {row['kind']}"
    kind = row.get("job") or row.get("where") or row.get("digest")
    return f"{kind}{', ' + row['test'] if row.get('test') else ''} of {text_of_size(row['bytes'])}"


def is_steady(row):
    """Returns whether neither side's samples show that other programs have used the processors. `disturbed` is what doca_bench
    has found by involuntary context switches and the CPU time of others."""
    summaries = [value for value in row.values() if isinstance(value, dict) and {"min", "median"} <= set(value)]
    own = row.get("ns") or row.get("job_ns")
    single = row.get("latency_ns")
    if own and single and single["p50"] > 2 * own["min"] + CLOCK_STEP:
        return False
    return not row.get("disturbed") and all(one["median"] <= 2 * one["min"] for one in summaries)


class Comparison:
    """One run of all measurements. Each method that is named after a library measures it and returns a section of the
    page; run() writes the page. Rows that have failed or were disturbed are left out, and named at the top of the page."""

    def __init__(self, args):
        self.build = pathlib.Path(args.build).resolve()
        self.output = pathlib.Path(args.output).resolve()
        self.pictures = self.output / "comparison"
        self.seconds = args.time
        self.rounds = args.rounds
        self.is_short = args.short
        self.vm = args.vm
        self.load = os.getloadavg()[0]
        self.cpus = len(os.sched_getaffinity(0))
        self.disturbed = []
        self.has_disturbed_pairs = False
        self.failed = []
        self.machine = None

    def bench(self, *arguments, picture=None, prefix=()):
        """Runs doca_bench and returns its report. The exit statuses 1 (a row has failed) and 3 (a bar was missed) are
        accepted. Rows that have failed, as those of other programs do on busy machines, or that were disturbed are removed,
        and their names are collected."""
        if picture:
            self.pictures.mkdir(parents=True, exist_ok=True)
            arguments += ("--plot", self.pictures / picture)
        command = [*prefix, self.build / "tools" / "doca_bench" / "doca_bench", *arguments, "--json"]
        print("running", *command, file=sys.stderr)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                              env=os.environ | ({} if prefix else {"DOCA_SOFT": "1"}))
        if done.returncode not in (0, 1, 3) or "{" not in done.stdout:
            raise SystemExit(f"{' '.join(map(str, command))} fails with {done.returncode}")
        report = json.loads(done.stdout[done.stdout.index("{"):])
        self.failed += [f"{name_of(row)}, {row['failed'].splitlines()[0]}" for row in report["rows"] if "failed" in row]
        done = [row for row in report["rows"] if "failed" not in row]
        disturbed = [row for row in done if not is_steady(row)]
        self.disturbed += [name_of(row) for row in disturbed]
        self.has_disturbed_pairs |= any("test" in row for row in disturbed)
        report["rows"] = [row for row in done if is_steady(row)]
        self.machine = self.machine or report["machine"]
        return report

    def quick(self):
        """Returns the arguments that limit the time of a row; --time 0 measures two rounds only, for the test."""
        return ["--time", str(self.seconds), *(["--rounds", "2"] if self.seconds == 0 else [])]

    def copies(self):
        sizes = "64,4K,64K,1M" + ("" if self.seconds == 0 else ",16M")
        rows = self.bench("dma", *self.quick(), "--direction", "read", "--depths", "1", "--cache", "in", "--sizes", sizes,
                          picture="copies.svg")["rows"]
        cells = []
        for row in rows:
            baseline = next(one["ns"] for one in row["baselines"] if one["name"] == row["compared_to"])
            percentiles = [number(row["latency_ns"][key]) for key in ("p50", "p99", "p99_9")]
            cells.append([row["where"], text_of_size(row["bytes"]),
                          *shortest(row["job_ns"], baseline, row["compared_to"]), *percentiles])
        return "## DMA copies beside memcpy\n\nWithin a process (local), from another one's memfd (shared), and from its other " \
            "memory (ordinary), in cache. Nanoseconds.\n\n![time, throughput and percentiles of copies](comparison/copies.svg)" \
            "\n\n" + table(["memory", "size", "job", "other", "which", "ratio", "p50", "p99", "p99.9"], cells)

    def rdma(self):
        if shutil.which("ucx_perftest") is None:
            return "## RDMA beside UCX\n\nLeft out: ucx_perftest (package ucx-utils) is not installed.\n\n"
        sizes = ["8,1M", "--tests", "latency"] if self.is_short else ["8,4K,64K,1M"]
        rounds = [] if self.seconds == 0 else ["--rounds", str(self.rounds)]
        rows = self.bench("rdma", *self.quick(), "--compare", "--memory", "shared", "--wait-for", "polling", "--jobs",
                          "write,read,send", "--sizes", *sizes, *rounds, picture="rdma.svg")["rows"]
        cells = [[f"{row['job']}, {row['test']}", text_of_size(row["bytes"]), *shortest(row["ns"], row["ucx_ns"], row["ucx_test"]),
                  *([number(row["latency_ns"][key]) for key in ("p50", "p99", "p99_9")] if row["latency_ns"] else ["", "", ""])]
                 for row in rows]
        return "## RDMA beside UCX\n\nBetween two processes on the software device, both polling, in memory that both map. " \
            "Nanoseconds: one way (latency), or of one job of many in flight (rate).\n\n" \
            "![time, throughput and percentiles of RDMA](comparison/rdma.svg)\n\n" + \
            table(["job", "size", "opendoca", "UCX", "which", "ratio", "p50", "p99", "p99.9"], cells)

    def comch(self):
        # doca_bench does not measure Comch beside UCX: tools/side_by_side runs both programs in turns.
        if shutil.which("ucx_perftest") is None:
            return ""
        side_by_side = ROOT / "tools" / "side_by_side" / "side_by_side.py"
        command = [sys.executable, side_by_side, "ucx_perftest", self.build / "tools" / "side_by_side" / "comch_stream",
                   "tag_lat_8/one_way_8", "tag_bw_1048576/stream_1M", "--rounds", "2" if self.seconds == 0 else "20", "--processes",
                   "1", "--sample", "1000" if self.seconds == 0 else "50000"]
        print("running", *command, file=sys.stderr)
        environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"} | {"DOCA_SOFT": "1"}
        lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout.splitlines()[1:]
        cells = []
        for line, what in zip(lines, ("8 B, one way", "1 MiB, one after the other")):
            name, *_, ucx, own, ratio = line.split()
            cells.append([what, number(float(own)), number(float(ucx)), "_".join(name.split("_")[:2]), ratio])
        return "## Comch beside UCX\n\nFrom a producer to a consumer of another process (DOCA 3.0), both polling. The shortest of " \
            "all samples, in nanoseconds.\n\n" + table(["message", "opendoca", "UCX", "which", "ratio"], cells)

    def perftest(self):
        title = "## RDMA devices beside perftest\n\n"
        if shutil.which("ib_write_bw") is None:
            return title + "Left out: perftest (package perftest) is not installed.\n\n"
        # A read has one program that polls; a write that is waited for and a send have two. The card is another thread.
        jobs = "write,read,send" if self.cpus >= 3 else "read"
        part = title + "Both make the same requests of the same device by libibverbs, in turns. Nanoseconds: one way (latency), " \
            "or of one job of many in flight (rate).\n\n### The card made of software\n\n" \
            "A ConnectX-7 of [with_card](card.md), which is a process that both keep busy: " \
            "times are its own, ratios are what libraries add.\n\n" + \
            ("" if self.cpus >= 3 else "Writes and sends are left out: two programs and the card poll then, which takes three "
             f"processors. This machine has {self.cpus}.\n\n") + self.beside_perftest(
                *self.quick(), "--compare", "--memory", "ordinary", "--wait-for", "polling", "--jobs", jobs,
                *(["--sizes", "8" if self.seconds == 0 else "8,1M", "--tests", "latency"] if self.is_short else ["--sizes", "8,4K,1M"]),
                prefix=(self.build / "tools" / "card" / "with_card", "--profile", "connectx-7", "--card", f"compare-{os.getpid()}",
                        "env", "DOCA_SOFT=0"))
        part += "### The kernel's Soft-RoCE\n\n"
        if not self.vm:
            return part + "Left out in this run: it takes a virtual machine with rdma_rxe (`--vm DIRECTORY`, where what it " \
                "loads is kept). [Benchmarks](benchmarks.md#rdma-devices-next-to-perftest) has figures of an earlier one.\n\n"
        return part + "rdma_rxe in a virtual machine.\n\n" + self.beside_perftest(
            "--bars", prefix=(ROOT / "tests" / "vm" / "run_in_vm.sh", "-n", "dummy", self.vm, "env", "DOCA_SOFT=0"))

    def beside_perftest(self, *arguments, prefix):
        """Returns the table of a device; prefix is the command that makes the device available to doca_bench."""
        cells = [[f"{row['job']}, {row['test']}", text_of_size(row["bytes"]), str(row["depth"]),
                  *shortest(row["ns"], row["perftest_ns"], row["perftest_test"])]
                 for row in self.bench("rdma", *arguments, prefix=prefix)["rows"]]
        return table(["job", "size", "in flight", "opendoca", "perftest", "which", "ratio"], cells)

    def graphs(self):
        rows = self.bench("graph", *self.quick(), "--compare")["rows"]
        cells = [[row["shape"], row["kind"], *shortest(row["node_ns"], row["tbb_ns"])] for row in rows if row.get("tbb_ns")]
        if not cells:
            return "## Graphs beside oneTBB\n\nLeft out: doca_bench was built without libtbb-dev.\n\n"
        return "## Graphs beside oneTBB\n\nNanoseconds of a node; oneTBB's flow graph has one thread.\n\n" + \
            table(["graph", "nodes", "opendoca", "oneTBB", "ratio"], cells)

    def digests(self):
        rows = self.bench("sha", *self.quick()[:2], "--speed", "0")["rows"]
        cells = [[row["digest"], text_of_size(row["bytes"]), *shortest(row["job_ns"], row["evp_loop_ns"])] for row in rows]
        return "## SHA beside OpenSSL\n\nNanoseconds of a digest; OpenSSL by its EVP functions in a loop.\n\n" + \
            table(["digest", "size", "opendoca", "OpenSSL", "ratio"], cells)

    def run(self):
        if self.load > self.cpus / 2:
            print(f"other programs use this machine: a load of {self.load:.1f} on {self.cpus} processors. Rows that they disturb are "
                  "left out; figures to keep want a quiet machine", file=sys.stderr)
        parts = [self.copies(), self.rdma(), self.comch(), self.perftest(), self.graphs(), self.digests()]
        machine = f"Measured on {datetime.date.today():%d %B %Y}: {self.machine['cpu']}, Linux {self.machine['kernel']}."
        if self.load > self.cpus / 2:
            machine += f" The load was {self.load:.1f} on {self.cpus} processors when this began."
        if self.disturbed:
            machine += " Left out, since other programs disturbed them: " + "; ".join(self.disturbed) + "."
            if self.cpus < 3 and self.has_disturbed_pairs:
                machine += " Rows of two processes that both poll need three processors beside other work."
        if self.failed:
            machine += " Rows that are missing have failed: " + "; ".join(self.failed) + "."
        self.output.mkdir(parents=True, exist_ok=True)
        (self.output / "comparison.md").write_text(PAGE + machine + "\n\n" + "".join(parts).rstrip() + "\n", encoding="utf-8")
        print(f"written: {self.output / 'comparison.md'}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=ROOT / "build", help="the build directory; default build")
    parser.add_argument("--output", default=ROOT / "docs", help="where the page and its pictures go; default docs")
    parser.add_argument("--time", type=float, default=0.3, metavar="SECONDS", help="of each row; default 0.3")
    parser.add_argument("--rounds", type=int, default=5, help="runs of ucx_perftest of each row, four times as many if others use "
                        "the machine; default 5")
    parser.add_argument("--short", action="store_true", help="of RDMA, 8 B and 1 MiB one way only: for a busy "
                        "machine")
    parser.add_argument("--vm", metavar="DIRECTORY", help="measure beside perftest, too, in a virtual machine; where its files are")
    Comparison(parser.parse_args()).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
