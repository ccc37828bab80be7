#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""bench_pair.py DOCA_BENCH [DEVICE]: doca_bench as server and as client, on an RDMA device that is no software device; by
default the first one.

Tests run it on the card of software, and on the kernel's Soft-RoCE in a virtual machine."""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))

import user  # pylint: disable=wrong-import-position


def run_pair(doca_bench, *device):
    environment = user.environment(DOCA_SOFT="0")
    server = subprocess.Popen([doca_bench, "rdma", "--server", "--once", "--bind", "127.0.0.1", "--port", "0",
                               *(["--device", *device] if device else [])],
                              env=environment, stdout=subprocess.PIPE, text=True)
    first = server.stdout.readline()
    found = re.fullmatch(r"device (\w+), listening on port (\d+)\n", first)
    assert found, first
    try:
        check_client(doca_bench, environment, *found.groups())
        assert server.wait() == 0
    finally:
        server.kill()
        server.communicate()


def check_client(doca_bench, environment, device, port):
    client = subprocess.run([doca_bench, "rdma", "--connect", f"127.0.0.1:{port}", "--device", device, "--jobs",
                             "write,read,send", "--sizes", "20000", "--memory", "ordinary", "--wait-for", "polling", "--time",
                             "0", "--rounds", "1", "--connections", "2", "--depth", "4", "--json"], env=environment,
                            stdout=subprocess.PIPE, text=True, check=False)
    assert client.returncode == 0, client.stdout
    report = json.loads(client.stdout)
    assert report["device"] == device, report
    assert [(row["job"], row["test"], row["bytes"]) for row in report["rows"]] == \
        [(job, test, 20000) for job in ("write", "read", "send") for test in ("latency", "rate")], report
    assert all(row["verified"] and row["ns"]["min"] > 0 for row in report["rows"]), report


if __name__ == "__main__":
    run_pair(*sys.argv[1:])
