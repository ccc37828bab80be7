#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""test_bench_pair.py WITH_CARD DOCA_BENCH: doca_bench as server and as client, on the card of software.

What is started by with_card is this script again, as test_bench_pair.py DOCA_BENCH."""
import json
import os
import re
import subprocess
import sys


def run_pair(doca_bench):
    environment = os.environ | {"DOCA_SOFT": "0"}
    server = subprocess.Popen([doca_bench, "rdma", "--server", "--once", "--bind", "127.0.0.1", "--port", "0"],
                              env=environment, stdout=subprocess.PIPE, text=True)
    first = server.stdout.readline()
    found = re.fullmatch(r"device (mlx5_\d+), listening on port (\d+)\n", first)
    assert found, first
    client = subprocess.run([doca_bench, "rdma", "--connect", f"127.0.0.1:{found[2]}", "--device", found[1], "--jobs",
                             "write,read,send", "--sizes", "8,100K", "--memory", "ordinary", "--wait-for", "polling", "--time",
                             "0", "--rounds", "1", "--connections", "2", "--depth", "4", "--json"], env=environment,
                            stdout=subprocess.PIPE, text=True, check=False)
    assert client.returncode == 0, client.stdout
    report = json.loads(client.stdout)
    assert report["device"] == found[1], report
    assert [(row["job"], row["test"], row["bytes"]) for row in report["rows"]] == \
        [(job, test, size) for job in ("write", "read", "send") for test in ("latency", "rate") for size in (8, 102400)], report
    assert all(row["verified"] and row["ns"]["min"] > 0 for row in report["rows"]), report
    assert server.wait() == 0


def main():
    if len(sys.argv) == 2:
        run_pair(sys.argv[1])
        return 0
    with_card, doca_bench = sys.argv[1:]
    return subprocess.run([with_card, "--profile", "connectx-7", sys.executable, __file__, doca_bench], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
