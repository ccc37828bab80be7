# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Local copy, and host and DPU as two processes with files between them."""

import json
import signal
import subprocess

from program import check

TEXT = "Ünïcödé and 100 % of it, by DMA"


def start_host(bench, *arguments, **options):
    """The host sample, at the point where it waits for its user."""
    host = bench.start("dma_copy_host", "-t", TEXT, *bench.files(), *arguments, side="host", **options)
    host.wait_for("Press Enter")
    return host


def copy_to_dpu(bench, **options):
    dpu = bench.start("dma_copy_dpu", *bench.files(), side="dpu", **options)
    dpu.succeeds(f"Copied {len(TEXT.encode()) + 1} bytes from the host's memory; the text is: {TEXT}")


def test_local_copy(bench):
    program = bench.start("dma_local_copy", side="dpu")
    program.succeeds("Starting the sample", "the two buffers are equal")
    program.wait_for("Destination buffer, at 0x[0-9a-f]+: This text has travelled by DMA$")


def test_local_copy_of_a_text(bench):
    for env in ({}, {"DOCA_SOFT_DEFER": "1"}):
        program = bench.start("dma_local_copy", "-p", "03:00.1", "-t", TEXT, side="dpu", env=env)
        program.succeeds(f"Copied {len(TEXT.encode()) + 1} bytes")
        program.wait_for(f"Destination buffer, at 0x[0-9a-f]+: {TEXT}$")


def test_local_copy_of_the_longest_text(bench):
    program = bench.start("dma_local_copy", "--text", "x" * 4095, "--pci-addr", "0000:03:00.0", side="dpu")
    program.succeeds("Copied 4096 bytes")
    program.wait_for("Destination buffer, at 0x[0-9a-f]+: x{4095}$")


def test_arguments_from_a_json_file(bench):
    path = bench.folder / "arguments.json"
    path.write_text(json.dumps({"doca_program_flags": {"pci-addr": "03:00.1", "text": "from JSON"}}))
    bench.start("dma_local_copy", "-j", path, side="dpu").succeeds("Source buffer", "from JSON")


def test_help(bench):
    program = bench.start("dma_copy_host", "-h", side="host")
    check(program.wait() == 0, "the exit status is not 0")
    program.says("-p, --pci-addr", "-t, --text", "-d, --descriptor-path", "-b, --buffer-path", "default: 0b:00.0")


def test_host_to_dpu(bench):
    host = start_host(bench)
    descriptor = (bench.folder / "export_desc.txt").read_bytes()
    check(1 <= len(descriptor) <= 256, f"a descriptor of {len(descriptor)} bytes")
    addr, length = (bench.folder / "buffer_info.txt").read_text().split("\n")[:2]
    check(int(addr) > 0 and int(length) == len(TEXT.encode()) + 1, "wrong buffer information")
    copy_to_dpu(bench)
    copy_to_dpu(bench, env={"DOCA_SOFT_DEFER": "1"})
    check(host.is_running(), "the host did not wait")
    host.press_enter()
    host.succeeds(f"Exported {len(TEXT.encode())} bytes of text: {TEXT}")
    left = sorted(path.name for path in bench.folder.iterdir())
    check(left == ["buffer_info.txt", "export_desc.txt"], f"files: {left}")


def test_host_in_a_topology_of_its_own(bench):
    """The addresses of the DMA sample guide."""
    path = bench.folder / "topology.json"
    path.write_text(json.dumps({"functions": [
        {"name": "port", "side": "dpu", "type": "pf", "pci": "03:00.0"},
        {"name": "function", "side": "host", "type": "pf", "pci": "01:00.0", "parent": "port"}]}))
    env = {"DOCA_SOFT_TOPOLOGY": str(path)}
    host = start_host(bench, "-p", "01:00.0", env=env)
    copy_to_dpu(bench, env=env)
    host.press_enter()
    host.succeeds()


def test_host_ends_by_signal(bench):
    for number in (signal.SIGINT, signal.SIGTERM):
        host = start_host(bench)
        copy_to_dpu(bench)
        host.send_signal(number)
        host.succeeds()


def test_host_without_a_keyboard(bench):
    host = start_host(bench, stdin=subprocess.DEVNULL)
    host.wait_for("There is no keyboard here")
    copy_to_dpu(bench)
    check(host.is_running(), "the host did not wait")
    host.send_signal(signal.SIGTERM)
    host.succeeds()


def test_host_when_its_input_ends(bench):
    host = start_host(bench)
    host.close_input()
    host.wait_for("There is no keyboard here")
    copy_to_dpu(bench)
    host.send_signal(signal.SIGINT)
    host.succeeds()


def test_files_are_replaced(bench):
    """What an earlier host left behind does not get into the new files."""
    (bench.folder / "export_desc.txt").write_bytes(b"x" * 1000)
    (bench.folder / "buffer_info.txt").write_bytes(b"9" * 1000)
    host = start_host(bench)
    copy_to_dpu(bench)
    host.press_enter()
    host.succeeds()
