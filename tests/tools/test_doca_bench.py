#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""doca_bench in its shortest form: what it prints, and that the data arrives. Not how fast it is.

    test_doca_bench.py DOCA_BENCH
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SHORT = ["--time", "0", "--rounds", "2", "--pool", "1M", "--pin", "none"]


def run(*arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DOCA_SOFT")}
    # meson has malloc fill what it gives, and so touch pages that nobody needs: here memory is measured.
    environment |= {"DOCA_SOFT": "1", "MALLOC_PERTURB_": "0"} | variables
    return subprocess.run([DOCA_BENCH, *arguments], env=environment, capture_output=True, text=True, timeout=300,
                          check=False)


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
        result = run("dma", *SHORT, "--sizes", "64", "--depths", "1", "--cache", "in", "--json", DOCA_SOFT_ROLE="dpu",
                     DOCA_SOFT_TOPOLOGY="")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual({row["where"] for row in json.loads(result.stdout)["rows"]}, {"local"})
        self.assertIn("left out", result.stderr)

    def test_an_unknown_device_is_a_failure_that_names_the_others(self):
        result = run("dma", *SHORT, "--device", "nosuch", "--where", "local")
        self.assertEqual(result.returncode, 1)
        self.assertIn("'nosuch'", result.stderr)
        self.assertIn("soft_p0", result.stderr)

    def test_sha_next_to_openssl(self):
        result = run("sha", "--time", "0", "--speed", "0", "--pin", "none", "--sizes", "1,1000", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertIs(report["hardware"], False)
        self.assertEqual([(r["digest"], r["bytes"]) for r in report["rows"]],
                         [(digest, size) for digest in ("sha1", "sha256", "sha512") for size in (1, 1000)])
        for row in report["rows"]:
            self.assertGreater(row["job_ns"]["median"], 0)
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
        self.assertEqual(run("graph", "--time", "x").returncode, 2)

    def test_round_trips_of_comm_channel(self):
        result = run("cc", "--rounds", "2", "--trips", "20", "--pin", "none", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual((report["benchmark"], report["functions"]), ("cc", "soft_pf0 to soft_p0"))
        self.assertEqual([row["bytes"] for row in report["rows"]], [8, 4080])
        for row in report["rows"]:
            for key in "channel_ns", "channel_events_ns", "socket_ns", "socket_sleep_ns", "ratio":
                self.assertGreater(row[key]["min"], 0)
        result = run("cc", "--bars", "--rounds", "2", "--trips", "20", "--pin", "none")
        self.assertIn(result.returncode, [0, 3], result.stderr)
        self.assertIn("PASS" if result.returncode == 0 else "FAIL", result.stdout)

    def test_sync_events(self):
        for arguments in [], ["--bars"]:
            result = run("sync_event", "--time", "0", "--rounds", "2", "--pin", "none", "--json", *arguments)
            self.assertIn(result.returncode, [0, 3] if arguments else [0], result.stderr)
            report = json.loads(result.stdout)
            self.assertEqual([row["way"] for row in report["rows"]], ["wait_gt", "wait_gt_yield", "wait job + epoll"])
            for row in report["rows"]:
                for summary in row["ns"], row["plain_ns"], row["ratio"]:
                    self.assertGreater(summary["min"], 0)
            bars = report.get("bars", [])
            self.assertEqual([bar["limit"] for bar in bars], [1.5, 1.2] if arguments else [])
            self.assertEqual(result.returncode, 0 if all(bar["passed"] for bar in bars) else 3)
        self.assertIn("wait_gt_yield", run("sync_event", "--time", "0", "--rounds", "2", "--pin", "none").stdout)
        failed = run("sync_event", DOCA_SOFT_ROLE="dpu")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("share sync events", failed.stderr)

    def test_command_line(self):
        self.assertIn("dma", run("--help").stdout)
        self.assertIn("--bars", run("dma", "--help").stdout)
        for arguments in [], ["nosuch"], ["--nope"], ["dma", "--nope"], ["dma", "--sizes", "0"], \
                ["dma", "--sizes", "64,,1"], ["dma", "--depths", "2000"], ["dma", "--where", "moon"], \
                ["dma", "--pin", "0"], ["dma", "--pin", "0,99999"], ["dma", "--time", "-1"], \
                ["sha", "--sizes", "0"], ["sha", "--algorithms", "md5"], ["sha", "--pin", "99999"], \
                ["cc", "--sizes", "4081"], ["cc", "--rounds", "0"], ["cc", "--pin", "0"]:
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn("Usage: doca_bench", result.stderr)
            self.assertEqual(result.stdout, "")


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

    def test_many_connections(self):
        # All bars but that of the last connection's setting up hold for few ones, too, however busy the machine is.
        result = run("rdma", "--connections", "--count", "1000", "--pin", "none", "--device", "soft_p0", "--bars", "--json")
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
        self.assertIn("ratio", run("rdma", "--connections", "--count", "4", "--device", "soft_p0").stdout)

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
                ["--tests", ""], ["--depth", "2000"], ["--pin", "0"]:
            result = run("rdma", *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn("Usage: doca_bench rdma", result.stderr)


if __name__ == "__main__":
    DOCA_BENCH = sys.argv.pop(1)
    unittest.main()
