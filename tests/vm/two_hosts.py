#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Runs the pairs of RDMA samples on two machines, which exchange their files by TCP.

two_hosts.py FOLDER_WITH_SAMPLES [ADDRESS:]PORT

With an address it connects to the machine there, and runs requesters and senders; without one it waits for the other
machine, and runs responders and receivers. Both print what they have found as TAP.
"""

import base64
import json
import os
import pathlib
import socket
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "samples"))
sys.dont_write_bytecode = True

from program import TIME_LIMIT, Failure, Program  # noqa: E402 (found by the path above)

RDMA_PORT = "13579"
TEXT = "Ünïcödé from one machine to another"
# What both sides are called, with which arguments, and what they say.
PAIRS = {
    "read": (("rdma_read_requester", (), f"The text in it is: {TEXT}"),
             ("rdma_read_responder", ("-r", TEXT), f"The text to be read is: {TEXT}")),
    "write": (("rdma_write_requester", ("-w", TEXT), "Wrote to the responder's memory"),
              ("rdma_write_responder", (), f"The requester has written: {TEXT}")),
    "write_immediate": (("rdma_write_immediate_requester", ("-w", TEXT), "with the immediate 0xd0ca"),
                        ("rdma_write_immediate_responder", (), f"The requester has written: {TEXT}")),
    "send": (("rdma_send", ("-s", TEXT), f"Sent: {TEXT}"),
             ("rdma_receive", (), f"The text in them is: {TEXT}")),
    "send_immediate": (("rdma_send_immediate", ("-s", TEXT), f"Sent, with the immediate 0xd0ca: {TEXT}"),
                       ("rdma_receive_immediate", (), f"The text in them is: {TEXT}")),
}


class Peer:
    """The other machine: a line of JSON each way at a time."""

    def __init__(self, connection):
        connection.settimeout(TIME_LIMIT)
        # Two files: writing to one for both would throw away the lines that were read ahead.
        self._input = connection.makefile("r")
        self._output = connection.makefile("w")

    def swap(self, **told):
        """Tells, and returns what the other one tells at the same point."""
        self._output.write(json.dumps(told) + "\n")
        self._output.flush()
        line = self._input.readline()
        if not line:
            raise Failure("the other machine has gone")
        return json.loads(line)


def connect(where):
    address, _, port = where.rpartition(":")
    if not address:
        with socket.create_server(("", int(port))) as server:
            server.settimeout(TIME_LIMIT)
            return server.accept()[0]
    end = time.monotonic() + TIME_LIMIT
    while True:
        try:
            return socket.create_connection((address, int(port)), TIME_LIMIT)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)  # it may have to start first, and can't tell when it is ready


def run_pair(peer, folder, work, kind, is_active, transcript):
    name, arguments, text = PAIRS[kind][0 if is_active else 1]
    local, remote, mmap = (work / what for what in ("local", "remote", "mmap"))
    has_mmap = name.endswith(("requester", "responder"))
    program = Program(name, [folder / f"doca_{name}", "-ld", local, "-re", remote, *(["-m", mmap] if has_mmap else []),
                             *arguments], None)
    try:
        program.wait_for("Copy the files from the remote side to here, and press Enter")
        files = {path.name: base64.b64encode(path.read_bytes()).decode() for path in (local, mmap) if path.exists()}
        theirs = peer.swap(**files)
        remote.write_bytes(base64.b64decode(theirs["local"]))
        if "mmap" in theirs:
            mmap.write_bytes(base64.b64decode(theirs["mmap"]))
        program.press_enter()
        program.wait_for("Connected to the remote side")
        if kind in ("read", "write"):  # the responder's user presses Enter once the requester has ended
            peer.swap()
            if is_active:
                program.wait()
            peer.swap()
            if not is_active:
                program.press_enter()
        else:  # the sender's does once the receive has been submitted
            if not is_active:
                program.wait_for("The receive is submitted")
            peer.swap()
            if is_active:
                program.press_enter()
        program.succeeds(text)
    finally:
        program.stop()
        transcript += [f"{program.name} | {line}" for line in program.lines]


def run_by_address(peer, folder, address, transcript):
    """Samples of DOCA 3.0, whose connection rdma_cm makes. ADDRESS: where the other machine listens, if it does."""
    name = "rdma_send" if address else "rdma_receive"
    arguments = ["-P", RDMA_PORT, *(["-a", address, "-s", TEXT] if address else [])]
    if address:
        peer.swap()
    program = Program(name, [folder / "3.0" / f"doca_v3_{name}", *arguments], None)
    try:
        if not address:
            program.wait_for("Listening to port")
            peer.swap()
        program.succeeds("Connected by address", f"Sent: {TEXT}" if address else f"bytes: {TEXT}")
    finally:
        program.stop()
        transcript += [f"{program.name} | {line}" for line in program.lines]


def main():
    folder, where = pathlib.Path(sys.argv[1]), sys.argv[2]
    peer = Peer(connect(where))
    address = where.rpartition(":")[0]
    has_failed = False
    # Of machines other than virtual ones nobody knows that the address is one of the network of RDMA.
    for kind in [*PAIRS, *(["by_address"] if "OPENDOCA_VM_HOST" in os.environ else [])]:
        failure, transcript = "", []
        with tempfile.TemporaryDirectory(prefix="opendoca-pair-") as work:
            try:
                if kind == "by_address":
                    run_by_address(peer, folder, address, transcript)
                else:
                    run_pair(peer, folder, pathlib.Path(work), kind, address != "", transcript)
            except Failure as error:
                failure = str(error)
        details = "".join(f"# {line}\n" for line in [failure, *transcript] if line)
        print(f"{'not ok' if failure else 'ok'} - {kind}\n{details}", end="", flush=True)
        has_failed = has_failed or bool(failure)
        if failure:
            break  # the two are out of step
        peer.swap()
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
