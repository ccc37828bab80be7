#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""The Comch and RDMA samples of DOCA 3.0: two programs each, with nothing set in the environment.

    test_v3_pairs.py FOLDER
"""
import os
import pathlib
import signal
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(sys.argv[1])
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("DOCA_")}
MINUTE = 60
SKIPPED = 77


class Sample:
    """A running sample. What it says is kept."""

    def __init__(self, name, *arguments):
        self.said = ""
        self.process = subprocess.Popen([FOLDER / f"doca_v3_{name}", *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def says(self, text):
        """Waits until it has said so."""
        while text not in self.said:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError(f"{text!r} was not said, but:\n{self.said}")
            self.said += line
        return self

    def presses_enter(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def ends(self, code, *texts):
        rest, _ = self.process.communicate(timeout=MINUTE)
        self.said += rest
        if self.process.returncode != code:
            raise AssertionError(f"exit status {self.process.returncode}:\n{self.said}")
        for text in texts:
            if text not in self.said:
                raise AssertionError(f"{text!r} was not said, but:\n{self.said}")

    def signal(self, number):
        self.process.send_signal(number)


LISTENS = "The server was idle and is running"
CONNECTS = "The client was idle and is starting"
FINISHED = "Sample finished successfully"


class Comch(unittest.TestCase):
    def test_a_message_and_an_answer(self):
        for representor, host in ("3b:00.0", "b1:00.0"), ("b1:00.0", "3b:00.0"), ("0b:00.0", "03:00.0"):
            with self.subTest(representor=representor, host=host), \
                 Sample("comch_ctrl_path_server", "-p", "03:00.0", "-r", representor) as server:
                server.says(LISTENS)
                with Sample("comch_ctrl_path_client", "-p", host, "-t", "text of the host") as client:
                    client.ends(0, "The server has got 16 bytes", FINISHED)
                server.ends(0, "Message received: text of the host", FINISHED)

    def test_the_client_is_started_first(self):
        with Sample("comch_ctrl_path_client") as client:
            client.says(CONNECTS)
            with Sample("comch_ctrl_path_server") as server:
                client.ends(0, FINISHED)
                server.ends(0, FINISHED)

    def test_a_server_dies_while_a_client_connects(self):
        with Sample("comch_ctrl_path_server") as server:
            server.says(LISTENS).signal(signal.SIGSTOP)
            with Sample("comch_ctrl_path_client") as client:
                client.says(CONNECTS)
                server.signal(signal.SIGKILL)
                client.ends(1, "The client was starting and is idle", "The server has gone without an answer")

    def test_a_client_dies_while_it_connects(self):
        with Sample("comch_ctrl_path_server") as server:
            server.says(LISTENS).signal(signal.SIGSTOP)
            with Sample("comch_ctrl_path_client") as client:
                client.says(CONNECTS).signal(signal.SIGKILL)
                client.process.wait(MINUTE)
            server.signal(signal.SIGCONT)
            with Sample("comch_ctrl_path_client") as client:
                client.ends(0, FINISHED)
            server.ends(0, FINISHED)

    def test_the_data_path(self):
        with Sample("comch_data_path_high_speed_server") as server:
            server.says(LISTENS)
            with Sample("comch_data_path_high_speed_client", "-n", "1000", "-t", "x" * 4000) as client:
                client.ends(0, "Sent 1000 messages", "Received 1 messages, the last one: The server has got all of it",
                            FINISHED)
            server.ends(0, "Received 1000 messages, the last one: " + "x" * 4000, FINISHED)

    def test_a_side_of_the_data_path_dies(self):
        for victim in "server", "client":
            with self.subTest(victim=victim), Sample("comch_data_path_high_speed_server") as server:
                server.says(LISTENS)
                with Sample("comch_data_path_high_speed_client", "-n", "100000000") as client:
                    for side in server, client:
                        side.says("The consumer was starting and is running")
                    killed, left = (server, client) if victim == "server" else (client, server)
                    killed.signal(signal.SIGKILL)
                    left.ends(1, "The peer has gone", "Sample finished with errors")


if __name__ == "__main__":
    if pathlib.Path("/sys/class/infiniband").is_dir() and any(pathlib.Path("/sys/class/infiniband").iterdir()):
        print("this machine has RDMA devices, beside which software devices are not listed by themselves")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
