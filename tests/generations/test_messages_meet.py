#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The opendoca authors
"""Comm Channel of DOCA 2.2 on one side of the PCIe and Comch of 3.0 on the other, on software devices or a software card.

    test_messages_meet.py BUILD_DIR [WITH_CARD]
"""
import os
import pathlib
import sys
import unittest

BUILD_DIR = pathlib.Path(sys.argv[1])
WITH_CARD = sys.argv[2] if len(sys.argv) > 2 else None
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "samples"))

from beside import SKIPPED, Program, has_rdma_devices  # pylint: disable=wrong-import-position

# The pairs that meet, and one that uses Comch on both sides.
PAIRS = ("2.2", "3.0"), ("3.0", "2.2"), ("3.0", "3.0")
LARGEST = 4080
NUM_ROUND_TRIPS = 10_000 if WITH_CARD is None else 1_000


DPU, HOST = "03:00.0", "0b:00.0" if WITH_CARD is None else "3b:00.0"


def start(side, generation, *arguments):
    program = BUILD_DIR / f"tests/generations/messages_{generation}", *map(str, arguments)
    if WITH_CARD is None:
        return Program(*program)
    return Program(WITH_CARD, "--profile", "bluefield-3", "--side", side, "--card", "test-messages-meet", *program, DOCA_SOFT="0")


def serve(generation, name, size):
    return start("dpu", generation, "serve", DPU, name, size, HOST).says("listens")


def connect(generation, name, size, count):
    return start("host", generation, "connect", HOST, name, size, count)


class Messages(unittest.TestCase):
    def setUp(self):
        self.name = f"meet {os.getpid()} {self.id()}"[:100]

    def test_round_trips(self):
        for of_server, of_client in PAIRS:
            for size in LARGEST, 100:
                with self.subTest(server=of_server, client=of_client, size=size):
                    self.exchange(of_server, of_client, size)

    def exchange(self, of_server, of_client, size):
        with serve(of_server, self.name, size) as server, connect(of_client, self.name, size, NUM_ROUND_TRIPS) as client:
            client.ends(0, "done")
            server.ends(0, "done")
        # Comm Channel has no producers: Comch refuses to make one on a connection to it.
        answer = "DOCA_SUCCESS" if of_server == of_client else "DOCA_ERROR_NOT_PERMITTED"
        for generation, side in (of_server, server), (of_client, client):
            if generation == "3.0":
                self.assertIn(f"producer: {answer}", side.said)

    def test_a_name_belongs_to_one_server(self):
        for first, second in PAIRS:
            with self.subTest(first=first, second=second), serve(first, self.name, LARGEST):
                with start("dpu", second, "serve", DPU, self.name, LARGEST, HOST) as other:
                    other.ends(1, ": DOCA_ERROR_CONNECTION_ABORTED")

    def test_a_server_that_is_killed(self):
        for of_server, of_client in PAIRS:
            with self.subTest(server=of_server, client=of_client):
                with serve(of_server, self.name, LARGEST) as server, connect(of_client, self.name, LARGEST, 10**9) as client:
                    (client if of_client == "3.0" else server).says("producer")
                    server.process.kill()
                    client.ends(1, ": DOCA_ERROR_")


if __name__ == "__main__":
    if WITH_CARD is None and has_rdma_devices():
        print("this machine has RDMA devices, beside which software devices are not listed by themselves")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
