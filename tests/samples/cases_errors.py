# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""What goes wrong, and what the samples say to it."""

import os
import signal

from cases_files import start_host
from program import check
from sdk import WRONG_ROLES

DPU_DEVICES = ("0000:03:00.0  soft_p0      p0       can copy by DMA, export memory to a DPU, import memory of a host",
               "0000:03:00.1  soft_p1 ", "0000:03:00.0  soft_p0s0    p0s0     can copy by DMA")
HOST_DEVICES = ("0000:0b:00.0  soft_pf0     pf0      can copy by DMA, export memory to a DPU, import memory of a host",
                "0000:0b:00.4  soft_pf1vf0 ")


def test_no_device_at_the_address(bench):
    program = bench.start("dma_local_copy", "-p", "05:00.0", side="dpu")
    program.fails("No device has the PCI address '05:00.0'", "can see 4 devices", *DPU_DEVICES)
    for name in ("dma_copy_host", "dma_remote_copy_sender"):
        program = bench.start(name, "-p", "03:00.0", *(bench.files() if name == "dma_copy_host" else ()), side="host")
        program.fails("No device has the PCI address '03:00.0'", "can see 5 devices", *HOST_DEVICES)
    bench.start("dma_remote_copy_receiver", "-p", "nonsense", side="dpu").fails("'nonsense'", *DPU_DEVICES)
    check(not list(bench.folder.iterdir()), "files were written")


def test_device_without_the_capability(bench):
    program = bench.start("dma_copy_host", "-p", "soft_p0s0", *bench.files(), side="dpu")
    program.fails("No device at soft_p0s0 can do all that is needed: export memory to a DPU", *DPU_DEVICES)
    program = bench.start("dma_remote_copy_receiver", "-p", "soft_p0s0", side="dpu")
    program.fails("No device at soft_p0s0 can do all that is needed: copy by DMA, import memory of a host", *DPU_DEVICES)


def test_no_devices(bench):
    bench.start("dma_local_copy", side="dpu", env={"DOCA_SOFT": "no"}).fails("DOCA_SOFT is 'no'")


def test_built_for_the_other_side(bench):
    for name, role in WRONG_ROLES.items():
        mandatory = ("-d", "03:00.0", "-r", "0b:00.0") if name == "sync_event_dpu" else \
            ("-d", "0b:00.0") if name == "sync_event_host" else ()
        program = bench.start(name, *mandatory, side="all", built_for=role)
        program.fails(f"can run only on the {'host' if role == 'dpu' else 'DPU'}")


def test_wrong_arguments(bench):
    too_long = "The text has 4096 bytes, and 1 to 4095 are possible"
    for name in ("dma_local_copy", "dma_copy_host", "dma_remote_copy_sender"):
        bench.start(name, "-t", "x" * 4096, side="all").fails(too_long)
    bench.start("dma_copy_host", "-d", "x" * 1024, side="host").fails("The path of the descriptor has 1024 bytes")
    bench.start("dma_copy_dpu", "-b", "x" * 1024, side="dpu").fails("The path of the buffer information has 1024")
    bench.start("dma_local_copy", "-p", "0000:03:00.00", side="dpu").fails("The PCI address has 13 bytes")
    bench.start("dma_local_copy", "--nonsense", side="dpu").fails("nonsense")
    bench.start("dma_local_copy", "-t", side="dpu").fails("The arguments cannot be used")


def test_files_cannot_be_written(bench):
    """The second one: the first is written by then."""
    missing = bench.folder / "missing" / "file"
    bench.start("dma_copy_host", "-d", missing, side="host").fails("Cannot create", "No such file or directory")
    folder = bench.folder / "folder"
    folder.mkdir()
    descriptor = bench.folder / "export_desc.txt"
    bench.start("dma_copy_host", "-d", descriptor, "-b", folder, side="host").fails(f"Cannot write '{folder}'")
    left = sorted(path.name for path in bench.folder.iterdir())
    check(left == ["export_desc.txt", "folder"], f"files: {left}")


def test_files_are_missing(bench):
    bench.start("dma_copy_dpu", *bench.files(), side="dpu").fails(
        f"Cannot open '{bench.folder}/export_desc.txt': No such file or directory", "is it running")
    (bench.folder / "export_desc.txt").write_bytes(b"x")
    bench.start("dma_copy_dpu", *bench.files(), side="dpu").fails(
        f"Cannot open '{bench.folder}/buffer_info.txt': No such file or directory")


def test_files_are_no_files(bench):
    os.mkfifo(bench.folder / "export_desc.txt")
    bench.start("dma_copy_dpu", *bench.files(), side="dpu").fails("export_desc.txt' is not a regular file")


def test_damaged_descriptor(bench):
    host = start_host(bench)
    path = bench.folder / "export_desc.txt"
    good = path.read_bytes()

    def refused(data, text):
        path.write_bytes(data)
        bench.start("dma_copy_dpu", *bench.files(), side="dpu").fails(text)

    for place in range(0, len(good), 7):
        refused(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1:], "memory cannot be imported")
    refused(good[:-1], "memory cannot be imported")
    refused(b"", "export_desc.txt' has 0 bytes")
    refused(good + bytes(257 - len(good)), "export_desc.txt' has 257 bytes, and 1 to 256 are expected")
    path.write_bytes(good)
    bench.start("dma_copy_dpu", *bench.files(), side="dpu").succeeds()
    host.press_enter()
    host.succeeds()


def test_damaged_buffer_info(bench):
    host = start_host(bench)
    path = bench.folder / "buffer_info.txt"
    addr, length = map(int, path.read_text().split())

    def refused(data, text):
        path.write_bytes(data.encode())
        bench.start("dma_copy_dpu", *bench.files(), side="dpu").fails(text)

    for damaged in ("x", f"{addr}", f"{addr}\n", f"{addr} {length}", f"{addr}\n{length} bytes", f"{addr}\n{length}\n\n",
                    f"-{addr}\n{length}", f"+{addr}\n{length}", f" {addr}\n{length}", f"0x{addr:x}\n{length}",
                    f"{addr}\n-1", f"{addr}\n{1 << 64}", f"{1 << 64}\n{length}", f"{addr}\n{length}\0"):
        refused(damaged, "does not hold an address, a line end and a length")
    refused("", "buffer_info.txt' has 0 bytes")
    refused("1" * 65, "buffer_info.txt' has 65 bytes")
    for outside in (f"{addr}\n0", f"{addr}\n{length + 1}", f"{addr - 1}\n{length}", f"{addr + 1}\n{length}",
                    f"{addr + length}\n1", f"{addr}\n{(1 << 64) - 1}", f"{(1 << 64) - 1}\n{(1 << 64) - 1}", "0\n1"):
        refused(outside, "that it has exported")
    path.write_text(f"{addr + 1}\n{length - 2}")  # a part, without the NUL and without a line end
    bench.start("dma_copy_dpu", *bench.files(), side="dpu").succeeds(f"Copied {length - 2} bytes")
    host.press_enter()
    host.succeeds()


def test_host_has_ended(bench):
    host = start_host(bench)
    host.press_enter()
    host.succeeds()
    bench.start("dma_copy_dpu", *bench.files(), side="dpu").fails("memory cannot be imported")


def test_host_was_killed(bench):
    host = start_host(bench)
    host.send_signal(signal.SIGKILL)
    check(host.wait() == -signal.SIGKILL, "the host was not killed")
    bench.start("dma_copy_dpu", *bench.files(), side="dpu").fails("memory cannot be imported")


def test_host_under_the_other_port(bench):
    """pf1 is a function of the DPU's second port: the first one does not reach its memory."""
    host = start_host(bench, "-p", "0b:00.1")
    bench.start("dma_copy_dpu", *bench.files(), side="dpu").fails("memory cannot be imported")
    bench.start("dma_copy_dpu", "-p", "03:00.1", *bench.files(), side="dpu").succeeds()
    host.press_enter()
    host.succeeds()


def test_control_characters_are_not_shown(bench):
    host = bench.start("dma_copy_host", "-t", "red: \x1b[31m", *bench.files(), side="host")
    host.wait_for("Press Enter")
    bench.start("dma_copy_dpu", *bench.files(), side="dpu").succeeds("the text is: red: .[31m")
    host.press_enter()
    host.succeeds()
