#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""test_side_by_side.py SCRIPT JOBS TASKS COMM_CHANNEL COMCH COMCH_STREAM: every loop runs in both generations, and limits are judged."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))

from user import environment  # pylint: disable=wrong-import-position

SCRIPT, JOBS, TASKS, COMM_CHANNEL, COMCH, COMCH_STREAM = map(os.path.abspath, sys.argv[1:])
BOTH = ["dma_64", "dma_64_full", "graph_copies", "graph_callbacks", "graph_3_copies", "graph_3_callbacks", "rdma_write",
        "rdma_write_32", "rdma_read", "rdma_fetch_add", "rdma_send"]
ENVIRONMENT = environment(DOCA_SOFT="1")


# What ucx_perftest prints, for operations of 100 ns; as a server it does nothing.
FAKE_UCX = """#!/bin/sh
case "$1" in
127.0.0.1) echo "$UCX_TLS $*" >> "$0.log"; echo iterations,...; echo 10,0.1,0.1,0.1,80,80,10000000,10000000 ;;
*) exec sleep 60 ;;
esac
"""


def compare_with_ucx(folder):
    ucx = os.path.join(folder, "ucx_perftest")
    with open(ucx, "w", encoding="ascii") as script:
        script.write(FAKE_UCX)
    os.chmod(ucx, 0o755)
    status, rows, errors = run(ucx, COMCH_STREAM, "tag_lat_8/one_way_8<=1000000", "tag_bw_1048576/stream_1M<=0.0")
    assert status == 3, errors
    assert "ERR" not in errors, errors
    assert rows["tag_lat_8, one_way_8"][0] == "100.0" and rows["tag_lat_8, one_way_8"][-1] == "PASS", rows
    assert rows["tag_bw_1048576, stream_1M"][-1] == "FAIL", rows
    with open(ucx + ".log", encoding="ascii") as log:
        calls = log.read().splitlines()
    assert any(call.startswith("posix,self 127.0.0.1") and "-t tag_lat -s 8 " in call for call in calls), calls
    assert any("-t tag_bw -s 1048576 " in call for call in calls), calls


def run_in_their_folder(folder):
    """The names alone, as docs/benchmarks.md has them: those of the current folder, but ucx_perftest is always PATH's."""
    here = os.path.dirname(JOBS)
    assert here == os.path.dirname(TASKS), TASKS
    status, rows, errors = run(os.path.basename(JOBS), os.path.basename(TASKS), "dma_64", cwd=here)
    assert status == 0 and list(rows) == ["dma_64"], errors
    elsewhere, other = os.path.join(folder, "elsewhere"), os.path.join(folder, "other")
    for directory, program in (elsewhere, FAKE_UCX), (other, "#!/bin/sh\nexit 1\n"):
        os.mkdir(directory)
        with open(os.path.join(directory, "ucx_perftest"), "w", encoding="ascii") as script:
            script.write(program)
        os.chmod(script.name, 0o755)
    status, rows, errors = run("ucx_perftest", COMCH_STREAM, "tag_lat_8/one_way_8", cwd=other,
                               PATH=elsewhere + os.pathsep + os.environ["PATH"])
    assert status == 0 and rows["tag_lat_8, one_way_8"][0] == "100.0", (rows, errors)


def run(*arguments, cwd=None, **variables):
    done = subprocess.run([sys.executable, SCRIPT, *arguments, "--rounds", "1", "--processes", "1"], check=False,
                          capture_output=True, text=True, cwd=cwd, env=ENVIRONMENT | variables)
    lines = done.stdout.splitlines()
    return done.returncode, {line[:32].strip(): line[32:].split() for line in lines[1:]}, done.stderr


def main():
    status, rows, errors = run(JOBS, TASKS)
    assert status == 0, errors
    assert list(rows) == BOTH, rows
    assert all(float(number) > 0 for row in rows.values() for number in row), rows

    status, rows, errors = run(JOBS, JOBS, "--limit", "1000000")
    assert status == 0, errors
    assert {"sync_event_calls", "sync_event_wait", *BOTH} <= set(rows), rows
    assert all(row[-1] == "PASS" for row in rows.values()), rows

    status, rows, errors = run(JOBS, TASKS, "dma_64_floor/dma_64<=0.0", "rdma_read<=1000000")
    assert status == 3, errors
    assert rows["dma_64_floor, dma_64"][-1] == "FAIL", rows
    assert rows["rdma_read"][-1] == "PASS", rows

    status, rows, errors = run(COMM_CHANNEL, COMCH)
    assert status == 0 and list(rows) == ["round_trip_8"], (rows, errors)

    with tempfile.TemporaryDirectory() as folder:
        compare_with_ucx(folder)
        run_in_their_folder(folder)

    status, _, errors = run(JOBS, JOBS, "no_such_loop")
    assert status not in (0, 3) and "no loop no_such_loop" in errors, errors
    return 0


if __name__ == "__main__":
    sys.exit(main())
