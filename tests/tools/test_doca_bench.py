#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""doca_bench in its shortest form: what it prints, and that the data arrives. Not how fast it is.

    test_doca_bench.py DOCA_BENCH GENERATION OTHER

OTHER is the doca_bench of the other generation."""
import csv
import errno
import io
import json
import os
import pathlib
import re
import socket
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))

import user  # pylint: disable=wrong-import-position

DOCA_BENCH, GENERATION, OTHER = sys.argv[1:4]
JOB = "job" if GENERATION == "2.2" else "task"
BENCHMARKS = ["dma", "rdma", "sha", "compress", "ec", "graph", "sync_event"]
BENCHMARKS += ["connections", "cc"] if GENERATION == "2.2" else ["comch", "aes_gcm", "contexts"]
SHORT = ["--time", "0", "--rounds", "2", "--pool", "1M", "--pin", "none"]


def run(*arguments, **variables):
    # meson has malloc fill what it gives, and so touch pages that nobody needs: here memory is measured.
    environment = user.environment(DOCA_SOFT="1", MALLOC_PERTURB_="0") | variables
    return subprocess.run([DOCA_BENCH, *arguments], env=environment, capture_output=True, text=True, timeout=300,
                          check=False)


def of_2_2(test):
    return unittest.skipUnless(GENERATION == "2.2", "measures what 3.0 has not")(test)


def of_3_0(test):
    return unittest.skipUnless(GENERATION == "3.0", "measures what 2.2 has not")(test)


def csv_rows(text):
    return list(csv.DictReader(io.StringIO(text), strict=True))


class DocaBench(unittest.TestCase):
    def rows(self, *arguments, **variables):
        result = run("dma", *SHORT, "--device", "soft_p0", *arguments, "--json", **variables)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_rows_of_all_kinds(self):
        report = self.rows("--sizes", "64,4K,100K", "--depths", "1,4")
        self.assertEqual(report["benchmark"], "dma")
        self.assertEqual(report["device"], "soft_p0")
        self.assertEqual(report["pinned_to"], [])
        for key in "cpu", "kernel", "cache_bytes":
            self.assertTrue(report["machine"][key])
        cases = [(r["where"], r["direction"], r["bytes"], r["depth"], r["in_cache"]) for r in report["rows"]]
        expected = [(where, direction, size, depth, in_cache)
                    for where, direction in [("local", "copy"), ("shared", "read"), ("shared", "write"),
                                             ("ordinary", "read"), ("ordinary", "write")]
                    for in_cache in (True, False) for depth in (1, 4) for size in (64, 4096, 102400)]
        self.assertEqual(cases, expected)

    def test_a_row_has_everything_about_its_case(self):
        for where, names in [("local", {"memcpy"}), ("shared", {"memcpy"}),
                             ("ordinary", {"process_vm_readv", "/proc/<pid>/mem"})]:
            row = self.rows("--sizes", "4K", "--depths", "1", "--cache", "in", "--where", where,
                            "--direction", "read")["rows"][0]
            baselines = {b["name"]: b["ns"] for b in row["baselines"]}
            self.assertLessEqual(names, set(baselines))
            self.assertIn(row["compared_to"], baselines)
            for summary in [row["job_ns"], row["ratio"], *baselines.values()]:
                self.assertGreater(summary["min"], 0)
                self.assertLessEqual(summary["min"], summary["median"])
                self.assertLessEqual(summary["median"], summary["max"])
            self.assertIs(row["verified"], True)
            self.assertGreaterEqual(row["samples"], 2)
            self.assertGreater(row["gigabytes_per_second"], 0)

    def check_percentiles(self, latency):
        self.assertGreaterEqual(latency["samples"], 100)
        self.assertLessEqual(0, latency["p50"])
        self.assertLessEqual(latency["p50"], latency["p99"])
        self.assertLessEqual(latency["p99"], latency["p99_9"])

    def test_percentiles_of_single_jobs(self):
        single, many = self.rows("--sizes", "1M", "--depths", "1,4", "--cache", "in", "--where", "local")["rows"]
        self.check_percentiles(single["latency_ns"])
        # A thing that copies at more than 10 TB/s has been measured wrongly.
        self.assertGreater(single["latency_ns"]["p50"], 100)
        self.assertIsNone(many["latency_ns"])

    def test_threads(self):
        rows = self.rows("--sizes", "4K", "--depths", "1,4", "--cache", "in", "--threads", "3")["rows"]
        self.assertEqual(len(rows), 10)
        for row in rows:
            self.assertEqual(row["threads"], 3)
            self.assertGreater(row["job_ns"]["min"], 0)
            if row["depth"] == 1:
                self.check_percentiles(row["latency_ns"])
                self.assertGreaterEqual(row["latency_ns"]["samples"], 300)

    def test_csv(self):
        result = run("dma", *SHORT, "--sizes", "64,4K", "--depths", "1", "--cache", "in", "--where", "local,ordinary", "--csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = csv_rows(result.stdout)
        self.assertEqual([(row["where"], row["direction"], row["bytes"]) for row in rows],
                         [("local", "copy", "64"), ("local", "copy", "4096"), ("ordinary", "read", "64"),
                          ("ordinary", "read", "4096"), ("ordinary", "write", "64"), ("ordinary", "write", "4096")])
        for row in rows:
            self.assertGreater(float(row["job_ns_median"]), 0)
            self.assertGreaterEqual(float(row["latency_ns_p99"]), float(row["latency_ns_p50"]))
            self.assertEqual(row["baselines_memcpy_ns_median"] == "", row["where"] == "ordinary")

    @unittest.skipIf(shutil.which("gnuplot") is None, "takes the program gnuplot")
    def test_plot(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "it's a plot.svg")
            result = run("dma", *SHORT, "--sizes", "64,4K,64K", "--depths", "1,4", "--cache", "in", "--where", "local", "--plot",
                         file)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("local", result.stdout)
            picture = xml.etree.ElementTree.parse(file)
            texts = {"".join(text.itertext()).strip() for text in picture.iter("{http://www.w3.org/2000/svg}text")}
            for expected in ("time of a job", "throughput", "percentiles of single jobs", "GB/s", "memcpy, local copy",
                             "local copy, depth 1, in cache", "local copy, depth 4, in cache",
                             "local copy, depth 1, in cache, p50", "local copy, depth 1, in cache, p99.9"):
                self.assertIn(expected, texts)

    def test_plot_without_gnuplot(self):
        for arguments in ["dma", *SHORT], ["rdma", *DocaBenchRdma.SHORT]:
            result = run(*arguments, "--plot", "/nowhere/plot.svg", PATH="/nowhere")
            self.assertEqual(result.returncode, 1)
            self.assertIn("gnuplot-nox", result.stderr)
            self.assertEqual(result.stdout, "")  # told before anything is measured

    def test_plot_that_can_not_be_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "gnuplot")
            program.write_text('#!/bin/sh\n[ "$1" = --version ]\n', encoding="ascii")
            program.chmod(0o755)
            path = f"{folder}:{os.environ['PATH']}"
            kept = pathlib.Path(folder, "kept.svg")
            kept.write_text("<svg/>", encoding="ascii")
            for file, reason in {os.path.join(folder, "no", "such.svg"): errno.ENOENT, folder: errno.EISDIR,
                                 os.path.join(kept, "a.svg"): errno.ENOTDIR}.items():
                for arguments in ["dma", *SHORT], ["rdma", *DocaBenchRdma.SHORT]:
                    result = run(*arguments, "--plot", file, PATH=path)
                    self.assertEqual(result.returncode, 1)
                    self.assertIn(f"the picture '{file}' can't be written: {os.strerror(reason)}", result.stderr)
                    self.assertEqual(result.stdout, "")  # told before anything is measured
            for file in kept, pathlib.Path(folder, "new.svg"):
                result = run("dma", *SHORT, "--sizes", "64", "--depths", "1", "--cache", "in", "--where", "local", "--plot", str(file),
                             PATH=path)
                self.assertEqual(result.returncode, 1)
                self.assertIn("gnuplot can't draw", result.stderr)
                self.assertIn("local", result.stdout)  # what was measured is not lost
            self.assertEqual(kept.read_text(encoding="ascii"), "<svg/>")
            self.assertEqual(sorted(os.listdir(folder)), ["gnuplot", "kept.svg"])

    def test_a_row_that_fails_is_named(self):
        result = run("dma", *SHORT, "--device", "soft_p0", "--sizes", "64", "--depths", "1,4", "--cache", "in", "--where",
                     "local", "--json", DOCA_SOFT_FAULTS="job:dma=1")
        self.assertEqual(result.returncode, 1, result.stderr)
        first, second = json.loads(result.stdout)["rows"]
        self.assertIn("DOCA_ERROR_IO_FAILED", first["failed"])
        self.assertNotIn("job_ns", first)
        # In 3.0 a task that fails stops its context.
        self.assertEqual("failed" in second, GENERATION == "3.0", second)
        result = run("dma", *SHORT, "--device", "soft_p0", "--sizes", "64", "--depths", "1", "--cache", "in", "--where",
                     "local", DOCA_SOFT_FAULTS="job:dma=1")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout.splitlines()[-1], r"local +copy +64 B .* failed .*failed: a (job|task): DOCA_ERROR_IO_FAILED")
        self.assertNotIn("[DOCA]", result.stdout)

    def test_nothing_is_logged_when_all_is_well(self):
        for arguments in [["dma", *SHORT, "--sizes", "64", "--depths", "1"], ["rdma", *DocaBenchRdma.SHORT, "--sizes", "8"],
                          ["sha", "--time", "0", "--speed", "0", "--pin", "none", "--sizes", "64"],
                          ["graph", "--time", "0", "--rounds", "2", "--pin", "none"],
                          ["cc", "--rounds", "2", "--trips", "20", "--pin", "none"],
                          ["sync_event", "--time", "0", "--rounds", "2", "--pin", "none"],
                          ["connections", "--count", "4", "--pin", "none"],
                          ["contexts", "--count", "4", "--pin", "none"],
                          ["comch", *DocaBenchRdma.SHORT, "--sizes", "8,4080"]]:
            if arguments[0] not in BENCHMARKS:
                continue
            result = run(*arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("[DOCA]", result.stderr + result.stdout, arguments)

    def test_resets_on_demand(self):
        for arguments, resets in ([], False), (["--reset"], True):
            rows = self.rows("--sizes", "64", "--depths", "1,4", "--where", "local,shared", "--cache", "in",
                             *arguments)["rows"]
            self.assertEqual([row["with_reset"] for row in rows], [resets] * 6)

    def test_table_for_people(self):
        result = run("dma", *SHORT, "--device", "soft_p0", "--sizes", "64", "--depths", "1", "--cache", "in",
                     "--where", "local")
        self.assertEqual(result.returncode, 0, result.stderr)
        row = result.stdout.splitlines()[-1].split()
        self.assertEqual(row[:6], ["local", "copy", "64", "B", "1", "in"])
        self.assertIn("memcpy", row)
        self.assertIn("[1/1] local copy 64 B, depth 1, in cache", result.stderr)

    def test_bars_are_judged(self):
        result = run("dma", *SHORT, "--device", "soft_p0", "--bars", "--json")
        self.assertIn(result.returncode, [0, 3], result.stderr)
        bars = json.loads(result.stdout)["bars"]
        self.assertEqual(len(bars), 17)
        for bar in bars:
            is_met = bar["measured"] >= bar["limit"] if bar["kind"] == "ratio at least" else \
                bar["measured"] <= bar["limit"]
            self.assertIs(bar["passed"], is_met)
        self.assertEqual(result.returncode, 0 if all(bar["passed"] for bar in bars) else 3)

    def test_late_copies_are_waited_for(self):
        rows = self.rows("--sizes", "4K", "--depths", "4", "--where", "local,shared", DOCA_SOFT_DEFER="1")["rows"]
        self.assertEqual(len(rows), 6)

    def test_without_an_exporter_the_rest_is_measured(self):
        result = run("dma", *SHORT, "--sizes", "64", "--depths", "1", "--cache", "in", "--json", "--device", "soft_p0s0",
                     DOCA_SOFT_ROLE="dpu", DOCA_SOFT_TOPOLOGY="")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual({row["where"] for row in json.loads(result.stdout)["rows"]}, {"local"})
        self.assertIn("left out", result.stderr)

    def test_an_unknown_device_is_a_failure_that_names_the_others(self):
        result = run("dma", *SHORT, "--device", "nosuch", "--where", "local")
        self.assertEqual(result.returncode, 1)
        self.assertIn("'nosuch'", result.stderr)
        self.assertIn("soft_p0", result.stderr)

    def test_compress_next_to_the_codecs(self):
        result = run("compress", "--time", "0", "--pin", "none", "--sizes", "1,5000", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual([(r["operation"], r["bytes"]) for r in report["rows"]],
                         [(operation, size) for operation in ("deflate", "inflate", "lz4") for size in (1, 5000)])
        for row in report["rows"]:
            for key in "task_ns", "codec_ns", "codec_ratio", "with_checksums_ns", "with_checksums_ratio":
                self.assertGreater(row[key]["median"], 0)
            self.check_percentiles(row["latency_ns"])
        result = run("compress", "--time", "0", "--pin", "none", "--operations", "lz4", "--bars", "--json")
        self.assertIn(result.returncode, [0, 3], result.stderr)
        for row in json.loads(result.stdout)["rows"]:
            self.assertIs(row["passed"], row["with_checksums_ratio"]["median"] >= row["limit"])

    def test_sha_next_to_openssl(self):
        result = run("sha", "--time", "0", "--speed", "0", "--pin", "none", "--sizes", "1,1000", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertIs(report["hardware"], False)
        self.assertEqual([(r["digest"], r["bytes"]) for r in report["rows"]],
                         [(digest, size) for digest in ("sha1", "sha256", "sha512") for size in (1, 1000)])
        for row in report["rows"]:
            self.assertGreater(row["job_ns"]["median"], 0)
            self.check_percentiles(row["latency_ns"])
            self.assertGreater(row["evp_loop_ratio"]["median"], 0)
            self.assertIsNone(row["openssl_speed_ratio"])

    @unittest.skipIf(shutil.which("openssl") is None, "takes the program openssl")
    def test_sha_bar_is_judged(self):
        result = run("sha", "--time", "0", "--speed", "1", "--pin", "none", "--algorithms", "sha1", "--bars", "--json")
        self.assertIn(result.returncode, [0, 3], result.stderr)
        row, = json.loads(result.stdout)["rows"]
        self.assertEqual(row["bytes"], 1 << 20)
        self.assertGreater(row["openssl_speed_bytes_per_second"]["median"], 1e6)
        self.assertIs(row["passed"], row["openssl_speed_ratio"]["median"] >= row["limit"])
        self.assertEqual(result.returncode, 0 if row["passed"] else 3)

    def test_sha_bar_without_openssl_is_missed(self):
        result = run("sha", "--time", "0", "--pin", "none", "--algorithms", "sha1", "--bars", PATH="/nowhere")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("not measured", result.stdout)

    def test_erasure_coding_next_to_isa_l(self):
        result = run("ec", "--time", "0", "--pin", "none", "--sizes", "64,4K", "-k", "5", "-m", "3", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual([(r["work"], r["data_blocks"], r["redundancy_blocks"], r["block_bytes"]) for r in rows],
                         [(work, 5, 3, size) for work in ("create", "recover") for size in (64, 4096)])
        for row in rows:
            self.assertGreater(row["task_ns"]["median"], 0)
            self.assertGreater(row["isal_ratio"]["median"], 0)
            self.check_percentiles(row["latency_ns"])
        result = run("ec", "--time", "0", "--pin", "none", "--bars", "--json")
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual([row["block_bytes"] for row in rows], 2 * [64 << 10, 1 << 20])
        for row in rows:
            self.assertIs(row["passed"], row["isal_ratio"]["median"] >= row["limit"])

    @of_3_0
    def test_aes_gcm_next_to_openssl(self):
        result = run("aes_gcm", "--time", "0", "--pin", "none", "--sizes", "1,1000", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual([(r["task"], r["key_bits"], r["bytes"]) for r in rows],
                         [(task, bits, size) for bits in (128, 256) for task in ("encrypt", "decrypt") for size in (1, 1000)])
        for row in rows:
            self.assertGreater(row["job_ns"]["median"], 0)
            self.check_percentiles(row["latency_ns"])
            self.assertGreater(row["evp_loop_ratio"]["median"], 0)
        result = run("aes_gcm", "--time", "0", "--pin", "none", "--bars", "--json")
        self.assertIn(result.returncode, [0, 3], result.stderr)
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual({row["bytes"] for row in rows}, {4 << 10, 64 << 10, 1 << 20})
        for row in rows:
            if row["bytes"] == 4 << 10:
                self.assertIs(row["passed"], row["added_ns"]["median"] <= row["limit_ns"] == 150)
            else:
                self.assertIs(row["passed"], row["evp_loop_ratio"]["median"] >= row["limit"] == 0.97)
        self.assertEqual(result.returncode, 0 if all(row["passed"] for row in rows) else 3)

    def test_graphs(self):
        short = ["--time", "0", "--rounds", "2", "--pin", "none", "--device", "soft_p0"]
        for arguments, env in ([], {}), (["--compare"], {"DOCA_SOFT_DEFER": "1"}):
            result = run("graph", *short, *arguments, "--json", **env)
            self.assertEqual(result.returncode, 0, result.stderr)
            rows = json.loads(result.stdout)["rows"]
            self.assertEqual([(row["shape"], row["kind"]) for row in rows],
                             [(shape, kind) for kind in ("callbacks", "copies") for shape in
                              ("chain of 3", "chain of 16", "chain of 100", "fan 1-8-1", "10 layers of 10")])
            for row in rows:
                self.assertGreater(row["nodes_per_second"], 0)
                self.assertGreater(row["static_ns"]["median"], 0)
        result = run("graph", *short, "--bars")
        self.assertIn(result.returncode, [0, 3], result.stderr)
        self.assertEqual(len([line for line in result.stdout.splitlines() if " callbacks" in line]), 5)
        failed = run("graph", *short, DOCA_SOFT_FAULTS="job:dma=1")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("running an instance: DOCA_ERROR_IO_FAILED", failed.stderr)
        self.assertEqual(run("graph", "--time", "x").returncode, 2)

    @of_2_2
    def test_round_trips_of_comm_channel(self):
        result = run("cc", "--rounds", "2", "--trips", "20", "--pin", "none", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual((report["benchmark"], report["functions"]), ("cc", "soft_pf0 to soft_p0"))
        self.assertEqual([row["bytes"] for row in report["rows"]], [8, 4080])
        for row in report["rows"]:
            for key in "channel_ns", "channel_events_ns", "socket_ns", "socket_sleep_ns", "ratio":
                self.assertGreater(row[key]["min"], 0)
            for key in "channel_ns", "channel_events_ns", "socket_ns", "socket_sleep_ns":
                single = row[key + "_single"]
                self.assertEqual(single["samples"], 40)
                self.assertLess(0, single["p50"])
                self.assertLessEqual(single["p50"], single["p99_9"])
        result = run("cc", "--bars", "--rounds", "2", "--trips", "20", "--pin", "none")
        self.assertIn(result.returncode, [0, 3], result.stderr)
        self.assertIn("PASS" if result.returncode == 0 else "FAIL", result.stdout)

    def test_sync_events(self):
        for arguments in [], ["--bars"]:
            result = run("sync_event", "--time", "0", "--rounds", "2", "--pin", "none", "--json", *arguments)
            self.assertIn(result.returncode, [0, 3] if arguments else [0], result.stderr)
            report = json.loads(result.stdout)
            self.assertEqual([row["way"] for row in report["rows"]], ["wait_gt", "wait_gt_yield", f"wait {JOB} + epoll"])
            for row in report["rows"]:
                for summary in row["ns"], row["plain_ns"], row["ratio"]:
                    self.assertGreater(summary["min"], 0)
            bars = report.get("bars", [])
            self.assertEqual([bar["limit"] for bar in bars], [1.5, 1.2] if arguments else [])
            self.assertEqual(result.returncode, 0 if all(bar["passed"] for bar in bars) else 3)
        self.assertIn("wait_gt_yield", run("sync_event", "--time", "0", "--rounds", "2", "--pin", "none").stdout)
        failed = run("sync_event", DOCA_SOFT="0")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("DOCA_SOFT=0 rules out software devices", failed.stderr)

    def test_command_line(self):
        named = [line.split()[0] for line in run("--help").stdout.splitlines() if line.startswith("  ")]
        self.assertEqual(sorted(named), sorted(BENCHMARKS))
        self.assertIn("--bars", run("dma", "--help").stdout)
        wrong = [[], ["nosuch"], ["--nope"], ["dma", "--nope"], ["dma", "--sizes", "0"], ["dma", "--sizes", "64,,1"],
                 ["dma", "--depths", "2000"], ["dma", "--where", "moon"], ["dma", "--pin", "0"], ["dma", "--pin", "0,99999"],
                 ["dma", "--time", "-1"], ["dma", "--threads", "0"], ["dma", "--threads", "2x"],
                 ["dma", "--threads", "65"], ["dma", "--json", "--csv"], ["dma", "--plot", ""]]
        wrong += [["sha", "--sizes", "0"], ["sha", "--algorithms", "md5"], ["sha", "--pin", "99999"], ["graph", "--rounds", "0"]]
        if GENERATION == "3.0":
            wrong += [["contexts", "--count", "0"], ["comch", "--jobs", "write"], ["comch", "--jobs", "message", "--sizes", "4081"],
                      ["ec", "--sizes", "100"], ["ec", "--sizes", "512M"], ["ec", "-k", "0"], ["ec", "-m", "33"],
                      ["comch", "--json", "--csv"], ["comch", "--depth", "1025"], ["comch", "--sizes", "65M"]]
        else:
            wrong += [["cc", "--sizes", "4081"], ["cc", "--rounds", "0"], ["cc", "--pin", "0"],
                      ["connections", "--count", "0"]]
        for arguments in wrong:
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn("Usage: doca_bench", result.stderr)
            self.assertEqual(result.stdout, "")
        # The complaint says what was given, and what may be.
        self.assertIn("--threads '65': must be a number from 1 to 64", run("dma", "--threads", "65").stderr)


# What ucx_perftest prints, for operations of 100 ns; as a server it does nothing.
FAKE_UCX = """#!/bin/sh
case "$1" in
-h) exit 0 ;;
127.0.0.1) echo "$UCX_TLS $*" >> "$0.log"; echo iterations,...; echo 10,0.1,0.1,0.1,80,80,10000000,10000000 ;;
*) exec sleep 60 ;;
esac
"""


class DocaBenchRdma(unittest.TestCase):
    SHORT = ["--time", "0", "--rounds", "2", "--pin", "none"]

    def report(self, *arguments, status=0):
        result = run("rdma", *self.SHORT, *arguments, "--json")
        self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout)

    def test_rows_of_all_kinds(self):
        report = self.report("--sizes", "8,4K,100K")
        self.assertEqual(report["benchmark"], "rdma")
        self.assertEqual(report["device"], "soft_p0")
        cases = [(r["memory"], r["job"], r["test"], r["waits_for"], r["bytes"]) for r in report["rows"]]
        expected = [(memory, job, test, waits_for, size)
                    for memory in ("shared", "ordinary") for job in ("write", "read", "send", "fetch_add")
                    for test in ("latency", "rate") for waits_for in ("polling", "events")
                    for size in ((8,) if job == "fetch_add" else (8, 4096, 102400))]
        self.assertEqual(cases, expected)
        for row in report["rows"]:
            self.assertLessEqual(row["ns"]["min"], row["ns"]["median"])
            self.assertGreater(row["ns"]["min"], 0)
            self.assertEqual(row["depth"], 1 if row["test"] == "latency" else 32)
            self.assertIsNone(row["ratio"])

    def test_table_for_people(self):
        result = run("rdma", *self.SHORT, "--sizes", "64", "--jobs", "send", "--tests", "rate", "--memory", "shared",
                     "--wait-for", "polling", "--depth", "7")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.splitlines()[-1].split()[:7],
                         ["shared", "send", "rate", "polling", "64", "B", "7"])
        self.assertIn("[1/1] shared send 64 B, rate, depth 7, polling", result.stderr)

    def test_percentiles_of_latency_tests(self):
        rows = self.report("--sizes", "8", "--memory", "shared")["rows"]
        self.assertEqual(len(rows), 16)
        for row in rows:
            if row["test"] == "rate":
                self.assertIsNone(row["latency_ns"])
                continue
            latency = row["latency_ns"]
            self.assertGreaterEqual(latency["samples"], 100)
            self.assertLessEqual(latency["p50"], latency["p99"])
            self.assertLessEqual(latency["p99"], latency["p99_9"])

    def test_threads_and_connections(self):
        result = run("rdma", *self.SHORT, "--sizes", "8", "--memory", "shared", "--threads", "2", "--connections", "3",
                     "--csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = csv_rows(result.stdout)
        self.assertEqual(len(rows), 16)
        for row in rows:
            self.assertEqual((row["threads"], row["connections"]), ("2", "3"))
            self.assertGreater(float(row["ns_min"]), 0)
            if row["test"] == "latency":
                self.assertGreaterEqual(int(row["latency_ns_samples"]), 200)

    def test_a_row_that_fails_is_named(self):
        result = run("rdma", *self.SHORT, "--sizes", "8", "--memory", "shared", "--jobs", "write,read", "--tests", "rate",
                     "--wait-for", "polling", DOCA_SOFT_FAULTS="job:rdma=1")
        self.assertEqual(result.returncode, 1, result.stderr)
        for line, job in zip(result.stdout.splitlines()[-2:], ("write", "read")):
            self.assertRegex(line, rf"shared +{job} .* failed .*failed: .*DOCA_ERROR_")
        self.assertNotIn("[DOCA]", result.stdout)

    def fake_ucx(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "ucx")
        with open(path, "w", encoding="ascii") as script:
            script.write(FAKE_UCX)
        os.chmod(path, 0o755)
        return path

    def test_ucx_runs_beside(self):
        ucx = self.fake_ucx()
        rows = self.report("--compare", "--ucx", ucx, "--sizes", "8", "--wait-for", "polling")["rows"]
        for row in rows:
            has_none = row["memory"] == "ordinary" and (row["job"], row["test"]) in \
                {("write", "latency"), ("fetch_add", "latency"), ("fetch_add", "rate")}
            if has_none:
                self.assertIsNone(row["ucx_ns"])
                continue
            self.assertEqual(row["ucx_ns"]["median"], 100)
            self.assertAlmostEqual(row["ratio"]["max"], 100 / row["ns"]["min"], places=4)
        with open(ucx + ".log", encoding="ascii") as log:
            runs = log.read().splitlines()
        self.assertTrue(any(one.startswith("posix,self 127.0.0.1") and "-t ucp_put_lat" in one for one in runs))
        self.assertTrue(any(one.startswith("cma 127.0.0.1") and "-x cma" in one for one in runs))
        self.assertTrue(all("-s 8" in one for one in runs))

    def test_bars_are_judged(self):
        result = run("rdma", *self.SHORT, "--bars", "--ucx", self.fake_ucx(), "--json")
        self.assertIn(result.returncode, [0, 3], result.stderr)
        bars = json.loads(result.stdout)["bars"]
        self.assertEqual(len(bars), 15)
        for bar in bars:
            is_met = bar["measured"] >= bar["limit"] if bar["kind"] == "speed at least" else \
                bar["measured"] <= bar["limit"]
            self.assertIs(bar["passed"], is_met)
        self.assertEqual(result.returncode, 0 if all(bar["passed"] for bar in bars) else 3)

    @of_2_2
    def test_many_connections(self):
        # All bars but that of the last connection's setting up hold for few ones, too, however busy the machine is.
        result = run("connections", "--count", "1000", "--pin", "none", "--device", "soft_p0", "--bars", "--json")
        self.assertIn(result.returncode, [0, 3], result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["connections"], 1000)
        self.assertNotIn("[ERR]", result.stderr)
        bars = {bar["bar"]: bar for bar in report["bars"]}
        self.assertEqual(len(bars), 7)
        held = ["descriptors of one more connection"]
        linked = subprocess.run(["ldd", DOCA_BENCH], capture_output=True, text=True, check=True).stdout
        if "libasan" not in linked and "libtsan" not in linked:
            held.append("memory of an idle pair, default queues")  # a sanitizer takes memory of its own
        for name in held:
            self.assertIs(bars[name]["passed"], True, bars[name])
        self.assertEqual(result.returncode, 0 if all(bar["passed"] for bar in bars.values()) else 3)
        self.assertIn("ratio", run("connections", "--count", "4", "--device", "soft_p0").stdout)

    @of_3_0
    def test_many_contexts(self):
        result = run("contexts", "--count", "20", "--pin", "none", "--device", "soft_p0", "--bars", "--json")
        self.assertIn(result.returncode, [0, 3], result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual(report["contexts"], 20)
        for kind, num_rows in [("DMA contexts", 3), ("RDMA contexts", 3), ("RDMA connections", 3), ("Comch clients", 2)]:
            for number in 10, 20:
                rows = [row for row in report["rows"] if row["what"].startswith(f"{number} {kind}: ")]
                self.assertEqual(len(rows), num_rows, report["rows"])
                self.assertTrue(all(row["measured"] > 0 and row["with_one"] > 0 for row in rows), rows)
        bars = {bar["bar"]: bar for bar in report["bars"]}
        for kind in "DMA contexts", "RDMA contexts", "RDMA connections", "Comch clients":
            for cost in "descriptors of one more", "memory of one more":
                self.assertIn(f"{kind}: {cost}", [row["what"] for row in report["rows"]])
            self.assertIn(f"{kind}: setting up the last, to the 100th", bars)
        for kind in "DMA contexts", "RDMA contexts", "RDMA connections":
            self.assertLess(bars[f"{kind}: descriptors of one more"]["measured"], 0.5, "there are some for many objects")
        self.assertLess(bars["Comch clients: descriptors of one more"]["measured"], 3.5, "a socket each, and an epoll instance")
        self.assertEqual(result.returncode, 0 if all(bar["passed"] for bar in report["bars"]) else 3)
        self.assertIn("ratio", run("contexts", "--count", "4", "--device", "soft_p0").stdout)

    @of_3_0
    def test_comch(self):
        result = run("comch", *self.SHORT, "--sizes", "8,4080,100K", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual((report["benchmark"], report["device"]), ("comch", "soft_pf0 to soft_p0"))
        expected = [("-", "message", "round trip", waits_for, size, 1) for waits_for in ("polling", "events")
                    for size in (8, 4080)]
        expected += [(memory, "send", test, waits_for, size, 32 if test == "rate" else 1)
                     for memory in ("shared", "ordinary") for test in ("latency", "rate")
                     for waits_for in ("polling", "events") for size in (8, 4080, 102400)]
        self.assertEqual([(row["memory"], row["job"], row["test"], row["waits_for"], row["bytes"], row["depth"])
                          for row in report["rows"]], expected)
        for row in report["rows"]:
            self.assertLess(0, row["ns"]["min"])
            self.assertLessEqual(row["ns"]["min"], row["ns"]["median"])
            if row["test"] == "rate":
                self.assertIsNone(row["latency_ns"])
            else:
                self.assertLess(0, row["latency_ns"]["p50"])
                self.assertLessEqual(row["latency_ns"]["p50"], row["latency_ns"]["p99"])
            if row["job"] == "message":
                self.assertEqual(row["socket_test"], "socket pair" if row["waits_for"] == "polling" else "socket pair, asleep")
                self.assertGreater(row["ratio"]["min"], 0)
                self.assertNotIn("ucx_ns", row)
            else:
                self.assertIsNone(row["ucx_ns"])

    @of_3_0
    def test_comch_next_to_ucx(self):
        ucx = self.fake_ucx()
        result = run("comch", *self.SHORT, "--bars", "--ucx", ucx, "--json")
        self.assertIn(result.returncode, [0, 3], result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual([(row["test"], row["bytes"], row["depth"], row["ucx_test"]) for row in report["rows"]],
                         [("latency", 8, 1, "tag_lat"), ("rate", 1 << 20, 4, "tag_bw")])
        for row, bar in zip(report["rows"], report["bars"]):
            self.assertEqual(row["ucx_ns"]["median"], 100)
            is_met = bar["measured"] >= bar["limit"] if bar["kind"] == "speed at least" else bar["measured"] <= bar["limit"]
            self.assertIs(bar["passed"], is_met)
        self.assertEqual(result.returncode, 0 if all(bar["passed"] for bar in report["bars"]) else 3)
        with open(ucx + ".log", encoding="ascii") as log:
            self.assertTrue(all("posix,self 127.0.0.1" in one for one in log.read().splitlines()))
        result = run("comch", *self.SHORT, "--compare", "--ucx", "/nonexistent/ucx_perftest")
        self.assertEqual(result.returncode, 1)
        self.assertIn("ucx-utils", result.stderr)

    @of_3_0
    def test_comch_for_people(self):
        result = run("comch", *self.SHORT, "--jobs", "send", "--sizes", "64", "--tests", "rate", "--memory", "shared",
                     "--wait-for", "events", "--depth", "7", "--device", "soft_pf1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("device soft_pf1 to soft_p1", result.stdout)
        self.assertEqual(result.stdout.splitlines()[-1].split()[:7], ["shared", "send", "rate", "events", "64", "B", "7"])
        rows = csv_rows(run("comch", *self.SHORT, "--sizes", "8", "--jobs", "message", "--wait-for", "polling", "--csv").stdout)
        self.assertEqual([(row["job"], row["bytes"]) for row in rows], [("message", "8")])
        self.assertGreater(float(rows[0]["socket_ns_median"]), 0)

    @of_3_0
    def test_comch_without_functions(self):
        for arguments, variables in (["--device", "nosuch"], {}), ([], {"DOCA_SOFT_ROLE": "dpu"}):
            result = run("comch", *self.SHORT, *arguments, **variables)
            self.assertEqual(result.returncode, 1)
            self.assertIn("no host function", result.stderr)

    def server(self, *arguments, program=None):
        """A server on a port of its own, and that port."""
        environment = user.environment(DOCA_SOFT="1")
        process = subprocess.Popen([program or DOCA_BENCH, "rdma", "--server", "--bind", "127.0.0.1", "--port", "0", *arguments],
                                   env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        port = re.search(r"port (\d+)$", process.stdout.readline().strip())
        self.assertTrue(port)
        return process, int(port[1])

    def test_two_processes_by_tcp(self):
        """One of each generation: two of the same are what all other tests have."""
        server, port = self.server("--once", program=OTHER)
        report = self.report("--connect", f"127.0.0.1:{port}", "--sizes", "1000", "--memory", "shared", "--threads", "2",
                             "--connections", "2")
        self.assertEqual([(row["job"], row["test"], row["waits_for"], row["bytes"]) for row in report["rows"]],
                         [(job, test, waits_for, size) for job in ("write", "read", "send", "fetch_add")
                          for test in ("latency", "rate") for waits_for in ("polling", "events")
                          for size in ((8,) if job == "fetch_add" else (1000,))])
        for row in report["rows"]:
            self.assertGreater(row["ns"]["min"], 0)
            self.assertIs(row["verified"], True)
        _, errors = server.communicate(timeout=300)
        self.assertEqual(server.returncode, 0, errors)
        self.assertNotIn("[DOCA]", errors)

    def test_any_bytes_from_unknown_clients_of_a_server(self):
        server, port = self.server()
        begin = {"command": "begin", "job": 0, "test": 1, "memory": 0, "events": 0, "size": 8, "depth": 1, "threads": 1,
                 "connections": 1, "details": [{"connections": ["00"], "memory": "00"}]}

        def framed(message):
            body = message if isinstance(message, bytes) else json.dumps(message).encode()
            return len(body).to_bytes(4, "big") + body

        def answer_to(raw):
            with socket.create_connection(("127.0.0.1", port), timeout=120) as client, client.makefile("rb") as answers:
                try:
                    client.sendall(raw)
                    client.shutdown(socket.SHUT_WR)
                    size = int.from_bytes(answers.read(4), "big")
                    return json.loads(answers.read(size)) if size else None
                except OSError as error:  # the server has ended the connection with bytes unread
                    self.assertIn(error.errno, (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN))
                    return None

        # What is no message ends the connection.
        for raw in (b"GET / HTTP/1.1\r\n\r\n", b"\xff\xff\xff\xff", b"\0\0", b"\0\0\0\x09{}", framed(b"[]"), framed(b"1"),
                    framed(b"{"), framed(b"[" * 100000), framed(b"\xff" * 10), framed(b"")):
            self.assertIsNone(answer_to(raw), raw[:20])
        # A message whose contents are out of bounds is answered with what is wrong.
        for change, complaint in (({"command": "nosuch"}, "nosuch"), ({"command": 5}, "'command'"),
                                  ({"command": "x" * 501}, "501"), ({"command": "serve", "count": 5}, "before 'begin'"),
                                  ({"size": 0}, "'size' is 0"), ({"size": (64 << 20) + 1}, "67108865"),
                                  ({"size": -1}, "'size'"), ({"size": 1e3}, "'size'"), ({"size": "8"}, "'size'"),
                                  ({"job": 4}, "'job' is 4"), ({"job": 3, "size": 7}, "'size' is 7"),
                                  ({"depth": 1025}, "1025"), ({"threads": 65}, "65"), ({"connections": 1025}, "1025"),
                                  ({"depth": 1024, "connections": 1024}, "more than 65536 jobs"),
                                  ({"threads": 64, "size": 64 << 20}, "more than 256 MiB"),
                                  ({"details": []}, "details"), ({"details": [[]]}, "details"),
                                  ({"details": [{"connections": ["00", "00"], "memory": "00"}]}, "details"),
                                  ({"details": [{"connections": [7], "memory": "00"}]}, "details"),
                                  ({"details": [{"connections": ["00" * 1025], "memory": "00"}]}, "1024"),
                                  ({"details": [{"connections": ["0g"], "memory": "00"}]}, "hexadecimal"),
                                  ({"details": [{"connections": ["000"], "memory": "00"}]}, "hexadecimal"),
                                  ({"command": "a\x1b[31m"}, "a?[31m"), ({}, "connecting")):
            answer = answer_to(framed(begin | change))
            self.assertIn(complaint, answer["problem"], change)
        # After all of them it still serves.
        rows = self.report("--connect", f"127.0.0.1:{port}", "--sizes", "8", "--memory", "shared", "--jobs", "send",
                           "--tests", "latency", "--wait-for", "polling")["rows"]
        self.assertEqual(len(rows), 1)
        self.assertIsNone(server.poll())

    def test_a_server_that_is_none(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        result = run("rdma", "--connect", f"127.0.0.1:{port}")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--server running there", result.stderr)
        self.assertEqual(run("rdma", "--connect", "no-such-host.invalid").returncode, 1)

    def test_without_ucx(self):
        result = run("rdma", *self.SHORT, "--compare", "--ucx", "/nonexistent/ucx_perftest")
        self.assertEqual(result.returncode, 1)
        self.assertIn("ucx-utils", result.stderr)

    def test_an_unknown_device_is_a_failure_that_names_the_others(self):
        result = run("rdma", *self.SHORT, "--device", "nosuch")
        self.assertEqual(result.returncode, 1)
        self.assertIn("soft_p0", result.stderr)

    def test_command_line(self):
        self.assertIn("--compare", run("rdma", "--help").stdout)
        for arguments in ["--nope"], ["--sizes", "0"], ["--jobs", "recv"], ["--memory", "moon"], ["--wait-for", "x"], \
                ["--tests", ""], ["--depth", "2000"], ["--pin", "0"], ["--connections", "0"], ["--connections", "1025"], \
                ["--threads", "0"], ["--connect", ""], ["--connect", "host:"], ["--connect", "host:0"], \
                ["--connect", "[::1]5"], ["--connect", "host:99999"], ["--server", "--connect", "host"], ["--once"], \
                ["--bind", "::1"], ["--server", "--port", "65536"], ["--connect", "host", "--compare"], \
                ["--json", "--csv"], ["--threads", "2", "--pin", "0,0"], ["--threads", "2", "--bars"], \
                ["--connections", "1024", "--depth", "128"], ["--threads", "64", "--sizes", "64M"]:
            result = run("rdma", *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn("Usage: doca_bench rdma", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
