# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Comm Channel: server and client, and the application that copies files, as two processes each."""

import os
import signal

from program import check

DPU = ("-p", "03:00.0", "-r", "0b:00.0")
HOST = ("-p", "0b:00.0")
PIECE = 4 << 20


def place(bench):
    """Services of this test alone: other runs on the machine use the same names."""
    folder = bench.folder / "run"
    folder.mkdir(mode=0o700, exist_ok=True)
    return {"XDG_RUNTIME_DIR": str(folder)}


def start_server(bench, *arguments):
    server = bench.start("cc_server", *arguments, side="dpu", env=place(bench))
    server.wait_for("The service 'cc_sample_server' listens")
    return server


def start_client(bench, *arguments):
    return bench.start("cc_client", *arguments, side="host", env=place(bench))


def test_server_and_client(bench):
    server = start_server(bench)
    start_client(bench, "-t", "from the host").succeeds("The server says: Greetings from the DPU")
    server.succeeds("The client says: from the host")
    check(not list((bench.folder / "run" / "opendoca").iterdir()), "something was left behind")


def test_server_and_client_with_arguments(bench):
    server = start_server(bench, "-p", "03:00.1", "-r", "0b:00.1", "-t", "x" * 4079)
    start_client(bench).fails("Cannot connect to the service 'cc_sample_server'")
    start_client(bench, "-p", "0b:00.1", "--text", "\x1b[31m").succeeds(f"The server says: {'x' * 4079}")
    server.succeeds("The client says: .[31m")


def test_server_and_client_that_cannot_start(bench):
    env = place(bench)
    start_client(bench).fails("does it listen on the DPU?")
    bench.start("cc_server", "-r", "0b:00.1", side="dpu", env=env).fails("no representor of a function at '0b:00.1'")
    bench.start("cc_server", "-p", "0b:00.0", side="all", env=env).fails("The representors cannot be listed")
    bench.start("cc_client", "-p", "03:00.0", side="all", env=env).fails("Cannot connect to the service")
    bench.start("cc_client", "-p", "05:00.0", side="all", env=env).fails("No device has the PCI address '05:00.0'")
    start_client(bench, "-t", "x" * 4080).fails("The text has 4080 bytes, and 1 to 4079 are possible")
    server = start_server(bench)
    bench.start("cc_server", side="dpu", env=env).fails("The service 'cc_sample_server' cannot listen")
    server.send_signal(signal.SIGKILL)
    server.wait()
    start_client(bench).fails("does it listen on the DPU?")
    server = start_server(bench)
    start_client(bench).succeeds()
    server.succeeds()


def paths(bench):
    folders = [bench.folder / side for side in ("host", "dpu")]
    for folder in folders:
        folder.mkdir(exist_ok=True)
    return [folder / "file" for folder in folders]


def start_copy(bench, dpu_file, host_file):
    dpu = bench.start("dma_copy", "-f", dpu_file, *DPU, side="dpu", env=place(bench))
    dpu.wait_for("The service 'dma copy server' listens")
    return dpu, bench.start("dma_copy", "-f", host_file, *HOST, side="host", env=place(bench))


def check_folders(bench):
    for path in paths(bench):
        names = [name.name for name in path.parent.iterdir()]
        check(names in ([], ["file"]), f"files: {names}")


def test_dma_copy_to_the_dpu(bench):
    host_file, dpu_file = paths(bench)
    for size in (0, 1, 4096, PIECE - 1, PIECE, 9 * PIECE + 12345):
        data = os.urandom(size)
        host_file.write_bytes(data)
        dpu_file.unlink(missing_ok=True)
        dpu, host = start_copy(bench, dpu_file, host_file)
        host.succeeds("is here: copying it to the DPU", f"Copied {size} bytes")
        dpu.succeeds(f"Copied {size} bytes")
        check(size == 0 or "100 %" in host.text(), "no progress was shown")
        check(dpu_file.read_bytes() == data, f"a file of {size} bytes differs")
        check_folders(bench)


def test_dma_copy_to_the_host(bench):
    host_file, dpu_file = paths(bench)
    data = os.urandom(3 * PIECE + 7)
    dpu_file.write_bytes(data)
    dpu, host = start_copy(bench, dpu_file, host_file)
    host.succeeds("is not here: copying it from the DPU", f"Copied {len(data)} bytes", "100 %")
    dpu.succeeds("100 %")
    check(host_file.read_bytes() == data, "the file differs")
    check_folders(bench)


def test_dma_copy_of_what_cannot_be_copied(bench):
    host_file, dpu_file = paths(bench)
    dpu, host = start_copy(bench, dpu_file, host_file)
    dpu.fails(f"Cannot open '{dpu_file}'")
    host.fails("The other side has given up")
    with host_file.open("wb") as file:
        file.truncate((2 << 30) + 1)
    dpu, host = start_copy(bench, dpu_file, host_file)
    host.fails("has 2147483649 bytes, and at most 2147483648 can be copied")
    dpu.fails()
    host_file.write_bytes(b"x")
    dpu, host = start_copy(bench, dpu_file.parent / "missing" / "file", host_file)
    dpu.fails("Cannot create")
    host.fails("The other side has given up")
    check_folders(bench)


def test_dma_copy_with_wrong_arguments(bench):
    host_file, dpu_file = paths(bench)
    env = place(bench)
    bench.start("dma_copy", "-f", dpu_file, "-p", "03:00.0", side="dpu", env=env).fails("On the DPU, -r has to name")
    bench.start("dma_copy", "-p", "03:00.0", side="dpu", env=env).fails("The arguments cannot be used")
    bench.start("dma_copy", "-f", host_file, side="host", env=env).fails("The arguments cannot be used")
    bench.start("dma_copy", "-f", host_file, *HOST, side="host", env=env).fails("does it listen on the DPU?")


def kill_in_the_middle(bench, victim_of):
    """Kills one side once the first piece has been copied; returns the other one."""
    host_file, dpu_file = paths(bench)
    with host_file.open("wb") as file:
        file.truncate(2 << 30)
    dpu, host = start_copy(bench, dpu_file, host_file)
    victim, other = victim_of(dpu, host)
    victim.wait_for(" 10 % of ")
    victim.send_signal(signal.SIGKILL)
    check(victim.wait() == -signal.SIGKILL, "the copy was faster than the test")
    return other


def test_dma_copy_when_the_host_is_killed(bench):
    kill_in_the_middle(bench, lambda dpu, host: (host, dpu)).fails()
    check(not list((bench.folder / "dpu").iterdir()), "a part of the file was left")


def test_dma_copy_when_the_dpu_is_killed(bench):
    kill_in_the_middle(bench, lambda dpu, host: (dpu, host)).fails()
    host_file, dpu_file = paths(bench)
    host_file.write_bytes(b"and then it works again")
    dpu, host = start_copy(bench, dpu_file, host_file)
    host.succeeds()
    dpu.succeeds()
    check(dpu_file.read_bytes() == b"and then it works again", "the file differs")
