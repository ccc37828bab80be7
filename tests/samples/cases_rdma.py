# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""RDMA: each pair as two processes, with the descriptors copied between two folders as their user would do it."""

import re
import shutil
import signal

from program import check
from sdk import FOLDERS

TEXT = "Ünïcödé and 100 % of it, by RDMA"
DEFAULT_TEXT = "Hi DOCA RDMA!"
SUBMITTED = "The receive is submitted"


class Side:
    """One sample in a folder of its own, which stands for its machine."""

    def __init__(self, bench, name, *arguments, **options):
        self.folder = bench.folder / name
        self.folder.mkdir(exist_ok=True)
        self.local, self.remote, self.mmap = (self.folder / what for what in ("local", "remote", "mmap"))
        paths = ["-ld", self.local, "-re", self.remote]
        if name.endswith(("requester", "responder")):
            paths += ["-m", self.mmap]
        if bench.devices and "-d" not in arguments:
            is_active = name.endswith(("requester", "rdma_send", "send_immediate"))
            paths += ["-d", bench.devices[0 if is_active else 1]]
        self.program = bench.start(name, *paths, *arguments, **({"side": "all"} | options))

    def is_ready(self):
        """Awaits the point where the files are to be copied."""
        self.program.wait_for("Copy the files from the remote side to here, and press Enter")

    def connects(self):
        self.program.press_enter()
        self.program.wait_for("Connected to the remote side")

    def has_tidied_up(self):
        left = sorted(path.name for path in self.folder.iterdir())
        check(not {"local"} & set(left), f"{self.program.name} has left its file behind: {left}")


def copy_files(active, passive):
    """What the prompts ask for: the details to both sides, the responder's memory to the requester."""
    shutil.copy(active.local, passive.remote)
    shutil.copy(passive.local, active.remote)
    if passive.mmap.exists():
        shutil.copy(passive.mmap, active.mmap)


def exchange(active, passive):
    active.is_ready()
    passive.is_ready()
    for side in (active, passive):
        check(1 <= side.local.stat().st_size <= 256, f"connection details of {side.local.stat().st_size} bytes")
    copy_files(active, passive)


def pair(bench, kind, active_arguments=(), passive_arguments=(), **options):
    """Requester and responder, or sender and receiver, ready to connect."""
    names = {"send": ("rdma_send", "rdma_receive"),
             "send_immediate": ("rdma_send_immediate", "rdma_receive_immediate")}
    active, passive = names.get(kind, (f"rdma_{kind}_requester", f"rdma_{kind}_responder"))
    active = Side(bench, active, *active_arguments, **options)
    passive = Side(bench, passive, *passive_arguments, **options)
    exchange(active, passive)
    return active, passive


def succeed(active, passive, active_says, passive_says):
    active.program.succeeds(*active_says)
    passive.program.succeeds(*passive_says)
    active.has_tidied_up()
    passive.has_tidied_up()
    check(not passive.mmap.exists(), "the responder has left its descriptor behind")


def test_rdma_read(bench):
    for arguments, text in (((), DEFAULT_TEXT), (("-r", TEXT), TEXT)):
        requester, responder = pair(bench, "read", (), arguments)
        responder.connects()
        responder.program.wait_for("Wait until the requester has finished, and press Enter")
        requester.connects()
        requester.program.wait_for(f"The text in it is: {text}$")
        requester.program.wait()
        check(responder.program.is_running(), "the responder did not wait")
        responder.program.press_enter()
        succeed(requester, responder, ["Read 4096 bytes of the responder's memory"],
                [f"The text to be read is: {text}"])


def test_rdma_write(bench):
    for arguments, text in (((), DEFAULT_TEXT), (("-w", TEXT), TEXT), (("--write-string", "x" * 4095), "x" * 4095)):
        requester, responder = pair(bench, "write", arguments)
        requester.connects()  # and submits; the job waits until the responder has connected, too
        responder.connects()
        requester.program.wait()
        responder.program.press_enter()
        succeed(requester, responder, ["Wrote to the responder's memory"], [f"The requester has written: {text}"])


def test_rdma_write_immediate(bench):
    for arguments, text in (((), DEFAULT_TEXT), (("-w", TEXT), TEXT)):
        requester, responder = pair(bench, "write_immediate", arguments)
        requester.connects()
        requester.program.wait_for("Wait until the responder has submitted its receive, and press Enter")
        responder.connects()
        responder.program.wait_for(SUBMITTED)
        check(responder.program.is_running(), "the responder did not wait")
        requester.program.press_enter()
        succeed(requester, responder, ["with the immediate 0xd0ca"],
                ["Received the immediate 0xd0ca", f"The requester has written: {text}"])


def test_rdma_send(bench):
    for arguments, text in (((), DEFAULT_TEXT), (("-s", TEXT), TEXT), (("-s", "x" * 4095), "x" * 4095)):
        sender, receiver = pair(bench, "send", arguments)
        sender.connects()
        sender.program.wait_for("Wait until the receiver has submitted its receive, and press Enter")
        receiver.connects()
        receiver.program.wait_for(SUBMITTED)
        sender.program.press_enter()
        succeed(sender, receiver, [f"Sent: {text}"],
                [f"Received {len(text.encode()) + 1} bytes", f"The text in them is: {text}"])


def test_rdma_send_immediate(bench):
    for arguments, text in (((), DEFAULT_TEXT), (("--send-string", TEXT), TEXT)):
        sender, receiver = pair(bench, "send_immediate", arguments)
        receiver.connects()
        receiver.program.wait_for(SUBMITTED)
        sender.connects()
        sender.program.press_enter()
        succeed(sender, receiver, [f"Sent, with the immediate 0xd0ca: {text}"],
                ["Received the immediate 0xd0ca", f"The text in them is: {text}"])


def test_rdma_send_waits_for_the_receive(bench):
    """Enter too early: the message waits for the receive."""
    sender, receiver = pair(bench, "send", ("-s", TEXT))
    sender.connects()
    sender.program.press_enter()
    receiver.connects()
    succeed(sender, receiver, [f"Sent: {TEXT}"], [f"The text in them is: {TEXT}"])


def test_rdma_by_device_and_gid(bench):
    for device, peer in (("soft_p0", "soft_p0"), ("soft_p0", "soft_p1"), ("soft_pf0", "soft_p0")):
        requester, responder = pair(bench, "write", ("-d", device, "-g", "0"), ("--device", peer, "--gid-index", "0"))
        requester.connects()
        responder.connects()
        requester.program.wait()
        responder.program.press_enter()
        succeed(requester, responder, [], [f"The requester has written: {DEFAULT_TEXT}"])


def test_rdma_peers_on_both_sides_of_the_pcie(bench):
    sender, receiver = Side(bench, "rdma_send", side="host"), Side(bench, "rdma_receive", side="dpu")
    exchange(sender, receiver)
    receiver.connects()
    sender.connects()
    sender.program.press_enter()
    succeed(sender, receiver, [], [f"The text in them is: {DEFAULT_TEXT}"])


def test_rdma_requester_without_a_responder(bench):
    """It has ended, or was killed: the requester says so and does not hang."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        requester, responder = pair(bench, "write")
        responder.connects()
        responder.program.send_signal(number)
        responder.program.wait()
        requester.program.press_enter()
        requester.program.fails()
        check(re.search("No connection to the remote side|cannot be imported|The job has failed",
                        requester.program.text()), "the reason is not told")
        requester.has_tidied_up()
        responder.local.unlink()
        responder.mmap.unlink()


def test_rdma_receiver_whose_sender_dies(bench):
    sender, receiver = pair(bench, "send")
    receiver.connects()
    receiver.program.wait_for(SUBMITTED)
    sender.connects()
    sender.program.send_signal(signal.SIGKILL)
    receiver.program.fails("The job has failed")


def test_rdma_mixed_pairs_are_refused(bench):
    """The requester of a write at the responder of a read: the rights are missing."""
    requester, responder = Side(bench, "rdma_write_requester"), Side(bench, "rdma_read_responder")
    exchange(requester, responder)
    responder.connects()
    requester.connects()
    requester.program.fails("The job has failed")
    responder.program.press_enter()
    responder.program.succeeds()


def test_rdma_damaged_files(bench):
    requester, responder = pair(bench, "read")
    responder.connects()
    good, good_mmap = requester.remote.read_bytes(), requester.mmap.read_bytes()

    def refused(details, mmap, text):
        requester.remote.write_bytes(details)
        requester.mmap.write_bytes(mmap)
        requester.program.press_enter()
        requester.program.fails(text)
        requester.has_tidied_up()

    def again():
        other = Side(bench, "rdma_read_requester")
        other.is_ready()
        return other

    refused(b"", good_mmap, "remote' has 0 bytes")
    for damaged in (good[:-1], bytes([good[0] ^ 1]) + good[1:], good[:-1] + bytes([good[-1] ^ 1]), bytes(len(good)),
                    good + b"x", b"\xff" * 1024):
        requester = again()
        refused(damaged, good_mmap, "No connection to the remote side")
    requester = again()
    refused(good + bytes(1025 - len(good)), good_mmap, "remote' has 1025 bytes, and 1 to 1024 are expected")
    responder.program.press_enter()
    responder.program.succeeds()


def test_rdma_damaged_descriptor_of_memory(bench):
    requester, responder = pair(bench, "read")
    responder.connects()
    good = requester.mmap.read_bytes()
    requester.mmap.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    requester.connects()
    requester.program.fails("The responder's memory cannot be imported")
    responder.program.press_enter()
    responder.program.succeeds()


def test_rdma_files_are_missing(bench):
    receiver = Side(bench, "rdma_receive")
    receiver.is_ready()
    receiver.program.press_enter()
    receiver.program.fails(f"Cannot open '{receiver.remote}': No such file or directory")
    receiver.has_tidied_up()


def test_rdma_file_of_an_earlier_run(bench):
    folder = bench.folder / "rdma_send"
    folder.mkdir()
    (folder / "local").write_text("mine")
    sender = Side(bench, "rdma_send")
    sender.program.fails(f"'{sender.local}' exists already; remove it, or choose another path")
    check(sender.local.read_text() == "mine", "the file was changed or removed")


def test_rdma_input_ends(bench):
    sender = Side(bench, "rdma_send")
    sender.is_ready()
    sender.program.close_input()
    sender.program.fails("The standard input has ended before Enter was pressed")
    sender.has_tidied_up()


def test_rdma_no_such_device(bench):
    for name in FOLDERS["doca_rdma"]:
        side = Side(bench, name, "-d", "soft_nosuch")
        side.program.fails("No device 'soft_nosuch' can do this; these can: soft_p0 soft_p1")
    Side(bench, "rdma_send", "-g", "4096").program.fails("RDMA cannot be set up")


def test_rdma_wrong_arguments(bench):
    for name, arguments, text in (
            ("rdma_send", ("-s", "x" * 4096), "The text has 4096 bytes, and 1 to 4095 are possible"),
            ("rdma_write_requester", ("-w", ""), "The text has 0 bytes, and 1 to 4095 are possible"),
            ("rdma_read_responder", ("-m", "x" * 1024), "The path of the mmap descriptor has 1024 bytes"),
            ("rdma_receive", ("-g", "-1"), "The GID index -1 is negative"),
            ("rdma_receive", ("-g", "one"), "The arguments cannot be used"),
            ("rdma_receive", ("-s", "text"), "The arguments cannot be used"),
            ("rdma_send", ("-m", "path"), "The arguments cannot be used"),
            ("rdma_read_requester", ("-r", "text"), "The arguments cannot be used"),
            ("rdma_write_responder", ("-ld",), "The arguments cannot be used")):
        bench.start(name, *arguments, side="all").fails(text)


def test_rdma_help(bench):
    own = {"rdma_read_responder": ("-r,  --read-string",), "rdma_send": ("-s,  --send-string",),
           "rdma_send_immediate": ("-s,  --send-string",), "rdma_write_requester": ("-w,  --write-string",),
           "rdma_write_immediate_requester": ("-w,  --write-string",)}
    for name in FOLDERS["doca_rdma"]:
        program = bench.start(name, "-h", side="all")
        check(program.wait() == 0, "the exit status is not 0")
        program.says("-d,  --device", "-ld, --local-descriptor-path", "-re, --remote-descriptor-path",
                     "-g,  --gid-index", *own.get(name, ()))
